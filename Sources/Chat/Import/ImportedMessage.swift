public import ChatDomain
import EventJournal

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

/// The ids of imported things, derived so that importing the same history again meets the same ids.
///
/// A name-based UUIDv8 as RFC 9562 appendix B.2 shows it: the first 16 bytes of SHA-256 over the namespace UUID
/// `ce1f7a5e-0b5d-8c3a-9d41-63686174696d` and the name, with version and variant set. The name is one byte for the kind (`u` nickname, `a` account, `t` thread, `m` message,
/// `r` reply), then each of its texts as the length in bytes (8 bytes, big-endian) and the UTF-8. The text of a nickname is its fold key, of an account its id, of a thread
/// the channel; of a message or a reply the texts are the channel and the id.
///
/// The namespace is no secret: who knows a nickname or a channel can compute the id. So an id that something native bears is never taken for an import's.
enum ImportedID {
    static func user(_ foldKey: String) -> UserID { UserID(bits: derive("u", [foldKey])) }

    static func account(_ id: String) -> UserID { UserID(bits: derive("a", [id])) }

    static func thread(_ channel: String) -> ThreadID { ThreadID(bits: derive("t", [channel])) }

    static func message(_ channel: String, _ id: String) -> MessageID { MessageID(bits: derive("m", [channel, id])) }

    static func reply(_ channel: String, _ id: String) -> ReplyID { ReplyID(bits: derive("r", [channel, id])) }

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

/// A name of another chat: who it is, and the usernames that it may get here.
struct ImportedName {
    /// The name in the source, without the white space around it.
    let text: String
    /// The key by which nicknames are one person.
    let foldKey: String
    /// The first username to try.
    let username: Username

    /// Makes a name, or nothing of what no version has taken for one.
    ///
    /// Scalars that earlier versions took and that are refused now are left out of the username and not of the key, so that the user is the one whom an earlier version imported.
    init?(_ text: String) {
        guard let former = Username(former: text), let fallback = Self.fallback else { return nil }
        self.text = former.text
        foldKey = former.foldKey
        username = Username(former.text) ?? Self.fitted(NameText.withoutInvisibleScalars(former.text), suffix: "") ?? fallback
    }

    private static let fallback = Username("imported")

    /// The username with a suffix, `~2` or higher, shortened where both together would exceed the bounds of a username.
    func username(suffix number: Int) -> Username? { Self.fitted(username.text, suffix: "~\(number)") }

    private static func fitted(_ text: String, suffix: String) -> Username? {
        var text = text
        while true {
            if let username = Username(text + suffix) { return username }
            if text.isEmpty { return nil }
            // By characters, but one character can be longer than a name.
            if text.count > 1 { text.removeLast() } else { text.unicodeScalars.removeLast() }
        }
    }
}

extension ThreadName {
    /// Makes the name of the thread of a channel, or nothing of what no version has taken for one; what is refused now is left out as in ``ImportedName``.
    init?(imported channel: String) {
        guard let former = ThreadName(former: channel) else { return nil }
        let visible = NameText.withoutInvisibleScalars(former.text)
        // What is left can be the outward code of another thread, or nothing.
        let candidates = [former.text, visible, OutwardCode(visible) == nil ? "imported" : visible + "~2"]
        guard let name = candidates.lazy.compactMap({ ThreadName($0) }).first else { return nil }
        self = name
    }
}
