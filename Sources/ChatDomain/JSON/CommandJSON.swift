/// The JSON of a command: an object whose one key is the command's name.
///
/// For example `{"postMessage":{"thread":"SW1A","author":"...","body":"..."}}`.
extension ChatCommand: Codable {
    /// Decodes a command; unknown and missing fields are errors.
    ///
    /// `thread` is an id or an outward code.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        try self.init(from: container, beside: [], actor: decoder.userInfo[Self.actorKey] as? UserID)
    }

    /// Encodes the command, omitting ids that are nil.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try encode(to: &container)
    }
}

/// The JSON of a request: that of its command with a second key `correlation`.
///
/// The origin is not encoded.
extension CommandRequest: Codable {
    /// Decodes a command and its correlation id, if present.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        let correlation = try container.decodeIfPresent(String.self, forKey: .correlation)
        let actor = decoder.userInfo[ChatCommand.actorKey] as? UserID
        self.init(try ChatCommand(from: container, beside: [.correlation], actor: actor), correlation: correlation)
    }

    /// Encodes the command and its correlation id.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try command.encode(to: &container)
        try container.encodeIfPresent(correlation, forKey: .correlation)
    }
}

extension ChatCommand {
    /// The key of a decoder's `userInfo` with the acting user's id (`UserID`), for a session's own
    /// commands: their acting field (`author`, `by` or `user`) may then be left out.
    package static let actorKey: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "ChatDomain.ChatCommand.actor") else { preconditionFailure("any text is a key") }
        return key
    }()

    fileprivate init(from container: FieldContainer, beside others: [FieldKey], actor: UserID?) throws {
        let keys = container.allKeys.filter { !others.contains($0) }.sorted { $0.stringValue < $1.stringValue }
        let commands = keys.filter { Self.decoders[$0] != nil }
        if commands.count > 1 {
            throw DecodingError.dataCorrupted(
                .init(codingPath: container.codingPath + [commands[1]], debugDescription: "a second command; only one is allowed"))
        }
        try container.rejectFields(otherThan: others + commands)
        guard let key = commands.first, let read = Self.decoders[key] else {
            throw DecodingError.dataCorrupted(.init(codingPath: container.codingPath, debugDescription: "no command in this object"))
        }
        self = try read(CommandFields(container: container.nestedContainer(keyedBy: FieldKey.self, forKey: key), actor: actor))
    }

    private static let decoders = coreDecoders.merging(communityDecoders) { first, _ in first }

    /// The decoders of users, threads, posts and sessions.
    private static let coreDecoders: [FieldKey: @Sendable (CommandFields) throws -> ChatCommand] = [
        FieldKey("registerUser"): {
            try $0.rejectFields(otherThan: [.user, .username, .subject])
            return .registerUser(
                user: try $0.decodeOptional(.user), username: try $0.read(.username), subject: try $0.decodeOptional(.subject))
        },
        FieldKey("changeUsername"): {
            try $0.rejectFields(otherThan: [.user, .username])
            return .changeUsername(user: try $0.actor(.user), username: try $0.read(.username))
        },
        FieldKey("setPostcode"): {
            try $0.rejectFields(otherThan: [.user, .postcode])
            return .setPostcode(user: try $0.actor(.user), postcode: try $0.read(.postcode))
        },
        FieldKey("openThread"): {
            try $0.rejectFields(otherThan: [.thread, .name, .by, .policy, .history])
            return .openThread(
                thread: try $0.decodeOptionalThread(), name: try $0.read(.name), by: try $0.actor(.by),
                policy: try $0.decodeOptionalName(.policy) ?? .open, history: try $0.decodeOptionalName(.history) ?? .all)
        },
        FieldKey("joinThread"): {
            try $0.rejectFields(otherThan: [.user, .thread])
            return .joinThread(user: try $0.actor(.user), thread: try $0.decodeThread())
        },
        FieldKey("leaveThread"): {
            try $0.rejectFields(otherThan: [.user, .thread])
            return .leaveThread(user: try $0.actor(.user), thread: try $0.decodeThread())
        },
        FieldKey("postMessage"): {
            try $0.rejectFields(otherThan: [.message, .thread, .author, .body])
            return .postMessage(
                message: try $0.decodeOptional(.message), thread: try $0.decodeThread(), author: try $0.actor(.author),
                body: try $0.read(.body))
        },
        FieldKey("reply"): {
            try $0.rejectFields(otherThan: [.reply, .message, .author, .body])
            return .reply(
                reply: try $0.decodeOptional(.reply), message: try $0.read(.message), author: try $0.actor(.author),
                body: try $0.read(.body)
            )
        },
        FieldKey("edit"): {
            try $0.rejectFields(otherThan: [.message, .reply, .by, .body])
            return .edit(try $0.decodePost(), by: try $0.actor(.by), body: try $0.read(.body))
        },
        FieldKey("retract"): {
            try $0.rejectFields(otherThan: [.message, .reply, .by])
            return .retract(try $0.decodePost(), by: try $0.actor(.by))
        },
        FieldKey("markRead"): {
            try $0.rejectFields(otherThan: [.user, .thread, .upTo])
            return .markRead(user: try $0.actor(.user), thread: try $0.decodeThread(), upTo: try $0.decodeInteger(.upTo))
        },
        FieldKey("startSession"): {
            try $0.rejectFields(otherThan: [.user, .session, .device])
            return .startSession(user: try $0.actor(.user), session: try $0.decodeOptional(.session), device: try $0.read(.device))
        },
        FieldKey("endSession"): {
            try $0.rejectFields(otherThan: [.session])
            return .endSession(session: try $0.read(.session))
        },
    ]

    /// The decoders of roles, moderation and custom events.
    private static let communityDecoders: [FieldKey: @Sendable (CommandFields) throws -> ChatCommand] = [
        FieldKey("invite"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by])
            return .invite(user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actor(.by))
        },
        FieldKey("acceptInvitation"): {
            try $0.rejectFields(otherThan: [.thread, .user])
            return .acceptInvitation(user: try $0.actor(.user), thread: try $0.decodeThread())
        },
        FieldKey("declineInvitation"): {
            try $0.rejectFields(otherThan: [.thread, .user])
            return .declineInvitation(user: try $0.actor(.user), thread: try $0.decodeThread())
        },
        FieldKey("revokeInvitation"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by])
            return .revokeInvitation(user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actor(.by))
        },
        FieldKey("setRole"): {
            try $0.rejectFields(otherThan: [.thread, .user, .role, .by])
            return .setRole(
                user: try $0.read(.user), thread: try $0.decodeThread(), role: try $0.decodeName(.role), by: try $0.actor(.by))
        },
        FieldKey("grantOperator"): {
            try $0.rejectFields(otherThan: [.user])
            return .grantOperator(user: try $0.read(.user))
        },
        FieldKey("revokeOperator"): {
            try $0.rejectFields(otherThan: [.user])
            return .revokeOperator(user: try $0.read(.user))
        },
        FieldKey("remove"): {
            try $0.rejectFields(otherThan: [.message, .reply, .by, .reason])
            return .remove(try $0.decodePost(), by: try $0.actor(.by), reason: try $0.read(.reason))
        },
        FieldKey("mute"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by, .reason, .until])
            return .mute(
                user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actor(.by), reason: try $0.read(.reason),
                until: try $0.decodeOptional(.until))
        },
        FieldKey("unmute"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by])
            return .unmute(user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actor(.by))
        },
        FieldKey("ban"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by, .reason, .until])
            return .ban(
                user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actor(.by), reason: try $0.read(.reason),
                until: try $0.decodeOptional(.until))
        },
        FieldKey("unban"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by])
            return .unban(user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actor(.by))
        },
        FieldKey("removeMember"): {
            try $0.rejectFields(otherThan: [.thread, .user, .by, .reason])
            return .removeMember(
                user: try $0.read(.user), thread: try $0.decodeThread(), by: try $0.actor(.by), reason: try $0.read(.reason))
        },
        FieldKey("pin"): {
            try $0.rejectFields(otherThan: [.message, .by])
            return .pin(message: try $0.read(.message), by: try $0.actor(.by))
        },
        FieldKey("unpin"): {
            try $0.rejectFields(otherThan: [.message, .by])
            return .unpin(message: try $0.read(.message), by: try $0.actor(.by))
        },
        FieldKey("lockThread"): {
            try $0.rejectFields(otherThan: [.thread, .by])
            return .lockThread(thread: try $0.decodeThread(), by: try $0.actor(.by))
        },
        FieldKey("unlockThread"): {
            try $0.rejectFields(otherThan: [.thread, .by])
            return .unlockThread(thread: try $0.decodeThread(), by: try $0.actor(.by))
        },
        FieldKey("closeThread"): {
            try $0.rejectFields(otherThan: [.thread, .by])
            return .closeThread(thread: try $0.decodeThread(), by: try $0.actor(.by))
        },
        FieldKey("report"): {
            try $0.rejectFields(otherThan: [.message, .reply, .by, .reason])
            return .report(try $0.decodePost(), by: try $0.actor(.by), reason: try $0.read(.reason))
        },
        FieldKey("resolveReport"): {
            try $0.rejectFields(otherThan: [.message, .reply, .by])
            return .resolveReport(try $0.decodePost(), by: try $0.actor(.by))
        },
        FieldKey("block"): {
            try $0.rejectFields(otherThan: [.user, .by])
            return .block(user: try $0.read(.user), by: try $0.actor(.by))
        },
        FieldKey("unblock"): {
            try $0.rejectFields(otherThan: [.user, .by])
            return .unblock(user: try $0.read(.user), by: try $0.actor(.by))
        },
        FieldKey("custom"): {
            try $0.rejectFields(otherThan: [.id, .kind, .thread, .by, .payload])
            return .custom(
                id: try $0.decodeOptional(.id), kind: try $0.read(.kind), thread: try $0.decodeThread(), by: try $0.actor(.by),
                payload: try $0.read(.payload))
        },
    ]

    fileprivate func encode(to container: inout KeyedEncodingContainer<FieldKey>) throws {
        func fields(_ name: String) -> KeyedEncodingContainer<FieldKey> {
            container.nestedContainer(keyedBy: FieldKey.self, forKey: FieldKey(name))
        }
        switch self {
        case .registerUser(let user, let username, let subject):
            var inner = fields("registerUser")
            try inner.encodeIfPresent(user, forKey: .user)
            try inner.encode(username, forKey: .username)
            try inner.encodeIfPresent(subject, forKey: .subject)
        case .changeUsername(let user, let username):
            var inner = fields("changeUsername")
            try inner.encode(user, forKey: .user)
            try inner.encode(username, forKey: .username)
        case .setPostcode(let user, let postcode):
            var inner = fields("setPostcode")
            try inner.encode(user, forKey: .user)
            try inner.encode(postcode, forKey: .postcode)
        case .openThread(let thread, let name, let by, let policy, let history):
            var inner = fields("openThread")
            try inner.encodeIfPresent(thread, forKey: .thread)
            try inner.encode(name, forKey: .name)
            try inner.encode(by, forKey: .by)
            if policy != .open { try inner.encode(policy, forKey: .policy) }
            if history != .all { try inner.encode(history, forKey: .history) }
        case .joinThread(let user, let thread), .leaveThread(let user, let thread):
            var inner = fields(isJoin ? "joinThread" : "leaveThread")
            try inner.encode(user, forKey: .user)
            try inner.encode(thread, forKey: .thread)
        case .postMessage(let message, let thread, let author, let body):
            var inner = fields("postMessage")
            try inner.encodeIfPresent(message, forKey: .message)
            try inner.encode(thread, forKey: .thread)
            try inner.encode(author, forKey: .author)
            try inner.encode(body, forKey: .body)
        case .reply(let reply, let message, let author, let body):
            var inner = fields("reply")
            try inner.encodeIfPresent(reply, forKey: .reply)
            try inner.encode(message, forKey: .message)
            try inner.encode(author, forKey: .author)
            try inner.encode(body, forKey: .body)
        case .edit(let post, let by, let body):
            var inner = fields("edit")
            try inner.encode(post)
            try inner.encode(by, forKey: .by)
            try inner.encode(body, forKey: .body)
        case .retract(let post, let by):
            var inner = fields("retract")
            try inner.encode(post)
            try inner.encode(by, forKey: .by)
        case .markRead(let user, let thread, let upTo):
            var inner = fields("markRead")
            try inner.encode(user, forKey: .user)
            try inner.encode(thread, forKey: .thread)
            try inner.encode(upTo, forKey: .upTo)
        case .startSession(let user, let session, let device):
            var inner = fields("startSession")
            try inner.encode(user, forKey: .user)
            try inner.encodeIfPresent(session, forKey: .session)
            try inner.encode(device, forKey: .device)
        case .endSession(let session):
            var inner = fields("endSession")
            try inner.encode(session, forKey: .session)
        default: try encodeCommunity(to: &container)
        }
    }

    /// Encodes the commands of roles, moderation and custom events.
    private func encodeCommunity(to container: inout KeyedEncodingContainer<FieldKey>) throws {
        func encode(
            _ name: String, user: UserID? = nil, thread: ThreadID? = nil, post: PostID? = nil, by: UserID? = nil,
            _ others: (inout KeyedEncodingContainer<FieldKey>) throws -> Void = { _ in }
        ) throws {
            var inner = container.nestedContainer(keyedBy: FieldKey.self, forKey: FieldKey(name))
            try inner.encodeIfPresent(thread, forKey: .thread)
            if let post { try inner.encode(post) }
            try inner.encodeIfPresent(user, forKey: .user)
            try inner.encodeIfPresent(by, forKey: .by)
            try others(&inner)
        }
        switch self {
        case .invite(let user, let thread, let by): try encode("invite", user: user, thread: thread, by: by)
        case .acceptInvitation(let user, let thread): try encode("acceptInvitation", user: user, thread: thread)
        case .declineInvitation(let user, let thread): try encode("declineInvitation", user: user, thread: thread)
        case .revokeInvitation(let user, let thread, let by): try encode("revokeInvitation", user: user, thread: thread, by: by)
        case .setRole(let user, let thread, let role, let by):
            try encode("setRole", user: user, thread: thread, by: by) { try $0.encode(role, forKey: .role) }
        case .grantOperator(let user): try encode("grantOperator", user: user)
        case .revokeOperator(let user): try encode("revokeOperator", user: user)
        case .remove(let post, let by, let reason): try encode("remove", post: post, by: by) { try $0.encode(reason, forKey: .reason) }
        case .mute(let user, let thread, let by, let reason, let until):
            try encode("mute", user: user, thread: thread, by: by) {
                try $0.encode(reason, forKey: .reason)
                try $0.encode(until, forKey: .until)
            }
        case .unmute(let user, let thread, let by): try encode("unmute", user: user, thread: thread, by: by)
        case .ban(let user, let thread, let by, let reason, let until):
            try encode("ban", user: user, thread: thread, by: by) {
                try $0.encode(reason, forKey: .reason)
                try $0.encode(until, forKey: .until)
            }
        case .unban(let user, let thread, let by): try encode("unban", user: user, thread: thread, by: by)
        case .removeMember(let user, let thread, let by, let reason):
            try encode("removeMember", user: user, thread: thread, by: by) { try $0.encode(reason, forKey: .reason) }
        case .pin(let message, let by): try encode("pin", post: .message(message), by: by)
        case .unpin(let message, let by): try encode("unpin", post: .message(message), by: by)
        case .lockThread(let thread, let by): try encode("lockThread", thread: thread, by: by)
        case .unlockThread(let thread, let by): try encode("unlockThread", thread: thread, by: by)
        case .closeThread(let thread, let by): try encode("closeThread", thread: thread, by: by)
        case .report(let post, let by, let reason): try encode("report", post: post, by: by) { try $0.encode(reason, forKey: .reason) }
        case .resolveReport(let post, let by): try encode("resolveReport", post: post, by: by)
        case .block(let user, let by): try encode("block", user: user, by: by)
        case .unblock(let user, let by): try encode("unblock", user: user, by: by)
        case .custom(let id, let kind, let thread, let by, let payload):
            try encode("custom", thread: thread, by: by) {
                try $0.encodeIfPresent(id, forKey: .id)
                try $0.encode(kind, forKey: .kind)
                try $0.encode(payload, forKey: .payload)
            }
        default: preconditionFailure("`encode` has the other commands")
        }
    }

    private var isJoin: Bool {
        if case .joinThread = self { true } else { false }
    }
}

