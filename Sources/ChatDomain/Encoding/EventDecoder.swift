import Primitives

/// The part of an event's content that a reader decodes.
public enum ContentSelection: Hashable, Sendable {
    /// All content.
    case all
    /// Only the content that the rules index: usernames, subjects, postcodes and thread names.
    ///
    /// Bodies, devices and correlation ids are skipped, which makes a replay faster.
    case indexed
}

extension ChatEvent {
    /// Decodes an event from the two parts of its record, independently of other records.
    ///
    /// Skips bytes after the known fields of a known kind: they are fields of a later version.
    /// Keeps an unknown kind byte for byte.
    ///
    /// - Parameters:
    ///   - kept: The kept part.
    ///   - erasable: The erasable part, or nil if the journal holds a stub.
    ///   - contents: The content to decode.
    /// - Throws: ``EventDecodingError`` with the part and the offset of the first invalid field.
    /// - Complexity: O(*n*) in the number of bytes.
    public init(kept: RawSpan, erasable: RawSpan?, contents: ContentSelection = .all) throws(EventDecodingError) {
        let row = try EventRow(kept: kept)
        // Initialized once, at the end: a partly initialized event would be copied at every step
        // that can throw.
        guard let kind = row.kind else {
            var correlation: String?
            var bytes: [UInt8]?
            if let erasable {
                var rest = ByteReader(.erasable)
                if row.flags.contains(.correlation) { correlation = try rest.countedText(erasable) }
                bytes = erasable.toArray()
            }
            let content = EventContent.opaque(kept: kept.toArray(), erasable: bytes)
            let details = EventDetails.unknown(kind: kept.byte(at: 0))
            self.init(recordedAt: row.recordedAt, origin: row.origin, details: details, content: content, correlation: correlation)
            return
        }
        let details = EventDetails(kind, row)
        if kind == .userErased || kind == .contentErased {
            let order = try EventContent(erasureOf: kind, row, kept)
            var correlation: String?
            if let erasable, row.flags.contains(.correlation) {
                var rest = ByteReader(.erasable)
                correlation = try rest.countedText(erasable)
            }
            self.init(recordedAt: row.recordedAt, origin: row.origin, details: details, content: order, correlation: correlation)
            return
        }
        guard kind.hasContent(ThreadID(bits: row.thread)) || row.flags.contains(.correlation) else {
            self.init(recordedAt: row.recordedAt, origin: row.origin, details: details)
            return
        }
        let customKind = kind == .custom ? try EventRow.customKind(kept) : nil
        guard let erasable, contents == .all || kind.isIndexed else {
            let absent: EventContent =
                if let customKind { .custom(kind: customKind, payload: erasable == nil ? .erased : .omitted) } else {
                    erasable == nil ? .erased : .omitted
                }
            self.init(recordedAt: row.recordedAt, origin: row.origin, details: details, content: absent)
            return
        }
        var rest = ByteReader(.erasable)
        let correlation = row.flags.contains(.correlation) ? try rest.countedText(erasable) : nil
        let content: EventContent
        if let customKind {
            let known = erasable.extracting(0..<(try rest.endOfContent(row.flags, erasable)))
            let start = rest.offset
            // In its canonical form: the text is printed as it is, and another writer may differ.
            guard let payload = CustomPayload(try rest.remainingText(known)) else { throw rest.error(.invalidPayload, at: start) }
            content = .custom(kind: customKind, payload: .present(payload))
        } else {
            content = try EventContent(of: kind, row, &rest, erasable)
        }
        self.init(recordedAt: row.recordedAt, origin: row.origin, details: details, content: content, correlation: correlation)
    }
}

extension ChatEvent {
    /// Decodes only the ``body`` and ``createdAt`` of an event.
    ///
    /// - Throws: The errors of ``init(kept:erasable:contents:)`` for the same bytes.
    package static func text(
        kept: RawSpan, erasable: RawSpan?
    ) throws(EventDecodingError) -> (body: String?, createdAt: Timestamp) {
        let row = try EventRow(kept: kept)
        switch row.kind {
        case .messagePosted, .replyPosted, .messageEdited, .replyEdited:
            guard let erasable else { return (nil, row.createdAt) }
            var rest = ByteReader(.erasable)
            if row.flags.contains(.correlation) { _ = try rest.countedText(erasable) }
            let known = erasable.extracting(0..<(try rest.endOfContent(row.flags, erasable)))
            return (try rest.remainingText(known), row.createdAt)
        default:
            // Callers ask only for posts, but a damaged journal can hold any event at a post's
            // position.
            let event = try ChatEvent(kept: kept, erasable: erasable)
            return (event.body, event.createdAt)
        }
    }
}

