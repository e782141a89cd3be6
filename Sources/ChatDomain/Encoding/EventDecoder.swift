import Primitives

/// What of an event's content a reader asks for.
public enum ContentSelection: Hashable, Sendable {
    /// All of it.
    case all
    /// Only what the rules index: usernames, subjects, postcodes and thread names, not bodies, devices or correlation ids, which take most of a replay's time.
    case indexed
}

extension ChatEvent {
    /// Decodes an event from the two parts of its record; each record can be decoded alone.
    ///
    /// Bytes after the known fields of a known kind are skipped: they are fields of a later version. An unknown kind is kept byte for byte.
    ///
    /// - Parameters:
    ///   - kept: The kept part.
    ///   - erasable: The erasable part, nil if the journal holds a stub without it.
    ///   - contents: What of the content to decode.
    /// - Throws: ``EventDecodingError`` with the part and the byte at which the record is no event.
    /// - Complexity: O(*n*) in the bytes.
    public init(kept: RawSpan, erasable: RawSpan?, contents: ContentSelection = .all) throws(EventDecodingError) {
        let row = try EventRow(kept: kept)
        // Put together once, at the end: an event that is changed in place here is copied whole at each step that can throw.
        guard let kind = row.kind else {
            var correlation: String?
            var bytes: [UInt8]?
            if let erasable {
                var rest = ByteReader(.erasable)
                if row.flags.contains(.correlation) { correlation = try rest.countedText(erasable) }
                bytes = erasable.array(in: 0..<erasable.byteCount)
            }
            let content = EventContent.opaque(kept: kept.array(in: 0..<kept.byteCount), erasable: bytes)
            let details = EventDetails.unknown(kind: kept.byte(at: 0))
            self.init(recordedAt: row.recordedAt, origin: row.origin, details: details, content: content, correlation: correlation)
            return
        }
        let details = EventDetails(kind, row)
        guard kind.hasContent(row) || row.flags.contains(.correlation) else {
            self.init(recordedAt: row.recordedAt, origin: row.origin, details: details)
            return
        }
        guard let erasable, contents == .all || kind.isIndexed else {
            self.init(recordedAt: row.recordedAt, origin: row.origin, details: details, content: erasable == nil ? .erased : .omitted)
            return
        }
        var rest = ByteReader(.erasable)
        let correlation = row.flags.contains(.correlation) ? try rest.countedText(erasable) : nil
        let content = try EventContent(of: kind, row, &rest, erasable)
        self.init(recordedAt: row.recordedAt, origin: row.origin, details: details, content: content, correlation: correlation)
    }
}

extension ChatEvent {
    /// What an event says, and when it was created: its ``body`` and ``createdAt``, without the rest of it.
    ///
    /// - Throws: What ``init(kept:erasable:contents:)`` throws for the same bytes.
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
            // Of no other is it asked, but a journal may hold anything where a post was.
            let event = try ChatEvent(kept: kept, erasable: erasable)
            return (event.body, event.createdAt)
        }
    }
}

extension EventContent {
    /// Decodes the content of an event whose kind ``EventKind/isIndexed``; for an event of another kind it is ``none``.
    ///
    /// - Parameters:
    ///   - row: The kept part of the event.
    ///   - erasable: The erasable part, nil if the journal holds a stub without it.
    /// - Throws: ``EventDecodingError`` with the byte at which the record is no event.
    package init(indexedOf row: EventRow, erasable: RawSpan?) throws(EventDecodingError) {
        guard let kind = row.kind, kind.isIndexed, kind.hasContent(row) else {
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

    /// Reads what follows the correlation id.
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
        case .threadOpened: self = kind.hasContent(row) ? .threadName(try reader.remainingText(known)) : .none
        case .messagePosted, .replyPosted, .messageEdited, .replyEdited: self = .body(try reader.remainingText(known))
        case .sessionStarted: self = .device(try reader.remainingText(known))
        case .threadJoined, .threadLeft, .messageRetracted, .replyRetracted, .threadRead, .sessionEnded, .lost: self = .none
        }
    }
}

