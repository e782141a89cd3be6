public import ChatDomain
import Primitives

/// The present reactions to a post with one emoji.
public struct PostReaction: Hashable, Sendable, Codable, Identifiable {
    /// The emoji of Unicode, or a name such as `:wave:`.
    public var emoji: String
    /// The number of users, also those whom the viewer has blocked.
    public var count: Int
    /// Whether the viewer is one of them; false for the host.
    public var isMine: Bool

    /// The ``emoji``.
    public var id: String { emoji }

    /// Creates the reactions with an emoji, for example in a test.
    public init(emoji: String, count: Int, isMine: Bool) {
        (self.emoji, self.count, self.isMine) = (emoji, count, isMine)
    }

    private enum CodingKeys: String, CodingKey {
        case emoji, count
        case isMine = "mine"
    }
}

/// A user's reaction to a post.
public struct Reaction: Hashable, Sendable, Codable {
    /// The position of the event that added it; the key of pagination.
    public var position: Position
    /// The emoji of Unicode, or a name such as `:wave:`.
    public var emoji: String
    /// The user.
    public var user: UserSummary
    /// Whether the viewer has blocked the user.
    public var isFromBlockedUser = false

    /// Creates a reaction, for example in a test.
    public init(position: Position, emoji: String, user: UserSummary, isFromBlockedUser: Bool = false) {
        (self.position, self.emoji, self.user, self.isFromBlockedUser) = (position, emoji, user, isFromBlockedUser)
    }

    private enum CodingKeys: String, AbsentAsNullKey {
        case position, emoji, user
        case isFromBlockedUser = "blocked"
        static let omittedIfFalse = [isFromBlockedUser]
    }
}

extension Reaction: PageEntry {
    /// The position that bounds its pages: ``position``.
    public var pageKey: Position { position }
}

/// The reactions to a message, with their users, oldest first.
public struct MessageReactionsQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<Reaction>
    /// The name and the path.
    public static let name = "messageReactions", path = "/v1/messages/{message}/reactions"

    /// The message.
    public var message: MessageID
    /// The only emoji whose reactions are listed; nil for all.
    public var emoji: Emoji?
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(message: MessageID, emoji: Emoji? = nil, page: PageRequest = .latest()) {
        (self.message, self.emoji, self.page) = (message, emoji, page)
    }
}

/// The reactions to a reply, with their users, oldest first.
public struct ReplyReactionsQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<Reaction>
    /// The name and the path.
    public static let name = "replyReactions", path = "/v1/replies/{reply}/reactions"

    /// The reply.
    public var reply: ReplyID
    /// The only emoji whose reactions are listed; nil for all.
    public var emoji: Emoji?
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(reply: ReplyID, emoji: Emoji? = nil, page: PageRequest = .latest()) {
        (self.reply, self.emoji, self.page) = (reply, emoji, page)
    }
}