extension EventContent {
    /// Decodes the content of an event whose kind is indexed (``EventKind/isIndexed``).
    ///
    /// The result is ``none`` for every other kind.
    ///
    /// - Parameters:
    ///   - row: The kept part of the event.
    ///   - erasable: The erasable part, or nil if the journal holds a stub.
    /// - Throws: ``EventDecodingError`` with the offset of the first invalid field.
    package init(indexedOf row: EventRow, erasable: RawSpan?) throws(EventDecodingError) {
        guard let kind = row.kind, kind.isIndexed, kind.hasContent(ThreadID(bits: row.thread)) else {
            self = .none
            return
        }
        guard let erasable else {
            self = .erased
            return
        }
        var reader = ByteReader(.erasable)
        if row.flags.contains(.correlation) { _ = try reader.countedText(erasable) }
        try self.init(of: kind, row, &reader, erasable)
    }

    /// Decodes the content after the correlation id; that of a custom event needs the kept part too.
    fileprivate init(of kind: EventKind, _ row: EventRow, _ reader: inout ByteReader, _ erasable: RawSpan) throws(EventDecodingError) {
        let known = erasable.extracting(0..<(try reader.endOfContent(row.flags, erasable)))
        switch kind {
        case .userRegistered:
            let username = Username(text: try reader.countedText(known), foldKey: try reader.countedText(known))
            let subject = try reader.countedText(known)
            self = .registration(username, subject: subject.isEmpty ? nil : subject)
        case .usernameChanged:
            self = .username(Username(text: try reader.countedText(known), foldKey: try reader.countedText(known)))
        case .postcodeSet:
            guard let postcode = Postcode(ascii: try reader.littleEndian(8, known)) else {
                throw reader.error(.invalidPostcode, at: reader.offset - 8)
            }
            self = .postcode(postcode)
        case .threadOpened: self = kind.hasContent(ThreadID(bits: row.thread)) ? .threadName(try reader.remainingText(known)) : .none
        case .messagePosted, .replyPosted, .messageEdited, .replyEdited: self = .body(try reader.remainingText(known))
        case .sessionStarted: self = .device(try reader.remainingText(known))
        case .messageRemoved, .replyRemoved, .userMuted, .userBanned, .memberRemoved, .messageReported, .replyReported:
            self = .reason(try reader.remainingText(known))
        case .threadJoined, .threadLeft, .messageRetracted, .replyRetracted, .threadRead, .sessionEnded, .lost, .threadPolicySet,
            .userInvited, .invitationDeclined, .invitationRevoked, .roleSet, .operatorGranted, .operatorRevoked, .userUnmuted,
            .userUnbanned, .messagePinned, .messageUnpinned, .threadLocked, .threadUnlocked, .threadClosed, .messageReportsResolved,
            .replyReportsResolved, .userBlocked, .userUnblocked, .custom, .userErased, .contentErased:
            self = .none
        }
    }

    /// Decodes the order of an erasure from the kept part.
    fileprivate init(erasureOf kind: EventKind, _ row: EventRow, _ kept: RawSpan) throws(EventDecodingError) {
        var reader = ByteReader(.kept)
        // The header and the user.
        reader.offset = row.fieldOffset + (kind == .userErased ? 16 : 0)
        let reason = try reader.countedText(kept)
        self = .erasure(reason: reason, positions: kind == .contentErased ? try reader.positions(kept) : nil)
    }
}

extension ByteReader {
    /// Returns the end of the content of this version, before the fields of a later one.
    fileprivate func endOfContent(_ flags: EventFlags, _ erasable: RawSpan) throws(EventDecodingError) -> Int {
        guard flags.contains(.extended) else { return erasable.byteCount }
        var reader = self
        reader.offset = erasable.byteCount - 4
        guard reader.offset >= offset else { throw error(.tooShort) }
        let extra = Int(try reader.littleEndian(4, erasable))
        guard extra <= erasable.byteCount - 4 - offset else { throw error(.tooShort, at: erasable.byteCount - 4) }
        return erasable.byteCount - 4 - extra
    }
}

