public import ChatDomain
import EventJournal
import Primitives

/// A message in the history of another chat.
///
/// The JSON form is `{"t": ISO-8601 or null, "channel", "user", "id", "replyTo"?: id or null,
/// "body", "editedAt"?, "mentions"?: [user, ...], "reactions"?: [reaction, ...]}`.
public struct ImportedMessage: Hashable, Sendable {
    /// The time at which the message was sent; nil if unknown.
    public var sentAt: Timestamp?
    /// The channel: an outward code for the thread of that code, otherwise the name of a thread.
    public var channel: String
    /// The author.
    public var user: ImportedUser
    /// The id of the message, unique within its channel.
    public var id: String
    /// The id of the message in the same channel that this message answers.
    public var replyTo: String?
    /// The text; after an edit, the last text.
    ///
    /// At most ``maximumBodyByteCount`` bytes.
    public var body: String
    /// The time of the last edit; nil if the message was never edited.
    ///
    /// Ignored if it is before ``sentAt``, as in old exports of Telegram.
    public var editedAt: Timestamp?
    /// The users whom the text mentions.
    ///
    /// A user who was never a member of the channel becomes one, as an author does. One who is no
    /// longer a member, and every user after the 50th, is left out
    /// (``ImportAdaptation/mentionIgnored``).
    public var mentions: [ImportedUser]
    /// The reactions to the message, of at most ``maximumReactionCount`` users in all.
    public var reactions: [ImportedReaction]

    /// The maximum number of users of all reactions of a line, each counted with every emoji.
    public static let maximumReactionCount = 10_000

    /// Creates a message.
    public init(
        sentAt: Timestamp?, channel: String, user: ImportedUser, id: String, replyTo: String? = nil, body: String,
        editedAt: Timestamp? = nil, mentions: [ImportedUser] = [], reactions: [ImportedReaction] = []
    ) {
        self.sentAt = sentAt
        self.channel = channel
        self.user = user
        self.id = id
        self.replyTo = replyTo
        self.body = body
        self.editedAt = editedAt
        self.mentions = mentions
        self.reactions = reactions
    }
}

/// A join in the history of another chat.
///
/// The JSON form is `{"t": ISO-8601 or null, "channel", "user", "join": true}`.
public struct ImportedJoin: Hashable, Sendable {
    /// The time at which the user joined; nil if unknown.
    public var joinedAt: Timestamp?
    /// The channel, as in ``ImportedMessage/channel``.
    public var channel: String
    /// The user who joined.
    public var user: ImportedUser

    /// Creates a join.
    public init(joinedAt: Timestamp?, channel: String, user: ImportedUser) {
        self.joinedAt = joinedAt
        self.channel = channel
        self.user = user
    }
}

/// The policy and the members of a channel in the history of another chat.
///
/// The JSON form is `{"channel", "policy": "open" or "inviteOnly", "members"?: [user, ...]}`.
public struct ImportedChannel: Hashable, Sendable {
    /// The channel, as in ``ImportedMessage/channel``; not an outward code.
    public var channel: String
    /// Who may join the thread of the channel: `open` or `inviteOnly`.
    public var policy: ThreadPolicy
    /// The members, in addition to the authors of its messages; at most
    /// ``maximumMemberCount``.
    public var members: [ImportedUser]

    /// The maximum number of members of a line; further members are lines of joins.
    public static let maximumMemberCount = 10_000

    /// Creates a channel.
    public init(channel: String, policy: ThreadPolicy, members: [ImportedUser] = []) {
        self.channel = channel
        self.policy = policy
        self.members = members
    }
}

/// A user of another chat: a nickname, or an account with its own id.
public enum ImportedUser: Hashable, Sendable {
    /// A nickname, for example `"Ann"`.
    ///
    /// Nicknames with the same fold key are the same person, in all channels.
    case nickname(String)
    /// An account: `{"id", "name", "subject"?}`.
    ///
    /// The id alone identifies the account. The user is registered with the name and the subject of
    /// the first line of the account.
    case account(id: String, name: String, subject: String? = nil)

    /// The nickname, or the name of the account.
    public var name: String {
        switch self {
        case .nickname(let name), .account(_, let name, _): name
        }
    }
}

extension ImportedUser: ExpressibleByStringLiteral {
    /// Creates the user with a nickname.
    public init(stringLiteral nickname: String) { self = .nickname(nickname) }
}

/// A line in the history of another chat.
public enum ImportedLine: Hashable, Sendable {
    /// A message.
    case message(ImportedMessage)
    /// A join.
    case join(ImportedJoin)
    /// The policy and the members of a channel.
    case channel(ImportedChannel)
}

