/// What of an event's content a reader asks for.
public enum ContentSelection: Hashable, Sendable {
    /// All of it.
    case all
    /// Only what the rules index: usernames, subjects, postcodes and thread names, not bodies, devices or correlation ids, which take most of a replay's time.
    case indexed
}

extension Event {
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
        var reader = ByteReader(.kept)
        let kindByte = try reader.byte(kept)
        let flags = EventFlags(rawValue: try reader.byte(kept))
        let recordedAt = Timestamp(millisecondsSince1970: Int64(try reader.littleEndian(6, kept)))
        var origin = Origin.native
        if flags.contains(.imported) || flags.contains(.sentAt) {
            let sentAt = flags.contains(.sentAt) ? Int64(bitPattern: try reader.littleEndian(8, kept)) : nil
            origin = .imported(sentAt: sentAt.map(Timestamp.init(millisecondsSince1970:)))
        }
        // Put together once, at the end: an event that is changed in place here is copied whole at each step that can throw.
        guard let kind = EventKind(rawValue: kindByte) else {
            guard kindByte != 0 else { throw reader.error(.invalidKind, at: 0) }
            var correlation: String?
            var bytes: [UInt8]?
            if let erasable {
                var rest = ByteReader(.erasable)
                if flags.contains(.correlation) { correlation = try rest.countedText(erasable) }
                bytes = erasable.array(in: 0..<erasable.byteCount)
            }
            let content = Content.opaque(kept: kept.array(in: 0..<kept.byteCount), erasable: bytes)
            self.init(recordedAt: recordedAt, origin: origin, fact: .unknown(kind: kindByte), content: content, correlation: correlation)
            return
        }
        let fact = try Fact(kind, &reader, kept)
        guard kind.hasContent(fact) || flags.contains(.correlation) else {
            self.init(recordedAt: recordedAt, origin: origin, fact: fact)
            return
        }
        guard let erasable, contents == .all || kind.isIndexed else {
            self.init(recordedAt: recordedAt, origin: origin, fact: fact, content: erasable == nil ? .erased : .omitted)
            return
        }
        var rest = ByteReader(.erasable)
        let correlation = flags.contains(.correlation) ? try rest.countedText(erasable) : nil
        let content = try Content(of: kind, fact, &rest, erasable.extracting(0..<(try rest.endOfContent(flags, erasable))))
        self.init(recordedAt: recordedAt, origin: origin, fact: fact, content: content, correlation: correlation)
    }
}

extension Content {
    /// Reads what follows the correlation id.
    fileprivate init(of kind: EventKind, _ fact: Fact, _ reader: inout ByteReader, _ known: RawSpan) throws(EventDecodingError) {
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
        case .threadOpened: self = fact.thread?.outwardCode == nil ? .threadName(try reader.remainingText(known)) : .none
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

extension Fact {
    fileprivate init(_ kind: EventKind, _ reader: inout ByteReader, _ kept: RawSpan) throws(EventDecodingError) {
        switch kind {
        case .userRegistered: self = .userRegistered(UserRegistered(user: try reader.id(kept)))
        case .usernameChanged: self = .usernameChanged(UsernameChanged(user: try reader.id(kept)))
        case .postcodeSet: self = .postcodeSet(PostcodeSet(user: try reader.id(kept), thread: try reader.id(kept)))
        case .threadOpened:
            let thread: ThreadID = try reader.id(kept)
            let by: UserID = try reader.id(kept)
            self = .threadOpened(ThreadOpened(thread: thread, number: try reader.leb128(kept), by: by))
        case .threadJoined, .threadLeft:
            let thread: ThreadID = try reader.id(kept)
            let user: UserID = try reader.id(kept)
            let number = try reader.leb128(kept)
            self =
                kind == .threadJoined
                ? .threadJoined(ThreadJoined(thread: thread, number: number, user: user))
                : .threadLeft(ThreadLeft(thread: thread, number: number, user: user))
        case .messagePosted:
            let thread: ThreadID = try reader.id(kept)
            let message: MessageID = try reader.id(kept)
            let author: UserID = try reader.id(kept)
            self = .messagePosted(MessagePosted(thread: thread, number: try reader.leb128(kept), message: message, author: author))
        case .replyPosted:
            let thread: ThreadID = try reader.id(kept)
            let message: MessageID = try reader.id(kept)
            let reply: ReplyID = try reader.id(kept)
            let author: UserID = try reader.id(kept)
            let number = try reader.leb128(kept)
            self = .replyPosted(ReplyPosted(thread: thread, number: number, message: message, reply: reply, author: author))
        case .messageEdited, .messageRetracted:
            let thread: ThreadID = try reader.id(kept)
            let message: MessageID = try reader.id(kept)
            let by: UserID = try reader.id(kept)
            let changed = MessageChanged(thread: thread, number: try reader.leb128(kept), message: message, by: by)
            self = kind == .messageEdited ? .messageEdited(changed) : .messageRetracted(changed)
        case .replyEdited, .replyRetracted:
            let thread: ThreadID = try reader.id(kept)
            let message: MessageID = try reader.id(kept)
            let reply: ReplyID = try reader.id(kept)
            let by: UserID = try reader.id(kept)
            let changed = ReplyChanged(thread: thread, number: try reader.leb128(kept), message: message, reply: reply, by: by)
            self = kind == .replyEdited ? .replyEdited(changed) : .replyRetracted(changed)
        case .threadRead:
            let user: UserID = try reader.id(kept)
            let thread: ThreadID = try reader.id(kept)
            self = .threadRead(ThreadRead(user: user, thread: thread, upTo: try reader.leb128(kept)))
        case .sessionStarted: self = .sessionStarted(SessionStarted(user: try reader.id(kept), session: try reader.id(kept)))
        case .sessionEnded: self = .sessionEnded(SessionEnded(user: try reader.id(kept), session: try reader.id(kept)))
        case .lost: self = .lost
        }
    }
}

extension EventKind {
    /// Whether events of this kind have content.
    fileprivate func hasContent(_ fact: Fact) -> Bool {
        switch self {
        case .userRegistered, .usernameChanged, .postcodeSet, .messagePosted, .replyPosted, .messageEdited, .replyEdited, .sessionStarted:
            true
        case .threadOpened: fact.thread?.outwardCode == nil
        case .threadJoined, .threadLeft, .messageRetracted, .replyRetracted, .threadRead, .sessionEnded, .lost: false
        }
    }

    /// Whether the rules or the read models index the content.
    fileprivate var isIndexed: Bool {
        switch self {
        case .userRegistered, .usernameChanged, .postcodeSet, .threadOpened: true
        default: false
        }
    }
}
