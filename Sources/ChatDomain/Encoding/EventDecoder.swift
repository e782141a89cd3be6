import Primitives

/// The part of an event's content that a reader decodes.
public enum ContentSelection: Hashable, Sendable {
    /// All content.
    case all
    /// Only usernames, subjects, postcodes and thread names, with the correlation ids of their
    /// events.
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
        let mentions = try row.mentions(kept)
        // Initialized once, at the end: a partly initialized event would be copied at every step
        // that can throw.
        var rest = ByteReader(.erasable)
        guard let form = row.kind?.form else {
            let correlation = try rest.correlation(row, erasable)
            var bytes: [UInt8]?
            if let erasable { bytes = erasable.toArray() }
            self.init(row, .opaque(kept: kept.toArray(), erasable: bytes), correlation: correlation)
            return
        }
        if form.content == .erasure {
            let order = try row.erasure(kept)
            self.init(row, order, correlation: try rest.correlation(row, erasable))
            return
        }
        guard form.hasContent(row) || row.flags.contains(.correlation) else {
            self.init(row, .none, correlation: nil, mentions: mentions)
            return
        }
        let customKind = form.content == .payload ? try row.customKind(kept) : ""
        guard let erasable, contents == .all || form.isIndexed else {
            let content: EventContent
            if form.content == .payload {
                content = .custom(kind: customKind, payload: erasable == nil ? .erased : .omitted)
            } else {
                content = erasable == nil ? .erased : .omitted
            }
            self.init(row, content, correlation: nil, mentions: mentions)
            return
        }
        let correlation = try rest.correlation(row, erasable)
        let content = try EventContent(of: form, row, &rest, erasable, customKind: customKind)
        self.init(row, content, correlation: correlation, mentions: mentions)
    }
}

extension ChatEvent {
    /// Decodes only the ``body``, ``createdAt`` and ``mentions`` of an event.
    ///
    /// - Throws: The errors of ``init(kept:erasable:contents:)`` for the same bytes.
    package static func text(
        kept: RawSpan, erasable: RawSpan?
    ) throws(EventDecodingError) -> (body: String?, createdAt: Timestamp, mentions: [UserID]) {
        let row = try EventRow(kept: kept)
        let mentions = try row.mentions(kept)
        switch row.kind {
        case .messagePosted, .replyPosted, .messageEdited, .replyEdited:
            guard let erasable else { return (nil, row.createdAt, mentions) }
            var rest = ByteReader(.erasable)
            _ = try rest.correlation(row, erasable)
            let known = erasable.extracting(0..<(try rest.endOfContent(row.flags, erasable)))
            return (try rest.remainingText(known), row.createdAt, mentions)
        default:
            // Callers ask only for posts, but a damaged journal can hold any event at a post's
            // position.
            let event = try ChatEvent(kept: kept, erasable: erasable)
            return (event.body, event.createdAt, event.mentions)
        }
    }
}

extension EventContent {
    /// Decodes the content of an event whose kind is indexed (``EventForm/isIndexed``).
    ///
    /// The result is ``none`` for every other kind.
    ///
    /// - Parameters:
    ///   - row: The kept part of the event.
    ///   - erasable: The erasable part, or nil if the journal holds a stub.
    /// - Throws: ``EventDecodingError`` with the offset of the first invalid field.
    package init(indexedOf row: EventRow, erasable: RawSpan?) throws(EventDecodingError) {
        guard let form = row.kind?.form, form.isIndexed, form.hasContent(row) else {
            self = .none
            return
        }
        guard let erasable else {
            self = .erased
            return
        }
        var reader = ByteReader(.erasable)
        _ = try reader.correlation(row, erasable)
        try self.init(of: form, row, &reader, erasable)
    }

    /// Decodes the content after the correlation id.
    fileprivate init(
        of form: EventForm, _ row: EventRow, _ reader: inout ByteReader, _ erasable: RawSpan, customKind: String = ""
    ) throws(EventDecodingError) {
        // A kind without content has no fields of a later version either.
        guard form.hasContent(row) else {
            self = .none
            return
        }
        let known = erasable.extracting(0..<(try reader.endOfContent(row.flags, erasable)))
        self = try form.content.decode(&reader, known, customKind: customKind)
    }
}

