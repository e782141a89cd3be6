/// The JSON of a recorded event: `{"position":12,"recordedAt":"2026-11-21T05:03:12.123Z","messagePosted":{...}}`.
///
/// `sentAt` and `correlation` stand where there are any, `"imported":true` at the events of an import, and `"erased":true` where the journal no longer
/// holds the content, whose fields are then null. `"redacted":["body"]` names the fields that are null because they are kept from the reader.
extension RecordedEvent: Encodable {
    /// Encodes the event, its fields in the order of <doc:EventJSON>; `JSONEncoder` does not keep that order in its text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try encode(to: &container)
    }

    /// Writes the members of the event's object; in an export, the fold key stands beside a username.
    package func encode(to members: inout some EventMembers, isExport: Bool = false) throws {
        try members.encode(position, forKey: .position)
        try members.encode(event.recordedAt, forKey: .recordedAt)
        if let sentAt = event.origin.sentAt { try members.encode(sentAt, forKey: .sentAt) }
        if event.origin != .native { try members.encode(true, forKey: .imported) }
        if let correlation = event.correlation { try members.encode(correlation, forKey: .correlation) }
        if event.isErased { try members.encode(true, forKey: .erased) }
        if !redacted.isEmpty {
            try members.encode(RedactedFields.all.filter { redacted.contains($0.field) }.map(\.key.stringValue), forKey: .redacted)
        }
        let key = event.fact.kind.map { FieldKey($0.name) } ?? .unknown
        try members.encodeObject(forKey: key) { fields in try encodeFields(to: &fields, isExport: isExport) }
    }

    /// Writes the fields of the event's own kind, and the outward code in the place of a postcode that is redacted.
    package func encodeFields(to fields: inout some EventMembers, isExport: Bool = false) throws {
        try event.encodeFields(to: &fields, isExport: isExport)
        if redacted.contains(.postcode), case .postcodeSet(let fact) = event.fact {
            try fields.encode(fact.thread.outwardCode?.description, forKey: .outwardCode)
        }
    }
}

extension Event {
    /// Writes the fields of the event's own kind.
    fileprivate func encodeFields(to fields: inout some EventMembers, isExport: Bool) throws {
        switch fact {
        case .userRegistered(let fact):
            try fields.encode(fact.user, forKey: .user)
            try fields.encode(username?.text, forKey: .username)
            if isExport { try fields.encode(username?.foldKey, forKey: .foldKey) }
            try fields.encode(subject, forKey: .subject)
        case .usernameChanged(let fact):
            try fields.encode(fact.user, forKey: .user)
            try fields.encode(username?.text, forKey: .username)
            if isExport { try fields.encode(username?.foldKey, forKey: .foldKey) }
        case .postcodeSet(let fact):
            try fields.encode(fact.user, forKey: .user)
            try fields.encode(postcode?.description, forKey: .postcode)
            try fields.encode(fact.thread, forKey: .thread)
        case .threadOpened(let fact):
            try fields.encode(fact.thread, forKey: .thread)
            try fields.encode(fact.number, forKey: .number)
            try fields.encode(threadName, forKey: .name)
            try fields.encode(fact.by, forKey: .by)
        case .threadJoined(let fact): try fields.encode(fact.thread, fact.number, user: fact.user)
        case .threadLeft(let fact): try fields.encode(fact.thread, fact.number, user: fact.user)
        case .messagePosted(let fact):
            try fields.encode(fact.thread, fact.number, message: fact.message)
            try fields.encode(fact.author, forKey: .author)
            try fields.encode(body, forKey: .body)
        case .replyPosted(let fact):
            try fields.encode(fact.thread, fact.number, message: fact.message)
            try fields.encode(fact.reply, forKey: .reply)
            try fields.encode(fact.author, forKey: .author)
            try fields.encode(body, forKey: .body)
        case .messageEdited(let fact):
            try fields.encode(fact)
            try fields.encode(body, forKey: .body)
        case .replyEdited(let fact):
            try fields.encode(fact)
            try fields.encode(body, forKey: .body)
        case .messageRetracted(let fact): try fields.encode(fact)
        case .replyRetracted(let fact): try fields.encode(fact)
        case .threadRead(let fact):
            try fields.encode(fact.user, forKey: .user)
            try fields.encode(fact.thread, forKey: .thread)
            try fields.encode(fact.upTo, forKey: .upTo)
        case .sessionStarted(let fact):
            try fields.encode(fact.user, forKey: .user)
            try fields.encode(fact.session, forKey: .session)
            try fields.encode(device, forKey: .device)
        case .sessionEnded(let fact):
            try fields.encode(fact.user, forKey: .user)
            try fields.encode(fact.session, forKey: .session)
        case .lost: break
        case .unknown(let kind):
            try fields.encode(UInt64(kind), forKey: .kind)
            if case .opaque(let kept, let erasable) = content {
                try fields.encode(hexadecimal(kept), forKey: .kept)
                try fields.encode(erasable.map(hexadecimal), forKey: .erasable)
            }
        }
    }
}

private func hexadecimal(_ bytes: [UInt8]) -> String {
    String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
}

private let digits = Array("0123456789abcdef".utf8)

extension EventMembers {
    fileprivate mutating func encode(_ id: some EntityID, forKey key: FieldKey) throws { try encode(id: id.bits, forKey: key) }

    fileprivate mutating func encode(_ thread: ThreadID, _ number: UInt64, user: UserID) throws {
        try encode(thread, forKey: .thread)
        try encode(number, forKey: .number)
        try encode(user, forKey: .user)
    }

    fileprivate mutating func encode(_ thread: ThreadID, _ number: UInt64, message: MessageID) throws {
        try encode(thread, forKey: .thread)
        try encode(number, forKey: .number)
        try encode(message, forKey: .message)
    }

    fileprivate mutating func encode(_ fact: MessageChanged) throws {
        try encode(fact.thread, fact.number, message: fact.message)
        try encode(fact.by, forKey: .by)
    }

    fileprivate mutating func encode(_ fact: ReplyChanged) throws {
        try encode(fact.thread, fact.number, message: fact.message)
        try encode(fact.reply, forKey: .reply)
        try encode(fact.by, forKey: .by)
    }
}
