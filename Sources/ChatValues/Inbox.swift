public import ChatDomain
import Primitives

/// What happened to a user: an entry of their inbox.
///
/// It has no text of a post: a client reads the post, which the user may read as long as there is
/// an entry about it.
public struct InboxEntry: Hashable, Sendable, Codable {
    /// The position of the event; the key of pagination.
    public var position: Position
    /// Why the user is told.
    public var reason: InboxReason
    /// The thread.
    public var thread: ThreadID
    /// The thread's name as of the queried point; nil if erased, and for a direct thread.
    ///
    /// For a user who may not read the thread, the name as of the event, but for the entry of an
    /// invitation.
    public var name: String?
    /// The people of a direct thread, as in ``ThreadSummary/people``; nil for another thread, and
    /// for a user who cannot read it.
    public var people: [UserSummary]?
    /// The reply, the post that mentions the user, that has the reaction or that was reported; nil
    /// for an invitation and for what a moderator did.
    public var post: PostID?
    /// The user who did it.
    public var by: UserSummary
    /// The time of the event.
    public var createdAt: Timestamp
    /// Whether the user has not read it.
    public var isUnread: Bool
    /// The latest reaction; nil for other entries.
    public var emoji: String?
    /// What a moderator did; nil for other entries.
    public var kind: EventKind?
    /// The moderator's reason; nil for other entries, for an act without a reason, and if erased.
    public var moderatorNote: String?
    /// The end of a mute or a ban; nil for other entries and for one without an end.
    public var until: Timestamp?

    /// Creates an entry, for example in a test.
    public init(
        position: Position, reason: InboxReason, thread: ThreadID, name: String? = nil, people: [UserSummary]? = nil,
        post: PostID? = nil,
        by: UserSummary, createdAt: Timestamp, isUnread: Bool, emoji: String? = nil, kind: EventKind? = nil,
        moderatorNote: String? = nil,
        until: Timestamp? = nil
    ) {
        (self.position, self.reason, self.thread, self.name) = (position, reason, thread, name)
        (self.post, self.by) = (post, by)
        self.people = people
        (self.createdAt, self.isUnread, self.emoji, self.kind, self.moderatorNote, self.until) = (
            createdAt, isUnread, emoji, kind, moderatorNote, until
        )
    }

    private enum CodingKeys: String, CodingKey {
        case position, thread, name, people, message, reply, emoji, kind, until, by, createdAt
        case reason = "why"
        case moderatorNote = "reason"
        case isUnread = "unread"
    }

    /// Encodes ``reason`` as `why`, ``moderatorNote`` as `reason`, ``post`` as `message` or
    /// `reply`, and what other entries do not have only if it exists.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(position, forKey: .position)
        try container.encode(reason, forKey: .reason)
        try container.encode(thread, forKey: .thread)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(people, forKey: .people)
        if let post { try container.encode(post.idText, forKey: post.isReply ? .reply : .message) }
        try container.encodeIfPresent(emoji, forKey: .emoji)
        if let kind {
            try container.encode(kind.name, forKey: .kind)
            try container.encode(moderatorNote, forKey: .moderatorNote)
            try container.encode(until, forKey: .until)
        }
        try container.encode(by, forKey: .by)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encode(isUnread, forKey: .isUnread)
    }

    /// Decodes the form that `encode(to:)` writes; a page passes over an entry with a reason of a
    /// later version.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        guard let reason = InboxReason(rawValue: try container.decode(String.self, forKey: .reason)) else {
            throw UnknownValue()
        }
        let post =
            try container.decodeIfPresent(MessageID.self, forKey: .message).map(PostID.message)
            ?? container.decodeIfPresent(ReplyID.self, forKey: .reply).map(PostID.reply)
        self.init(
            position: try container.decode(Position.self, forKey: .position), reason: reason,
            thread: try container.decode(ThreadID.self, forKey: .thread),
            name: try container.decodeIfPresent(String.self, forKey: .name),
            people: try container.decodeIfPresent([UserSummary].self, forKey: .people), post: post,
            by: try container.decode(UserSummary.self, forKey: .by),
            createdAt: try container.decode(Timestamp.self, forKey: .createdAt),
            isUnread: try container.decode(Bool.self, forKey: .isUnread),
            emoji: try container.decodeIfPresent(String.self, forKey: .emoji),
            kind: try container.decodeIfPresent(String.self, forKey: .kind).flatMap(EventKind.init(name:)),
            moderatorNote: try container.decodeIfPresent(String.self, forKey: .moderatorNote),
            until: try container.decodeIfPresent(Timestamp.self, forKey: .until))
    }
}

/// The number of unread entries of an inbox.
public struct InboxCount: Hashable, Sendable, Codable {
    /// The number among the latest events that concern the user.
    public var count: Int
    /// Whether there can be more, because only the latest 1,000 events were looked at.
    public var hasMore: Bool

    /// Creates a count, for example in a test.
    public init(count: Int, hasMore: Bool = false) { (self.count, self.hasMore) = (count, hasMore) }

    private enum CodingKeys: String, AbsentAsNullKey {
        case count
        case hasMore = "more"
        static let omittedIfFalse = [hasMore]
    }
}

extension InboxEntry: PageEntry {
    /// The position that bounds its pages: ``position``.
    public var pageKey: Position { position }
    /// True.
    public static var isNewestFirst: Bool { true }
}

/// What happened to a user, newest entry first.
public struct InboxQuery: OwnQuery, PageQuery {
    /// The answer.
    public typealias Answer = Page<InboxEntry>
    /// The name and the path.
    public static let name = "inbox", path = "/v1/inbox"

    /// The user whose inbox it is; nil for the viewer.
    public var user: UserID?
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(user: UserID? = nil, page: PageRequest = .latest()) { (self.user, self.page) = (user, page) }

    private enum CodingKeys: CodingKey { case page }
}