extension ImportedMessage: Decodable {
    /// Decodes a message; unknown and missing fields are errors.
    ///
    /// `t` may be null but not missing; `replyTo`, `editedAt`, `mentions` and `reactions` may be
    /// null or missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(expecting: [
            .time, .channel, .user, .id, .replyTo, .body, .editedAt, .mentions, .reactions,
        ])
        let reactions = try container.decodeIfPresent([ImportedReaction].self, forKey: .reactions) ?? []
        guard reactions.reduce(0, { $0 + $1.users.count }) <= Self.maximumReactionCount else {
            throw DecodingError.dataCorruptedError(
                forKey: .reactions, in: container,
                debugDescription: "the field 'reactions' has at most \(Self.maximumReactionCount) users")
        }
        self.init(
            sentAt: try container.dateTime(container.decode(String?.self, forKey: .time), forKey: .time),
            channel: try container.decode(String.self, forKey: .channel),
            user: try container.decode(ImportedUser.self, forKey: .user),
            id: try container.decode(String.self, forKey: .id),
            replyTo: try container.decodeIfPresent(String.self, forKey: .replyTo),
            body: try container.decode(String.self, forKey: .body),
            editedAt: try container.dateTime(
                container.decodeIfPresent(String.self, forKey: .editedAt), forKey: .editedAt),
            mentions: try container.decodeIfPresent([ImportedUser].self, forKey: .mentions) ?? [], reactions: reactions)
    }
}

extension ImportedJoin: Decodable {
    /// Decodes a join; unknown and missing fields are errors.
    ///
    /// `t` may be null but not missing, and `join` must be true.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(expecting: [.time, .channel, .user, .join])
        guard try container.decode(Bool.self, forKey: .join) else {
            throw DecodingError.dataCorruptedError(
                forKey: .join, in: container, debugDescription: "the field 'join' must be true")
        }
        self.init(
            joinedAt: try container.dateTime(container.decode(String?.self, forKey: .time), forKey: .time),
            channel: try container.decode(String.self, forKey: .channel),
            user: try container.decode(ImportedUser.self, forKey: .user))
    }
}

extension ImportedUser: Decodable {
    /// Decodes a string as a nickname, and an object as an account.
    ///
    /// The subject of an account may be null or missing.
    public init(from decoder: any Decoder) throws {
        let mismatch: DecodingError
        do {
            self = .nickname(try decoder.singleValueContainer().decode(String.self))
            return
        } catch let error as DecodingError {
            mismatch = error
        }
        // Any other JSON value is reported as a type mismatch with a string.
        guard case .typeMismatch = mismatch, (try? decoder.container(keyedBy: FieldKey.self)) != nil else {
            throw mismatch
        }
        let container = try decoder.container(expecting: [.id, .name, .subject])
        self = .account(
            id: try container.decode(String.self, forKey: .id), name: try container.decode(String.self, forKey: .name),
            subject: try container.decodeIfPresent(String.self, forKey: .subject))
    }
}

extension ImportedChannel: Decodable {
    /// Decodes a channel; unknown and missing fields are errors.
    ///
    /// `members` may be missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(expecting: [.channel, .policy, .members])
        let policy = try container.decode(ThreadPolicy.self, forKey: .policy)
        guard policy != .residents else {
            throw DecodingError.dataCorruptedError(
                forKey: .policy, in: container, debugDescription: "the field 'policy' must be open or inviteOnly")
        }
        let members = try container.decodeIfPresent([ImportedUser].self, forKey: .members) ?? []
        guard members.count <= Self.maximumMemberCount else {
            throw DecodingError.dataCorruptedError(
                forKey: .members, in: container,
                debugDescription:
                    "a channel has at most \(Self.maximumMemberCount) members; the others are lines of joins")
        }
        self.init(channel: try container.decode(String.self, forKey: .channel), policy: policy, members: members)
    }
}

extension ImportedLine: Decodable {
    /// Decodes a line with the field `join` as a join, with the field `policy` as a channel, and
    /// every other line as a message.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        if container.contains(.join) {
            self = .join(try ImportedJoin(from: decoder))
        } else if container.contains(.policy) {
            self = .channel(try ImportedChannel(from: decoder))
        } else {
            self = .message(try ImportedMessage(from: decoder))
        }
    }
}

extension FieldKey {
    fileprivate static let time = FieldKey("t")
    fileprivate static let channel = FieldKey("channel")
    fileprivate static let id = FieldKey("id")
    fileprivate static let replyTo = FieldKey("replyTo")
    fileprivate static let editedAt = FieldKey("editedAt")
    fileprivate static let reactions = FieldKey("reactions")
    fileprivate static let join = FieldKey("join")
    fileprivate static let members = FieldKey("members")
}

