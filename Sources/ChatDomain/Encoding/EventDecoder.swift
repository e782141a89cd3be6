import Primitives

/// The part of an event's content that a reader decodes.
public enum ContentSelection: Hashable, Sendable {
    /// All content.
    case all
    /// Only usernames, subjects, postcodes and thread names, with the correlation ids of their events.
    ///
    /// All other content is `omitted`, and its correlation ids are nil. Skipping it makes a replay
    /// faster.
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
        let customKind = kind == .custom ? try row.customKind(kept) : nil
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
        // A kind without content has no fields of a later version either.
        guard kind.hasContent(ThreadID(bits: row.thread)) else {
            self = .none
            return
        }
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
        case .threadOpened: self = .threadName(try reader.remainingText(known))
        case .messagePosted, .replyPosted, .messageEdited, .replyEdited: self = .body(try reader.remainingText(known))
        case .sessionStarted: self = .device(try reader.remainingText(known))
        case .messageRemoved, .replyRemoved, .userMuted, .userBanned, .memberRemoved, .messageReported, .replyReported:
            self = .reason(try reader.remainingText(known))
        case .threadJoined, .threadLeft, .messageRetracted, .replyRetracted, .threadRead, .sessionEnded, .lost, .threadPolicySet,
            .userInvited, .invitationDeclined, .invitationRevoked, .roleSet, .operatorGranted, .operatorRevoked, .userUnmuted,
            .userUnbanned, .messagePinned, .messageUnpinned, .threadLocked, .threadUnlocked, .threadClosed, .messageReportsResolved,
            .replyReportsResolved, .userBlocked, .userUnblocked, .custom, .userErased, .contentErased, .clockCorrected:
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
        try decodeFields(of: kind, &reader, kept)
    }

    /// Decodes the fields of a known kind, which follow the header.
    @inline(__always)
    private mutating func decodeFields(of kind: EventKind, _ reader: inout ByteReader, _ kept: RawSpan) throws(EventDecodingError) {
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
            secondID = try reader.bits(kept)
            user = try reader.bits(kept)
            number = try reader.leb128(kept)
        case .reply:
            thread = try reader.bits(kept)
            message = try reader.bits(kept)
            secondID = try reader.bits(kept)
            user = try reader.bits(kept)
            number = try reader.leb128(kept)
        case .marker:
            user = try reader.bits(kept)
            thread = try reader.bits(kept)
            number = try reader.leb128(kept)
        case .session, .block:
            user = try reader.bits(kept)
            secondID = try reader.bits(kept)
        case .member, .role, .sanction:
            thread = try reader.bits(kept)
            user = try reader.bits(kept)
            secondID = try reader.bits(kept)
            number = try reader.leb128(kept)
            if kind.layout == .role { value = try reader.number(kept) { ThreadRole(code: $0) != nil } }
            if kind.layout == .sanction { value = try reader.number(kept) { Sanction.isEnd($0) } }
        case .messageReport:
            thread = try reader.bits(kept)
            secondID = try reader.bits(kept)
            user = try reader.bits(kept)
        case .replyReport:
            thread = try reader.bits(kept)
            message = try reader.bits(kept)
            secondID = try reader.bits(kept)
            user = try reader.bits(kept)
        case .custom:
            thread = try reader.bits(kept)
            secondID = try reader.bits(kept)
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
    fileprivate func customKind(_ kept: RawSpan) throws(EventDecodingError) -> String {
        var reader = ByteReader(.kept)
        // The header and the three ids.
        reader.offset = fieldOffset + 3 * 16
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
