public import ChatDomain
import Primitives

/// A user's id and current name, shown beside the user's posts.
public struct UserSummary: Hashable, Sendable, Codable, Identifiable {
    /// The id.
    public var id: UserID
    /// The current name; nil if erased.
    public var username: String?

    /// Creates a summary, for example in a test.
    public init(id: UserID, username: String? = nil) { (self.id, self.username) = (id, username) }

    private enum CodingKeys: AbsentAsNullKey { case id, username }
}

/// A member of a thread.
public struct ThreadMember: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserSummary
    /// The position at which the user joined; of an operator who is no member, that at which they
    /// could first read the thread.
    public var since: Position

    /// Creates a member, for example in a test.
    public init(user: UserSummary, since: Position) { (self.user, self.since) = (user, since) }
}

/// A range of positions during which a user could read a thread.
///
/// Access covers the whole thread, including messages before the range. In a thread with the
/// history `sinceJoining`, a member can read only the messages after their latest join, with the
/// replies to them: `ChatStore.readingStart(of:in:asOf:)`.
public struct ThreadAccess: Hashable, Sendable, Codable {
    /// The thread.
    public var thread: ThreadID
    /// The name; nil if erased.
    public var name: String?
    /// The position at which the user joined, or could first read the thread as an operator.
    public var from: Position
    /// The position at which the user ceased to be able to read it; nil if they still can.
    public var to: Position?

    /// Creates a range, for example in a test.
    public init(thread: ThreadID, name: String? = nil, from: Position, to: Position? = nil) {
        (self.thread, self.name, self.from, self.to) = (thread, name, from, to)
    }

    private enum CodingKeys: AbsentAsNullKey { case thread, name, from, to }
}

/// A user who lives in an outward code.
public struct Resident: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserSummary
    /// The position at which they moved to the outward code; a move within it does not change this.
    public var since: Position
    /// The full postcode; nil if it is erased or belongs to a user other than the viewer.
    public var postcode: Postcode?
    /// The outward code in which they live.
    public var outwardCode: OutwardCode

    /// Creates a resident, for example in a test.
    public init(user: UserSummary, since: Position, postcode: Postcode? = nil, outwardCode: OutwardCode) {
        (self.user, self.since, self.postcode, self.outwardCode) = (user, since, postcode, outwardCode)
    }

    private enum CodingKeys: AbsentAsNullKey { case user, since, postcode, outwardCode }
}

/// A user's profile: name, postcode and threads.
public struct UserDetails: Hashable, Sendable, Codable, Identifiable {
    /// The id.
    public var id: UserID
    /// The name; nil if erased.
    public var username: String?
    /// The postcode; nil if never set, or erased.
    public var postcode: Postcode?
    /// The display time of creation.
    public var createdAt: Timestamp
    /// The user's current threads, in joining order.
    public var threads: [UserThread]

    /// Creates a profile, for example in a test.
    public init(
        id: UserID, username: String? = nil, postcode: Postcode? = nil, createdAt: Timestamp, threads: [UserThread]
    ) {
        (self.id, self.username, self.postcode, self.createdAt, self.threads) = (
            id, username, postcode, createdAt, threads
        )
    }

    private enum CodingKeys: AbsentAsNullKey { case id, username, postcode, createdAt, threads }
}

/// A thread in a user's profile.
public struct UserThread: Hashable, Sendable, Codable, Identifiable {
    /// The id.
    public var id: ThreadID
    /// The name; nil if erased, and for a direct thread.
    public var name: String?
    /// The people of a direct thread, of whom the opener is the first, also those who have left;
    /// nil for another thread.
    public var people: [UserSummary]?
    /// The position at which the user joined; the key of pagination.
    public var since: Position
    /// The number of unread messages.
    ///
    /// A message is unread if it is after both the read marker and the last join, written by
    /// another user whom the user does not block now, and neither retracted nor removed. The level
    /// of notifications that held when it was recorded counts: under `none` no message is unread,
    /// under `mentions` only those that mention the user now.
    public var unreadCount: Int
    /// The position of the first unread message; nil if none is unread.
    public var firstUnread: Position?
    /// The position of the user's read marker; 0 if never set.
    public var readUpTo: Position
    /// What of the thread notifies the user.
    public var notifications: ThreadNotifications
    /// The thread's latest message; nil for an empty thread.
    public var lastMessage: Post?

    /// Creates a thread of a profile, for example in a test.
    public init(
        id: ThreadID, name: String? = nil, people: [UserSummary]? = nil, since: Position, unreadCount: Int,
        firstUnread: Position? = nil,
        readUpTo: Position, notifications: ThreadNotifications = ThreadNotifications(), lastMessage: Post? = nil
    ) {
        self.people = people
        (self.id, self.name, self.since, self.unreadCount, self.firstUnread) = (
            id, name, since, unreadCount, firstUnread
        )
        (self.readUpTo, self.notifications, self.lastMessage) = (readUpTo, notifications, lastMessage)
    }

    private enum CodingKeys: String, AbsentAsNullKey {
        case id, name, people, since
        case unreadCount = "unread"
        case firstUnread, readUpTo, notifications, lastMessage
        static let omittedIfNil = [people]
    }
}

extension ThreadMember: PageEntry {
    /// The position that bounds its pages: ``since``.
    public var pageKey: Position { since }
}

extension Resident: PageEntry {
    /// The position that bounds its pages: ``since``.
    public var pageKey: Position { since }
}

extension UserThread: PageEntry {
    /// The position that bounds its pages: ``since``.
    public var pageKey: Position { since }
}

/// A user's profile with their threads.
public struct UserQuery: OwnQuery {
    /// The answer.
    public typealias Answer = UserDetails
    /// The name and the path.
    public static let name = "user", path = "/v1/me"

    /// The user; nil for the viewer.
    public var user: UserID?
    /// The part of the list of threads, which is not sent.
    public var threads: PageRequest = .all

    /// Creates the query.
    public init(user: UserID? = nil, threads: PageRequest = .all) { (self.user, self.threads) = (user, threads) }

    private enum CodingKeys: CodingKey {}
}

/// The threads of a user, in joining order.
public struct UserThreadsQuery: OwnQuery, PageQuery {
    /// The answer.
    public typealias Answer = Page<UserThread>
    /// The name and the path.
    public static let name = "userThreads", path = "/v1/me/threads"

    /// The user; nil for the viewer.
    public var user: UserID?
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(user: UserID? = nil, page: PageRequest = .latest()) { (self.user, self.page) = (user, page) }

    private enum CodingKeys: CodingKey { case page }
}

/// The members of a thread, in joining order.
public struct MembersQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<ThreadMember>
    /// The name and the path.
    public static let name = "members", path = "/v1/threads/{thread}/members"

    /// The thread.
    public var thread: ThreadID
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(thread: ThreadID, page: PageRequest = .latest()) { (self.thread, self.page) = (thread, page) }
}

/// The residents of an outward code, in the order in which they moved there.
public struct ResidentsQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<Resident>
    /// The name and the path.
    public static let name = "residents", path = "/v1/threads/{thread}/residents"

    /// The outward code, whose thread is sent.
    public var code: OutwardCode
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(code: OutwardCode, page: PageRequest = .latest()) { (self.code, self.page) = (code, page) }

    private enum CodingKeys: String, CodingKey {
        case code = "thread"
        case page
    }
}
