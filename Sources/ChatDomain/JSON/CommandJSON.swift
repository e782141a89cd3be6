/// The JSON of a command: an object whose one key is the command's name.
///
/// For example `{"postMessage":{"thread":"SW1A","author":"...","body":"..."}}`.
extension ChatCommand: Codable {
    /// Decodes a command.
    ///
    /// Unknown fields are errors, and so are missing ones, except those that can be left out.
    ///
    /// `thread` is an id or an outward code.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        try self.init(from: container, beside: [], defaultActor: decoder.userInfo[Self.actorKey] as? UserID)
    }

    /// Encodes the command, omitting optional fields without a value and the defaults of an
    /// opening.
    ///
    /// The end of a sanction or a level is always encoded, as null if there is none.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try encode(to: &container)
    }
}

/// The JSON of a request: that of its command, with `correlation` and `once` as further keys.
///
/// The origin is not encoded.
extension CommandRequest: Codable {
    /// Decodes a command and what stands beside it, if present.
    ///
    /// ``once`` is an unknown field beside a command that does not take it.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        let correlation = try container.decodeIfPresent(String.self, forKey: .correlation)
        let defaultActor = decoder.userInfo[ChatCommand.actorKey] as? UserID
        let command = try ChatCommand(from: container, beside: [.correlation, .once], defaultActor: defaultActor)
        if !command.kind.takesOnce { try container.rejectFields(otherThan: [.correlation, FieldKey(command.name)]) }
        self.init(
            command, correlation: correlation, once: try container.decodeIfPresent(CommandID.self, forKey: .once))
    }

    /// Encodes the command and what stands beside it.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try command.encode(to: &container)
        try container.encodeIfPresent(correlation, forKey: .correlation)
        try container.encodeIfPresent(effectiveOnce, forKey: .once)
    }

    /// The id, unless the command does not take it.
    fileprivate var effectiveOnce: CommandID? { command.kind.takesOnce ? once : nil }
}

extension ChatCommand {
    /// The key of a decoder's `userInfo` with the acting user's id (`UserID`), for a session's own
    /// commands: their acting field (`author`, `by` or `user`) may then be left out.
    package static let actorKey: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "ChatDomain.ChatCommand.actor") else {
            preconditionFailure("any text is a key")
        }
        return key
    }()

    /// Decodes the command among the keys of an object, which may also have the other fields.
    ///
    /// - Parameter defaultActor: The user who acts if the acting field is left out.
    fileprivate init(from container: FieldContainer, beside others: [FieldKey], defaultActor: UserID?) throws {
        let keys = container.allKeys.filter { !others.contains($0) }.sorted { $0.stringValue < $1.stringValue }
        let commands = keys.filter { CommandForm.kindsByName[$0.stringValue] != nil }
        if commands.count > 1 {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: container.codingPath + [commands[1]],
                    debugDescription: "a second command; only one is allowed"))
        }
        try container.rejectFields(otherThan: others + commands)
        guard let key = commands.first, let kind = CommandForm.kindsByName[key.stringValue] else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: container.codingPath, debugDescription: "no command in this object"))
        }
        self.init(kind)
        let fields = try container.nestedContainer(keyedBy: FieldKey.self, forKey: key)
        try fields.rejectFields(otherThan: kind.form.fields.flatMap(\.keys))
        for field in kind.form.fields { try decode(field, fields, defaultActor: defaultActor) }
    }

    private mutating func decode(_ field: CommandField, _ container: FieldContainer, defaultActor: UserID?) throws {
        let key = field.keys[0]
        switch field {
        case .actor:
            if let defaultActor, !container.contains(key) {
                actorID = defaultActor
            } else {
                actorID = try container.decode(UserID.self, forKey: key)
            }
        case .user: userID = try container.decode(UserID.self, forKey: key)
        case .thread: threadID = try container.decodeThread(key)
        case .post: postID = try container.decodePost()
        case .message: postID = .message(try container.decode(MessageID.self, forKey: key))
        // Ids of all types have one text form.
        case .session: id = try container.decode(SessionID.self, forKey: key).bits
        case .newID: id = try container.decodeIfPresent(UserID.self, forKey: key)?.bits
        case .newThread: id = try container.hasValue(key) ? try container.decodeThread(key).bits : nil
        case .text: text = try container.decode(String.self, forKey: key)
        case .subject: label = try container.decodeIfPresent(String.self, forKey: key)
        case .customKind: label = try container.decode(String.self, forKey: key)
        case .payload: payload = try container.decode(CustomPayload.self, forKey: key)
        case .policy: policy = try container.decodeName(key)
        case .policyOfOpening: policy = try container.hasValue(key) ? try container.decodeName(key) : .open
        case .history: history = try container.hasValue(key) ? try container.decodeName(key) : nil
        case .historyOfOpening: history = try container.hasValue(key) ? try container.decodeName(key) : .all
        case .role: role = try container.decodeName(key)
        case .until: until = try container.dateTime(container.decodeIfPresent(String.self, forKey: key), forKey: key)
        case .upTo: upTo = try container.decodeInteger(key)
        case .from: from = try container.decodeInteger(key)
        case .level: level = try container.decodeName(key)
        case .replaces: replaces = try container.hasValue(key) ? try container.decodeInteger(key) : nil
        case .seen: seen = try container.hasValue(key) ? try container.decodeInteger(key) : nil
        case .mentions: mentions = try container.decodeIfPresent([UserID].self, forKey: key) ?? []
        case .findMentions: findsMentions = try container.decodeIfPresent(Bool.self, forKey: key) ?? false
        case .people: mentions = try container.decode([UserID].self, forKey: key)
        case .about: text = try container.decodeIfPresent(String.self, forKey: key) ?? ""
        }
    }

    /// Writes the object's one field.
    fileprivate func encode(to object: inout some JSONFieldWriter) throws {
        try object.encodeObject(forKey: FieldKey(name)) { fields in
            for field in kind.form.fields { try encode(field, to: &fields) }
        }
    }

    private func encode(_ field: CommandField, to fields: inout some JSONFieldWriter) throws {
        let key = field.keys[0]
        switch field {
        case .actor: try fields.encode(id: actorID.bits, forKey: key)
        case .user: try fields.encode(id: userID.bits, forKey: key)
        case .thread: try fields.encode(id: threadID.bits, forKey: key)
        case .post, .message: try fields.encode(id: postID.bits, forKey: postID.isReply ? .reply : .message)
        case .session, .newID, .newThread: if let id { try fields.encode(id: id, forKey: key) }
        case .text: try fields.encode(text, forKey: key)
        case .subject, .customKind: if let label { try fields.encode(label, forKey: key) }
        case .payload: try fields.encode(payload, forKey: key)
        case .policyOfOpening: if policy != .open { try fields.encode(policy.rawValue, forKey: key) }
        case .policy: try fields.encode(policy.rawValue, forKey: key)
        case .historyOfOpening: if history != .all { try fields.encode(history?.rawValue, forKey: key) }
        case .history: if let history { try fields.encode(history.rawValue, forKey: key) }
        case .role: try fields.encode(role.rawValue, forKey: key)
        case .until: try fields.encode(until?.description, forKey: key)
        case .upTo, .from: try fields.encode(upTo, forKey: key)
        case .level: try fields.encode(level.rawValue, forKey: key)
        case .replaces: if let replaces { try fields.encode(replaces, forKey: key) }
        case .seen: if let seen { try fields.encode(seen, forKey: key) }
        case .mentions: if !listedMentions.isEmpty { try fields.encode(listedMentions.map(\.description), forKey: key) }
        case .findMentions: if findsMentions { try fields.encode(true, forKey: key) }
        case .people: try fields.encode(mentions.map(\.description), forKey: key)
        case .about: if !text.isEmpty { try fields.encode(text, forKey: key) }
        }
    }
}

