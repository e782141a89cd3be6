/// Why an event is in a user's inbox.
public enum InboxReason: String, CaseIterable, Hashable, Sendable, Codable {
    /// Another user answered a message of the user, or one that they answered.
    case reply
    /// A message or a reply mentions the user.
    case mention
    /// Another user reacted to a post of the user.
    case reaction
    /// Another user invited the user to a thread.
    case invitation
    /// A moderator did something to the user or to a post of theirs.
    case moderation
    /// Another user reported a post in a thread that the user moderates.
    case report
}
