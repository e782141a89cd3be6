public import ChatDomain

/// A message of another chat's history: `{"t": ISO-8601 or null, "channel", "user", "id", "replyTo": id or null, "body", "editedAt"?}`.
public struct ImportedMessage: Hashable, Sendable {
    /// When it was sent, nil if unknown.
    public var t: Timestamp?
    /// Where it was sent: an outward code's thread, or a thread of this name.
    public var channel: String
    /// The author.
    public var user: ImportedUser
    /// The message's id, unique within its channel.
    public var id: String
    /// The id of the message of the same channel that it answers.
    public var replyTo: String?
    /// The text, as it was last where the message was edited.
    public var body: String
    /// When the message was last edited, nil if never.
    public var editedAt: Timestamp?

    /// Makes a message of a user whom the source knows by a nickname.
    public init(t: Timestamp?, channel: String, user: String, id: String, replyTo: String? = nil, body: String) {
        self.init(t: t, channel: channel, user: .nickname(user), id: id, replyTo: replyTo, body: body)
    }

    /// Makes a message.
    public init(
        t: Timestamp?, channel: String, user: ImportedUser, id: String, replyTo: String? = nil, body: String, editedAt: Timestamp? = nil
    ) {
        self.t = t
        self.channel = channel
        self.user = user
        self.id = id
        self.replyTo = replyTo
        self.body = body
        self.editedAt = editedAt
    }
}

/// A join of another chat's history: `{"t": ISO-8601 or null, "channel", "user", "join": true}`.
public struct ImportedJoin: Hashable, Sendable {
    /// When the user joined, nil if unknown.
    public var t: Timestamp?
    /// The channel, as in ``ImportedMessage/channel``.
    public var channel: String
    /// Who joined.
    public var user: ImportedUser

    /// Makes a join.
    public init(t: Timestamp?, channel: String, user: ImportedUser) {
        self.t = t
        self.channel = channel
        self.user = user
    }
}

/// A user of another chat: a nickname, or an account with an id of its own.
public enum ImportedUser: Hashable, Sendable {
    /// A nickname, which is one person in all channels: `"Ann"`. Nicknames with one fold key are one.
    case nickname(String)
    /// An account: `{"id", "name", "subject"?}`. The id alone says who it is; the name and the subject of the account's first line are those that
    /// the user is registered with.
    case account(id: String, name: String, subject: String? = nil)

    /// The nickname, or the account's name.
    public var name: String {
        switch self {
        case .nickname(let name), .account(_, let name, _): name
        }
    }
}

/// A line of another chat's history.
public enum ImportedLine: Hashable, Sendable {
    /// A message.
    case message(ImportedMessage)
    /// A join.
    case join(ImportedJoin)
}

extension ImportedMessage: Decodable {
    /// Reads a message; unknown and missing fields are errors, `t` and `replyTo` may be null but not missing, `editedAt` may be either.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        try container.rejectFields(otherThan: [.t, .channel, .user, .id, .replyTo, .body, .editedAt])
        self.init(
            t: try container.decode(Timestamp?.self, forKey: .t), channel: try container.decode(String.self, forKey: .channel),
            user: try container.decode(ImportedUser.self, forKey: .user), id: try container.decode(String.self, forKey: .id),
            replyTo: try container.decode(String?.self, forKey: .replyTo), body: try container.decode(String.self, forKey: .body),
            editedAt: try container.decodeIfPresent(Timestamp.self, forKey: .editedAt))
    }
}

extension ImportedJoin: Decodable {
    /// Reads a join; unknown and missing fields are errors, `t` may be null but not missing, and `join` is true.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        try container.rejectFields(otherThan: [.t, .channel, .user, .join])
        guard try container.decode(Bool.self, forKey: .join) else {
            throw DecodingError.dataCorruptedError(forKey: .join, in: container, debugDescription: "a join is true")
        }
        self.init(
            t: try container.decode(Timestamp?.self, forKey: .t), channel: try container.decode(String.self, forKey: .channel),
            user: try container.decode(ImportedUser.self, forKey: .user))
    }
}

extension ImportedUser: Decodable {
    /// Reads a string as a nickname and an object as an account, whose subject may be missing or null.
    public init(from decoder: any Decoder) throws {
        let mismatch: DecodingError
        do {
            self = .nickname(try decoder.singleValueContainer().decode(String.self))
            return
        } catch let error as DecodingError {
            mismatch = error
        }
        // What is neither a string nor an object is reported as no string.
        guard case .typeMismatch = mismatch, let container = try? decoder.container(keyedBy: FieldKey.self) else { throw mismatch }
        try container.rejectFields(otherThan: [.id, .name, .subject])
        self = .account(
            id: try container.decode(String.self, forKey: .id), name: try container.decode(String.self, forKey: .name),
            subject: try container.decodeIfPresent(String.self, forKey: .subject))
    }
}

extension ImportedLine: Decodable {
    /// Reads a line with the field `join` as a join and every other as a message.
    public init(from decoder: any Decoder) throws {
        let isJoin = try decoder.container(keyedBy: FieldKey.self).contains(.join)
        self = isJoin ? .join(try ImportedJoin(from: decoder)) : .message(try ImportedMessage(from: decoder))
    }
}

extension FieldKey {
    fileprivate static let t = FieldKey("t")
    fileprivate static let channel = FieldKey("channel")
    fileprivate static let id = FieldKey("id")
    fileprivate static let replyTo = FieldKey("replyTo")
    fileprivate static let editedAt = FieldKey("editedAt")
    fileprivate static let join = FieldKey("join")
}