extension ByteReader {
    /// Where the content that this version knows ends.
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
    /// - Throws: ``EventDecodingError`` with the byte at which the record is no event.
    package init(kept: RawSpan) throws(EventDecodingError) {
        var reader = ByteReader(.kept)
        let kindByte = try reader.byte(kept)
        let flags = EventFlags(rawValue: try reader.byte(kept))
        let recordedAt = Timestamp(millisecondsSince1970: Int64(try reader.littleEndian(6, kept)))
        let kind = EventKind(rawValue: kindByte)
        self.init(kind: kind, flags: flags, recordedAt: recordedAt, createdAt: recordedAt)
        if flags.contains(.sentAt) {
            // The original time is one of an import.
            self.flags.insert(.imported)
            createdAt = Timestamp(millisecondsSince1970: Int64(bitPattern: try reader.littleEndian(8, kept)))
        }
        guard let kind else {
            guard kindByte != 0 else { throw reader.error(.invalidKind, at: 0) }
            return
        }
        switch kind {
        case .userRegistered, .usernameChanged: user = try reader.bits(kept)
        case .postcodeSet:
            user = try reader.bits(kept)
            thread = try reader.bits(kept)
        case .threadOpened, .threadJoined, .threadLeft:
            thread = try reader.bits(kept)
            user = try reader.bits(kept)
            number = try reader.leb128(kept)
        case .messagePosted, .messageEdited, .messageRetracted:
            thread = try reader.bits(kept)
            post = try reader.bits(kept)
            user = try reader.bits(kept)
            number = try reader.leb128(kept)
        case .replyPosted, .replyEdited, .replyRetracted:
            thread = try reader.bits(kept)
            message = try reader.bits(kept)
            post = try reader.bits(kept)
            user = try reader.bits(kept)
            number = try reader.leb128(kept)
        case .threadRead:
            user = try reader.bits(kept)
            thread = try reader.bits(kept)
            number = try reader.leb128(kept)
        case .sessionStarted, .sessionEnded:
            user = try reader.bits(kept)
            post = try reader.bits(kept)
        case .lost: break
        }
    }
}

extension EventKind {
    /// Whether events of this kind have content.
    fileprivate func hasContent(_ row: EventRow) -> Bool {
        switch self {
        case .userRegistered, .usernameChanged, .postcodeSet, .messagePosted, .replyPosted, .messageEdited, .replyEdited, .sessionStarted:
            true
        case .threadOpened: ThreadID(bits: row.thread).outwardCode == nil
        case .threadJoined, .threadLeft, .messageRetracted, .replyRetracted, .threadRead, .sessionEnded, .lost: false
        }
    }
}

extension ChatEvent {
    /// Decodes an event from arrays of bytes; nil stands for an erasable part that no longer exists.
    ///
    /// - Throws: ``EventDecodingError`` with the place of what is wrong.
    package init(keptBytes: [UInt8], erasableBytes: [UInt8]?) throws(EventDecodingError) {
        self = try keptBytes.withRawSpan { kept throws(EventDecodingError) in
            guard let erasableBytes else { return try ChatEvent(kept: kept, erasable: nil) }
            return try erasableBytes.withRawSpan { erasable throws(EventDecodingError) in
                try ChatEvent(kept: kept, erasable: erasable)
            }
        }
    }
}

/// Reads the primitive values of the event encoding; every error bears the part and the offset at which the bytes are wrong.
///
/// A reader keeps an offset, not the bytes: they are passed to each call, so that nothing outlives the buffer they lie in.
struct ByteReader {
    let part: EventDecodingError.Part
    var offset = 0

    init(_ part: EventDecodingError.Part) { self.part = part }

    func error(_ problem: EventDecodingError.Problem, at offset: Int? = nil) -> EventDecodingError {
        EventDecodingError(part: part, offset: offset ?? self.offset, problem: problem)
    }

    /// Steps over a count of bytes that must be there, and gives the offset of the first.
    @inline(__always)
    private mutating func take(_ count: Int, of bytes: RawSpan) throws(EventDecodingError) -> Int {
        guard bytes.byteCount - offset >= count else { throw error(.tooShort) }
        defer { offset += count }
        return offset
    }