extension ChatCommand: CustomStringConvertible {
    /// The command's JSON.
    public var description: String { JSONLineMembers.text { try encode(to: &$0) } }
}

extension CommandRequest: CustomStringConvertible {
    /// The request's JSON and, which the JSON does not have, that it is imported and the original
    /// time.
    public var description: String {
        let json = JSONLineMembers.text { object in
            try command.encode(to: &object)
            if let correlation { object.encode(correlation, forKey: .correlation) }
            if let effectiveOnce { object.encode(id: effectiveOnce.bits, forKey: .once) }
        }
        guard case .imported(let sentAt) = origin else { return json }
        return json + " imported" + (sentAt.map { ", sent at \($0)" } ?? "")
    }
}

extension CommandField {
    /// The keys in JSON; a post has one of two.
    package var keys: [FieldKey] {
        switch self {
        case .actor(let key): [FieldKey(key.rawValue)]
        case .newID(let key), .text(let key): [key]
        case .user: [.user]
        case .thread, .newThread: [.thread]
        case .post: [.message, .reply]
        case .message: [.message]
        case .session: [.session]
        case .subject: [.subject]
        case .customKind: [.kind]
        case .payload: [.payload]
        case .policy, .policyOfOpening: [.policy]
        case .history, .historyOfOpening: [.history]
        case .role: [.role]
        case .until: [.until]
        case .upTo: [.upTo]
        case .from: [.from]
        case .level: [.level]
        case .replaces: [.replaces]
        case .seen: [.seen]
        case .mentions: [.mentions]
        case .findMentions: [.findMentions]
        case .people: [.with]
        case .about: [.about]
        }
    }
}

extension FieldContainer {
    fileprivate func hasValue(_ key: FieldKey) throws -> Bool { try contains(key) && !decodeNil(forKey: key) }

    fileprivate func decodeThread(_ key: FieldKey) throws -> ThreadID {
        guard let thread = ThreadID(idOrOutwardCode: try decode(String.self, forKey: key)) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "neither an id nor an outward code")
        }
        return thread
    }

    fileprivate func decodePost() throws -> PostID {
        switch (
            try decodeIfPresent(MessageID.self, forKey: .message), try decodeIfPresent(ReplyID.self, forKey: .reply)
        ) {
        case (let message?, nil): return .message(message)
        case (nil, let reply?): return .reply(reply)
        case (nil, nil):
            throw DecodingError.keyNotFound(
                FieldKey.message, .init(codingPath: codingPath, debugDescription: "message or reply is required"))
        case (_?, _?):
            // As for an unknown field, so that callers report the field and not a wrong value.
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: codingPath + [FieldKey.reply],
                    debugDescription: "only one of message and reply is allowed",
                    underlyingError: UnknownFieldError(field: "reply")))
        }
    }
}