extension KeyedEncodingContainer where K == FieldKey {
    fileprivate mutating func encode(_ post: PostID) throws {
        switch post {
        case .message(let id): try encode(id, forKey: .message)
        case .reply(let id): try encode(id, forKey: .reply)
        }
    }
}

/// The fields of one command, and the user who acts if the acting field is left out.
private struct CommandFields {
    let container: FieldContainer
    let actor: UserID?

    func rejectFields(otherThan allowed: [FieldKey]) throws { try container.rejectFields(otherThan: allowed) }

    func read<Value: Decodable>(_ key: FieldKey) throws -> Value { try container.decode(Value.self, forKey: key) }

    /// The acting user: the field, or the user of the session if it is left out.
    func actor(_ key: FieldKey) throws -> UserID {
        if let actor, !container.contains(key) { return actor }
        return try read(key)
    }

    func decodeInteger<Number: FixedWidthInteger & Decodable>(_ key: FieldKey) throws -> Number { try container.decodeInteger(key) }

    func decodeName<Name: RawRepresentable & CaseIterable>(_ key: FieldKey) throws -> Name where Name.RawValue == String {
        try container.decodeName(key)
    }

    func decodeOptional<Value: Decodable>(_ key: FieldKey) throws -> Value? { try container.decodeIfPresent(Value.self, forKey: key) }