/// Derives the ids of imported entities, so that a repeated import finds the same ids.
///
/// An id is a name-based UUIDv8 (RFC 9562, appendix B.2). <doc:ImportingAHistory> defines the names.
///
/// The namespace is public, so anyone who knows a nickname or a channel can compute the id. An id
/// that a native entity has is therefore never treated as imported.
enum ImportedID {
    static func user(_ foldKey: String) -> UserID { UserID(bits: derive("u", [foldKey])) }

    static func account(_ id: String) -> UserID { UserID(bits: derive("a", [id])) }

    static func thread(_ channel: String) -> ThreadID { ThreadID(bits: derive("t", [channel])) }

    static func message(_ channel: String, _ id: String) -> MessageID { MessageID(bits: derive("m", [channel, id])) }

    static func reply(_ channel: String, _ id: String) -> ReplyID { ReplyID(bits: derive("r", [channel, id])) }

    /// The ids of part *n* of a split body, 2 or higher, as a message and as a reply.
    static func part(_ number: Int, _ channel: String, _ id: String) -> (message: MessageID, reply: ReplyID) {
        let texts = [channel, id, "\(number)"]
        return (MessageID(bits: derive("p", texts)), ReplyID(bits: derive("q", texts)))
    }

    private static let namespace: UInt128 = 0xce1f_7a5e_0b5d_8c3a_9d41_6368_6174_696d

    private static func derive(_ kind: Unicode.Scalar, _ texts: [String]) -> UInt128 {
        var name: [UInt8] = []
        append(namespace, byteCount: 16, to: &name)
        name.append(UInt8(ascii: kind))
        for text in texts {
            append(UInt128(text.utf8.count), byteCount: 8, to: &name)
            name.append(contentsOf: text.utf8)
        }
        let digest = SHA256.hash(name).prefix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        let marks: UInt128 = 0xF000_C000_0000_0000_0000
        return digest & ~marks | 0x8000_8000_0000_0000_0000
    }

    private static func append(_ value: UInt128, byteCount: Int, to bytes: inout [UInt8]) {
        for index in (0..<byteCount).reversed() { bytes.append(UInt8(truncatingIfNeeded: value >> UInt128(8 * index))) }
    }
}

/// A name in another chat, with its former fold key and the usernames that it can get here.
struct ImportedName {
    /// The name in the source, without leading and trailing white space.
    let text: String
    /// The fold key under the rules of versions before 0.1.0; nicknames with the same key are the
    /// same person, so that the user is the same as in an earlier import.
    let formerFoldKey: String
    /// The first username to try: the name, cleaned and shortened.
    let username: Username

    /// Creates a name; nil if the text is over 4,096 bytes.
    init?(_ text: String) {
        guard let formerFoldKey = Username.formerFoldKey(text), let fallback = Username("imported") else { return nil }
        self.text = NameRules.trimmed(text)
        self.formerFoldKey = formerFoldKey
        username = shortened(NameRules.cleaned(text), suffix: "") { Username($0) } ?? fallback
    }

    /// Returns the username with a suffix, `~2` or higher, shortened to the bounds of a username.
    func username(suffix number: Int) -> Username? { shortened(username.text, suffix: "~\(number)") { Username($0) } }
}

extension ThreadName {
    /// Creates the name of the thread of a channel, cleaned and shortened; nil if the channel is
    /// over 4,096 bytes.
    init?(imported channel: String) {
        guard channel.utf8.count <= NameRules.maximumInputByteCount else { return nil }
        let cleaned = NameRules.cleaned(channel)
        // The name of the channel can become the outward code of another thread.
        let suffix = OutwardCode(NameRules.visible(cleaned)) == nil ? "" : "~2"
        guard let name = shortened(cleaned, suffix: suffix, { ThreadName($0) }) ?? ThreadName("imported") else {
            return nil
        }
        self = name
    }
}

/// Returns the longest valid name that begins as a text and ends with a suffix; nil if no beginning
/// of the text is valid.
private func shortened<Name>(_ text: String, suffix: String, _ name: (String) -> Name?) -> Name? {
    var text = String(text.prefix(ThreadName.maximumScalarCount))
    while !text.isEmpty {
        if let name = name(text + suffix) { return name }
        // Removes whole characters, except that a single character can be longer than a name.
        if text.count > 1 { text.removeLast() } else { text.unicodeScalars.removeLast() }
    }
    return nil
}