    @inline(__always)
    mutating func byte(_ bytes: RawSpan) throws(EventDecodingError) -> UInt8 {
        bytes.byte(at: try take(1, of: bytes))
    }

    /// The bits of an id.
    @inline(__always)
    mutating func bits(_ bytes: RawSpan) throws(EventDecodingError) -> UInt128 {
        let start = try take(16, of: bytes)
        let high = bytes.littleEndian64(at: start).byteSwapped
        let low = bytes.littleEndian64(at: start + 8).byteSwapped
        return UInt128(high) << 64 | UInt128(low)
    }

    @inline(__always)
    mutating func littleEndian(_ byteCount: Int, _ bytes: RawSpan) throws(EventDecodingError) -> UInt64 {
        let start = try take(byteCount, of: bytes)
        if byteCount == 8 { return bytes.littleEndian64(at: start) }
        // One load where the part goes on far enough, which all but the shortest do.
        if bytes.byteCount - start >= 8 { return bytes.littleEndian64(at: start) & (1 << UInt64(8 * byteCount) - 1) }
        var value: UInt64 = 0
        for index in 0..<byteCount { value |= UInt64(bytes.byte(at: start + index)) << UInt64(8 * index) }
        return value
    }

    @inline(__always)
    mutating func leb128(_ bytes: RawSpan) throws(EventDecodingError) -> UInt64 {
        // Two bytes hold nearly every number that there is, and need no loop.
        if bytes.byteCount - offset > 1 {
            let (first, second) = (UInt64(bytes.byte(at: offset)), UInt64(bytes.byte(at: offset + 1)))
            if first < 0x80 {
                offset += 1
                return first
            }
            if second > 0, second < 0x80 {
                offset += 2
                return first & 0x7F | second << 7
            }
        }
        return try anyLEB128(bytes)
    }

    private mutating func anyLEB128(_ bytes: RawSpan) throws(EventDecodingError) -> UInt64 {
        let start = offset
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 64, by: 7) {
            let next = try byte(bytes)
            // The tenth byte has room for one bit, and a last byte of zero would be a second way to write the same number.
            guard shift < 63 || next <= 1, next != 0 || shift == 0 else { throw error(.malformedNumber, at: start) }
            value |= UInt64(next & 0x7F) << shift
            if next & 0x80 == 0 { return value }
        }
        throw error(.malformedNumber, at: start)
    }

    /// Text of so many bytes.
    mutating func text(_ count: Int, _ bytes: RawSpan) throws(EventDecodingError) -> String {
        let start = try take(count, of: bytes)
        guard let text = bytes.text(in: start..<start + count) else { throw error(.invalidUTF8, at: start) }
        return text
    }

    /// Text up to the end.
    mutating func remainingText(_ bytes: RawSpan) throws(EventDecodingError) -> String {
        try text(bytes.byteCount - offset, bytes)
    }

    /// Text whose length stands before it.
    mutating func countedText(_ bytes: RawSpan) throws(EventDecodingError) -> String {
        let count = try leb128(bytes)
        guard let count = Int(exactly: count) else { throw error(.tooShort) }
        return try text(count, bytes)
    }
}

/// Bytes that are no event, and where.
public struct EventDecodingError: Error, Hashable, Sendable {
    /// The part of the record.
    public var part: Part
    /// The byte within the part, from 0.
    public var offset: Int
    /// What is wrong there.
    public var problem: Problem

    /// The two parts of a record.
    public enum Part: String, Hashable, Sendable {
        case kept
        case erasable
    }

    /// What can be wrong.
    public enum Problem: String, Hashable, Sendable {
        /// The part ends inside a field.
        case tooShort
        /// Not the shortest LEB128 of a 64-bit number.
        case malformedNumber
        case invalidUTF8
        /// The postcode is none.
        case invalidPostcode
        /// The kind 0 is none.
        case invalidKind
    }
}

extension EventDecodingError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String { "\(problem.rawValue) at byte \(offset) of the \(part.rawValue) part" }
}
