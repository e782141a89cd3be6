/// Identifies a post: a message or a reply, which its author can edit and retract, and a moderator
/// remove.
public enum PostID: Hashable, Sendable {
    /// A message.
    case message(MessageID)
    /// A reply.
    case reply(ReplyID)

    /// Whether it identifies a reply.
    public var isReply: Bool { if case .reply = self { true } else { false } }
}