    func decodeThread() throws -> ThreadID {
        guard let thread = ThreadID(idOrOutwardCode: try container.decode(String.self, forKey: .thread)) else {
            throw DecodingError.dataCorruptedError(forKey: .thread, in: container, debugDescription: "neither an id nor an outward code")
        }
        return thread
    }

    func decodeOptionalName<Name: RawRepresentable & CaseIterable>(_ key: FieldKey) throws -> Name?
    where Name.RawValue == String {
        try container.contains(key) && !container.decodeNil(forKey: key) ? try decodeName(key) : nil
    }

    func decodeOptionalThread() throws -> ThreadID? {
        try container.contains(.thread) && !container.decodeNil(forKey: .thread) ? try decodeThread() : nil
    }

    func decodePost() throws -> PostID {
        switch (
            try container.decodeIfPresent(MessageID.self, forKey: .message), try container.decodeIfPresent(ReplyID.self, forKey: .reply)
        ) {
        case (let message?, nil): return .message(message)
        case (nil, let reply?): return .reply(reply)
        case (nil, nil):
            throw DecodingError.keyNotFound(
                FieldKey.message, .init(codingPath: container.codingPath, debugDescription: "message or reply is required"))
        case (_?, _?):
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: container.codingPath + [FieldKey.reply], debugDescription: "only one of message and reply is allowed",
                    underlyingError: UnknownFieldError(field: "reply")))
        }
    }
}
