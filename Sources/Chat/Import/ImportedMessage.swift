public import ChatDomain
import EventJournal

/// A message of another chat's history: `{"t": ISO-8601 or null, "channel", "user", "id", "replyTo": id or null, "body"}`.
public struct ImportedMessage: Hashable, Sendable {
    /// When it was sent, nil if unknown.
    public var t: Timestamp?
    /// Where it was sent: an outward code's thread, or a thread of this name.
    public var channel: String
    /// The nickname of the author.
    public var user: String
    /// The message's id, unique within its channel.
    public var id: String
    /// The id of the message of the same channel that it answers.
    public var replyTo: String?
    /// The text.
    public var body: String

    /// Makes a message.
    public init(t: Timestamp?, channel: String, user: String, id: String, replyTo: String? = nil, body: String) {
        self.t = t
        self.channel = channel
        self.user = user
        self.id = id
        self.replyTo = replyTo
        self.body = body
    }
}

extension ImportedMessage: Decodable {
    /// Reads a message; unknown and missing fields are errors, `t` and `replyTo` may be null but not missing.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: FieldKey.self)
        try container.rejectFields(otherThan: [.t, .channel, .user, .id, .replyTo, .body])
        self.init(
            t: try container.decode(Timestamp?.self, forKey: .t), channel: try container.decode(String.self, forKey: .channel),
            user: try container.decode(String.self, forKey: .user), id: try container.decode(String.self, forKey: .id),
            replyTo: try container.decode(String?.self, forKey: .replyTo), body: try container.decode(String.self, forKey: .body))
    }
}

extension FieldKey {
    fileprivate static let t = FieldKey("t")
    fileprivate static let channel = FieldKey("channel")
    fileprivate static let id = FieldKey("id")
    fileprivate static let replyTo = FieldKey("replyTo")
}

/// The ids of imported things, derived so that importing the same history again meets the same ids.
///
/// A name-based UUIDv8 as RFC 9562 appendix B.2 shows it: the first 16 bytes of SHA-256 over the namespace UUID
/// `ce1f7a5e-0b5d-8c3a-9d41-63686174696d` and the name, with version and variant set. The name is one byte for the kind (`u` user, `t` thread, `m` message, `r` reply), then
/// each of its texts as the length in bytes (8 bytes, big-endian) and the UTF-8. The text of a user is the fold key of the nickname, of a thread the channel; of a message
/// or a reply the texts are the channel and the id.
enum ImportedID {
    static func user(_ foldKey: String) -> UserID { UserID(bits: derive("u", [foldKey])) }

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
