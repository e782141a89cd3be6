/// Why an event is in a user's inbox.
public enum InboxReason: String, CaseIterable, Hashable, Sendable, Codable {
    /// Somebody answered a message of the user, or one that they answered.
    case reply
    /// A message or a reply mentions the user.
    case mention
    /// Somebody reacted to a post of the user.
    case reaction
    /// Somebody invited the user to a thread.
    case invitation
    /// A moderator did something to the user or to a post of theirs.
    case moderation
    /// Somebody reported a post in a thread that the user moderates.
    case report
}