extension ByteReader {
    /// Reads the correlation id, if the event has one.
    fileprivate mutating func correlation(_ row: EventRow, _ erasable: RawSpan?) throws(EventDecodingError) -> String? {
        guard let erasable, row.flags.contains(.correlation) else { return nil }
        return try countedText(erasable)
    }

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

extension EventKind {
    /// Creates the kind of a kept part's first byte, whose highest bit says that the command had a
    /// ``CommandRequest/once``; nil if this version does not know it.
    @inline(__always)
    init?(encoded byte: UInt8) {
        self.init(rawValue: byte & ~EventFlags.once.rawValue)
        if byte & EventFlags.once.rawValue != 0, !form.takesOnce { return nil }
    }
}

extension EventRow {
    /// Decodes the kept part of an event.
    ///
    /// - Throws: ``EventDecodingError`` with the offset of the first invalid field.
    package init(kept: RawSpan) throws(EventDecodingError) {
        var reader = ByteReader(.kept)
        let kindByte = try reader.byte(kept)
        let kind = EventKind(encoded: kindByte)
        let mark = EventFlags(rawValue: kind == nil ? 0 : kindByte).intersection(.once)
        let flags = EventFlags(rawValue: try reader.byte(kept)).subtracting(.once).union(mark)
        let recordedAt = Timestamp(millisecondsSince1970: Int64(try reader.littleEndian(6, kept)))
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
        for field in kind.form.layout(flags).kept {
            switch field {
            case .thread: thread = try reader.bits(kept)
            case .user: user = try reader.bits(kept)
            case .message, .reply, .session, .customEvent, .otherActor, .blocked: secondID = try reader.bits(kept)
            case .parent: message = try reader.bits(kept)
            case .number, .upTo, .from: number = try reader.leb128(kept)
            // A call, which few events need.
            case .edit, .policy, .history, .role, .until, .customKind, .erasureReason, .ranges, .content, .level:
                try decode(field, &reader, kept)
            }
        }
        if flags.contains(.once) { once = CommandID(bits: try reader.bits(kept)) }
        // A list that does not fit is an error of the record, also for a caller who does not read
        // it.
        if flags.contains(.mentions), kind.form.hasMentions { _ = try reader.listCount(kept) }
    }

    /// Decodes the users whom the text mentions from the kept part of the row.
    func mentions(_ kept: RawSpan) throws(EventDecodingError) -> [UserID] {
        guard hasMentions else { return [] }
        var reader = ByteReader(.kept)
        // The header, the ids, the number and the edit.
        reader.offset = fieldOffset + (has(.parent) ? 4 : has(.message) ? 3 : 2) * 16
        _ = try reader.leb128(kept)
        if edit != nil { reader.offset += 16 }
        return try reader.users(kept)
    }

    private mutating func decode(_ field: EventField, _ reader: inout ByteReader, _ kept: RawSpan)
        throws(EventDecodingError)
    {
        switch field {
        case .edit: if flags.contains(.edit) { edit = try reader.bits(kept) }
        case .policy: value = try reader.number(kept) { ThreadPolicy(code: $0) != nil } << 8
        case .history: value |= try reader.number(kept) { ThreadHistory(code: $0) != nil }
        case .role: value = try reader.number(kept) { ThreadRole(code: $0) != nil }
        case .until: value = try reader.number(kept) { SanctionEnd.isValid($0) }
        case .level: number = try reader.number(kept) { NotificationLevel(code: $0) != nil }
        case .customKind, .erasureReason: _ = try reader.countedText(kept)
        case .ranges: number = try reader.positions(kept).ranges.last?.upperBound ?? 0
        case .content, .thread, .user, .message, .parent, .reply, .session, .customEvent, .otherActor, .blocked,
            .number, .upTo, .from:
            break
        }
    }

    /// The offset in the kept part after the kind, the flags and the times.
    private var fieldOffset: Int { 8 + (flags.contains(.sentAt) ? 8 : 0) }

    /// Decodes the kind of a custom event from its kept part.
    fileprivate func customKind(_ kept: RawSpan) throws(EventDecodingError) -> String {
        var reader = ByteReader(.kept)
        // The header and the three ids.
        reader.offset = fieldOffset + 3 * 16
        _ = try reader.leb128(kept)
        return try reader.countedText(kept)
    }

    /// Decodes the order of an erasure from the kept part.
    fileprivate func erasure(_ kept: RawSpan) throws(EventDecodingError) -> EventContent {
        var reader = ByteReader(.kept)
        reader.offset = fieldOffset
        if kind == .userErased { _ = try reader.bits(kept) }
        let reason = try reader.countedText(kept)
        return .erasure(reason: reason, positions: kind == .contentErased ? try reader.positions(kept) : nil)
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