extension EventRow {
    /// Decodes the kept part of an event.
    ///
    /// - Throws: ``EventDecodingError`` with the offset of the first invalid field.
    package init(kept: RawSpan) throws(EventDecodingError) {
        var reader = ByteReader(.kept)
        let kindByte = try reader.byte(kept)
        let flags = EventFlags(rawValue: try reader.byte(kept))
        let recordedAt = Timestamp(millisecondsSince1970: Int64(try reader.littleEndian(6, kept)))
        let kind = EventKind(rawValue: kindByte)
        self.init(kind: kind, flags: flags, recordedAt: recordedAt, createdAt: recordedAt)
        if flags.contains(.sentAt) {
            // Only imported events have an original time.
            self.flags.insert(.imported)
            createdAt = Timestamp(millisecondsSince1970: Int64(bitPattern: try reader.littleEndian(8, kept)))
        }
        guard let kind else {
            guard kindByte != 0 else { throw reader.error(.invalidKind, at: 0) }
            return
        }
        switch kind.layout {
        case .user: user = try reader.bits(kept)
        case .postcode:
            user = try reader.bits(kept)
            thread = try reader.bits(kept)
        case .thread:
            thread = try reader.bits(kept)
            user = try reader.bits(kept)
            number = try reader.leb128(kept)
        case .threadPolicy:
            thread = try reader.bits(kept)
            user = try reader.bits(kept)
            number = try reader.leb128(kept)
            let policy = try reader.number(kept) { ThreadPolicy(code: $0) != nil }
            value = policy << 8 | (try reader.number(kept) { ThreadHistory(code: $0) != nil })
        case .message:
            thread = try reader.bits(kept)
            postOrSession = try reader.bits(kept)
            user = try reader.bits(kept)
            number = try reader.leb128(kept)
        case .reply:
            thread = try reader.bits(kept)
            message = try reader.bits(kept)
            postOrSession = try reader.bits(kept)
            user = try reader.bits(kept)
            number = try reader.leb128(kept)
        case .marker:
            user = try reader.bits(kept)
            thread = try reader.bits(kept)
            number = try reader.leb128(kept)
        case .session, .block:
            user = try reader.bits(kept)
            postOrSession = try reader.bits(kept)
        case .member, .role, .sanction:
            thread = try reader.bits(kept)
            user = try reader.bits(kept)
            postOrSession = try reader.bits(kept)
            number = try reader.leb128(kept)
            if kind.layout == .role { value = try reader.number(kept) { ThreadRole(code: $0) != nil } }
            if kind.layout == .sanction { value = try reader.number(kept) { Sanction.isEnd($0) } }
        case .messageReport:
            thread = try reader.bits(kept)
            postOrSession = try reader.bits(kept)
            user = try reader.bits(kept)
        case .replyReport:
            thread = try reader.bits(kept)
            message = try reader.bits(kept)
            postOrSession = try reader.bits(kept)
            user = try reader.bits(kept)
        case .custom:
            thread = try reader.bits(kept)
            postOrSession = try reader.bits(kept)
            user = try reader.bits(kept)
            number = try reader.leb128(kept)
            _ = try reader.countedText(kept)
        case .userErasure:
            user = try reader.bits(kept)
            _ = try reader.countedText(kept)
        case .contentErasure:
            _ = try reader.countedText(kept)
            number = try reader.positions(kept).ranges.last?.upperBound ?? 0
        case .none: break
        }
    }

    /// The offset in the kept part after the kind, the flags and the times.
    fileprivate var fieldOffset: Int { 8 + (flags.contains(.sentAt) ? 8 : 0) }

    /// Decodes the kind of a custom event from its kept part.
    fileprivate static func customKind(_ kept: RawSpan) throws(EventDecodingError) -> String {
        var reader = ByteReader(.kept)
        reader.offset = 1
        let flags = EventFlags(rawValue: try reader.byte(kept))
        // The header and the three ids.
        reader.offset = 8 + (flags.contains(.sentAt) ? 8 : 0) + 3 * 16
        _ = try reader.leb128(kept)
        return try reader.countedText(kept)
    }
}

extension ChatEvent {
    /// Decodes an event from byte arrays; a nil erasable part is that of a stub.
    ///
    /// - Throws: ``EventDecodingError`` with the part and the offset of the first invalid field.
    package init(keptBytes: [UInt8], erasableBytes: [UInt8]?) throws(EventDecodingError) {
        self = try keptBytes.withBytes { kept throws(EventDecodingError) in
            guard let erasableBytes else { return try ChatEvent(kept: kept, erasable: nil) }
            return try erasableBytes.withBytes { erasable throws(EventDecodingError) in
                try ChatEvent(kept: kept, erasable: erasable)
            }
        }
    }
}

/// Reads the primitive values of the event encoding.
///
/// Every error contains the part and the offset of the invalid bytes. The reader keeps an offset
/// and receives the bytes with each call, so that nothing outlives their buffer.
struct ByteReader {
    let part: EventDecodingError.Part
    var offset = 0

    init(_ part: EventDecodingError.Part) { self.part = part }

    func error(_ problem: EventDecodingError.Problem, at offset: Int? = nil) -> EventDecodingError {
        EventDecodingError(part: part, offset: offset ?? self.offset, problem: problem)
    }

    /// Advances by `count` bytes, which must exist, and returns the offset of the first.
    @inline(__always)
    private mutating func advance(_ count: Int, of bytes: RawSpan) throws(EventDecodingError) -> Int {
        guard bytes.byteCount - offset >= count else { throw error(.tooShort) }
        defer { offset += count }
        return offset
    }

