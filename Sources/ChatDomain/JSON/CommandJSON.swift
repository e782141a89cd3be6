/// The JSON of a command: an object whose one key is the command's name.
///
/// For example `{"postMessage":{"thread":"SW1A","author":"...","body":"..."}}`.
extension ChatCommand: Codable {
    /// Decodes a command; unknown and missing fields are errors.
    ///
    /// `thread` is an id or an outward code.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        try self.init(from: container, beside: [], defaultActor: decoder.userInfo[Self.actorKey] as? UserID)
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
        let defaultActor = decoder.userInfo[ChatCommand.actorKey] as? UserID
        self.init(try ChatCommand(from: container, beside: [.correlation], defaultActor: defaultActor), correlation: correlation)
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
        case .setThreadPolicy(let thread, let policy, let history, let by):
            try encode("setThreadPolicy", thread: thread, by: by) {
                try $0.encode(policy, forKey: .policy)
                try $0.encodeIfPresent(history, forKey: .history)
            }
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
