/// The JSON of a command: an object whose one key is the command's name.
///
/// For example `{"postMessage":{"thread":"SW1A","author":"...","body":"..."}}`.
extension ChatCommand: Codable {
    /// Decodes a command; unknown and missing fields are errors.
    ///
    /// `thread` is an id or an outward code.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        try self.init(from: container, beside: [])
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
        self.init(try ChatCommand(from: container, beside: [.correlation]), correlation: correlation)
    }

    /// Encodes the command and its correlation id.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: FieldKey.self)
        try command.encode(to: &container)
        try container.encodeIfPresent(correlation, forKey: .correlation)
    }
}

extension ChatCommand {
    fileprivate init(from container: FieldContainer, beside others: [FieldKey]) throws {
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
        self = try read(container.nestedContainer(keyedBy: FieldKey.self, forKey: key))
    }

    private static let decoders: [FieldKey: @Sendable (FieldContainer) throws -> ChatCommand] = [
        FieldKey("registerUser"): {
            try $0.rejectFields(otherThan: [.user, .username, .subject])
            return .registerUser(
                user: try $0.decodeOptional(.user), username: try $0.read(.username), subject: try $0.decodeOptional(.subject))
        },
        FieldKey("changeUsername"): {
            try $0.rejectFields(otherThan: [.user, .username])
            return .changeUsername(user: try $0.read(.user), username: try $0.read(.username))
        },
        FieldKey("setPostcode"): {
            try $0.rejectFields(otherThan: [.user, .postcode])
            return .setPostcode(user: try $0.read(.user), postcode: try $0.read(.postcode))
        },
        FieldKey("openThread"): {
            try $0.rejectFields(otherThan: [.thread, .name, .by])
            return .openThread(thread: try $0.decodeOptionalThread(), name: try $0.read(.name), by: try $0.read(.by))
        },
        FieldKey("joinThread"): {
            try $0.rejectFields(otherThan: [.user, .thread])
            return .joinThread(user: try $0.read(.user), thread: try $0.decodeThread())
        },
        FieldKey("leaveThread"): {
            try $0.rejectFields(otherThan: [.user, .thread])
            return .leaveThread(user: try $0.read(.user), thread: try $0.decodeThread())
        },
        FieldKey("postMessage"): {
            try $0.rejectFields(otherThan: [.message, .thread, .author, .body])
            return .postMessage(
                message: try $0.decodeOptional(.message), thread: try $0.decodeThread(), author: try $0.read(.author),
                body: try $0.read(.body))
        },
        FieldKey("reply"): {
            try $0.rejectFields(otherThan: [.reply, .message, .author, .body])
            return .reply(
                reply: try $0.decodeOptional(.reply), message: try $0.read(.message), author: try $0.read(.author), body: try $0.read(.body)
            )
        },
        FieldKey("edit"): {
            try $0.rejectFields(otherThan: [.message, .reply, .by, .body])
            return .edit(try $0.decodePost(), by: try $0.read(.by), body: try $0.read(.body))
        },
        FieldKey("retract"): {
            try $0.rejectFields(otherThan: [.message, .reply, .by])
            return .retract(try $0.decodePost(), by: try $0.read(.by))
        },
        FieldKey("markRead"): {
            try $0.rejectFields(otherThan: [.user, .thread, .upTo])
            return .markRead(user: try $0.read(.user), thread: try $0.decodeThread(), upTo: try $0.decodeInteger(.upTo))
        },
        FieldKey("startSession"): {
            try $0.rejectFields(otherThan: [.user, .session, .device])
            return .startSession(user: try $0.read(.user), session: try $0.decodeOptional(.session), device: try $0.read(.device))
        },
        FieldKey("endSession"): {
            try $0.rejectFields(otherThan: [.session])
            return .endSession(session: try $0.read(.session))
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
        case .openThread(let thread, let name, let by):
            var inner = fields("openThread")
            try inner.encodeIfPresent(thread, forKey: .thread)
            try inner.encode(name, forKey: .name)
            try inner.encode(by, forKey: .by)
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

extension KeyedDecodingContainer where K == FieldKey {
    fileprivate func read<Value: Decodable>(_ key: FieldKey) throws -> Value { try decode(Value.self, forKey: key) }

    fileprivate func decodeOptional<Value: Decodable>(_ key: FieldKey) throws -> Value? { try decodeIfPresent(Value.self, forKey: key) }

    fileprivate func decodeThread() throws -> ThreadID {
        guard let thread = ThreadID(idOrOutwardCode: try decode(String.self, forKey: .thread)) else {
            throw DecodingError.dataCorruptedError(forKey: .thread, in: self, debugDescription: "neither an id nor an outward code")
        }
        return thread
    }

    fileprivate func decodeOptionalThread() throws -> ThreadID? {
        try contains(.thread) && !decodeNil(forKey: .thread) ? try decodeThread() : nil
    }

    fileprivate func decodePost() throws -> PostID {
        switch (try decodeIfPresent(MessageID.self, forKey: .message), try decodeIfPresent(ReplyID.self, forKey: .reply)) {
        case (let message?, nil): return .message(message)
        case (nil, let reply?): return .reply(reply)
        case (nil, nil):
            throw DecodingError.keyNotFound(
                FieldKey.message, .init(codingPath: codingPath, debugDescription: "message or reply is required"))
        case (_?, _?):
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: codingPath + [FieldKey.reply], debugDescription: "only one of message and reply is allowed",
                    underlyingError: UnknownFieldError(field: "reply")))
        }
    }
}