    @inline(__always)
    mutating func byte(_ bytes: RawSpan) throws(EventDecodingError) -> UInt8 {
        bytes.byte(at: try advance(1, of: bytes))
    }

    /// Reads the bits of an id.
    @inline(__always)
    mutating func bits(_ bytes: RawSpan) throws(EventDecodingError) -> UInt128 {
        let start = try advance(16, of: bytes)
        let high = bytes.integer(at: start, as: UInt64.self).byteSwapped
        let low = bytes.integer(at: start + 8, as: UInt64.self).byteSwapped
        return UInt128(high) << 64 | UInt128(low)
    }

    @inline(__always)
    mutating func littleEndian(_ byteCount: Int, _ bytes: RawSpan) throws(EventDecodingError) -> UInt64 {
        let start = try advance(byteCount, of: bytes)
        if byteCount == 8 { return bytes.integer(at: start) }
        // One eight-byte load, unless the value is at the end of the part.
        if bytes.byteCount - start >= 8 { return bytes.integer(at: start, as: UInt64.self) & (1 << UInt64(8 * byteCount) - 1) }
        var value: UInt64 = 0
        for index in 0..<byteCount { value |= UInt64(bytes.byte(at: start + index)) << UInt64(8 * index) }
        return value
    }

    @inline(__always)
    mutating func leb128(_ bytes: RawSpan) throws(EventDecodingError) -> UInt64 {
        switch LEB128.decode(bytes, at: offset) {
        case .value(let value, let next):
            offset = next
            return value
        case .incomplete: throw error(.tooShort, at: bytes.byteCount)
        case .invalid: throw error(.malformedNumber)
        }
    }

    /// Reads a number that satisfies a condition.
    mutating func number(_ bytes: RawSpan, _ isValid: (UInt64) -> Bool) throws(EventDecodingError) -> UInt64 {
        let start = offset
        let value = try leb128(bytes)
        guard isValid(value) else { throw error(.invalidNumber, at: start) }
        return value
    }

    /// Reads a set of positions, which is not empty.
    mutating func positions(_ bytes: RawSpan) throws(EventDecodingError) -> PositionSet {
        let start = offset
        let count = try number(bytes) { $0 > 0 }
        var ranges: [ClosedRange<Position>] = []
        var end: Position = 0
        for index in 0..<count {
            let place = offset
            // Ranges that touch would be one range.
            let gap = try number(bytes) { index == 0 || $0 > 0 }
            let length = try leb128(bytes)
            let (lower, overflows) = end.addingReportingOverflow(gap)
            let (upper, alsoOverflows) = lower.addingReportingOverflow(length)
            guard !overflows, !alsoOverflows, upper < Position(Int.max) else { throw error(.invalidNumber, at: place) }
            ranges.append(lower + 1...upper + 1)
            end = upper + 1
        }
        guard !ranges.isEmpty else { throw error(.invalidNumber, at: start) }
        return PositionSet(ranges)
    }

    /// Reads text of `count` bytes.
    mutating func text(_ count: Int, _ bytes: RawSpan) throws(EventDecodingError) -> String {
        let start = try advance(count, of: bytes)
        guard let text = bytes.text(in: start..<start + count) else { throw error(.invalidUTF8, at: start) }
        return text
    }

    /// Reads text up to the end of the bytes.
    mutating func remainingText(_ bytes: RawSpan) throws(EventDecodingError) -> String {
        try text(bytes.byteCount - offset, bytes)
    }

    /// Reads text that follows its length.
    mutating func countedText(_ bytes: RawSpan) throws(EventDecodingError) -> String {
        let count = try leb128(bytes)
        guard let count = Int(exactly: count) else { throw error(.tooShort) }
        return try text(count, bytes)
    }
}

/// An error for bytes that are not an event.
public struct EventDecodingError: Error, Hashable, Sendable {
    /// The part of the record.
    public var part: Part
    /// The offset within the part, from 0.
    public var offset: Int
    /// The kind of error.
    public var problem: Problem

    /// The two parts of a record.
    public enum Part: String, Hashable, Sendable {
        /// The kept part.
        case kept
        /// The erasable part.
        case erasable
    }

    /// The kinds of error.
    public enum Problem: String, Hashable, Sendable {
        /// The part ends inside a field.
        case tooShort
        /// Not the shortest LEB128 of a 64-bit number.
        case malformedNumber
        /// The number is not one that its field allows.
        case invalidNumber
        /// The text is not UTF-8.
        case invalidUTF8
        /// The bytes are not a postcode.
        case invalidPostcode
        /// The payload of a custom event is not a JSON value.
        case invalidPayload
        /// The kind is 0, which no event has.
        case invalidKind
    }
}

extension EventDecodingError: CustomStringConvertible {
    /// A description for people.
    public var description: String { "\(problem.rawValue) at byte \(offset) of the \(part.rawValue) part" }
}
