import Primitives

/// Identifies a post: a message or a reply, which its author can edit and retract, and a moderator
/// remove.
public enum PostID: Hashable, Sendable {
    /// A message.
    case message(MessageID)
    /// A reply.
    case reply(ReplyID)

    /// Whether it identifies a reply.
    public var isReply: Bool { if case .reply = self { true } else { false } }

    /// Creates the id of a message or a reply; the two can have the same bits.
    package init(bits: UInt128, isReply: Bool) {
        self = isReply ? .reply(ReplyID(bits: bits)) : .message(MessageID(bits: bits))
    }

    /// The bits of the id.
    package var bits: UInt128 {
        switch self {
        case .message(let id): id.bits
        case .reply(let id): id.bits
        }
    }

    /// The text form of the id.
    package var idText: String { UUIDText.format(bits) }

    /// The kind and the id, for a message to people.
    package var name: String { (isReply ? "reply " : "message ") + idText }
}
