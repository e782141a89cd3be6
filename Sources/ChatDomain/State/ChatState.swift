/// What the rules need to know in order to decide a command: the state of the decider.
///
/// A value: ``decide(_:at:freshID:)`` reads it and ``evolve(_:at:)`` moves it on by one event. The same events give the same state, on whatever machine and
/// in whatever version. Bodies are not part of it.
public struct ChatState: Equatable, Sendable {
    /// The position of the last event that the state has seen, 0 at the beginning.
    public internal(set) var head: Position = 0

    /// The time of that event; the next one is not recorded earlier.
    public internal(set) var lastRecordedAt = Timestamp(millisecondsSince1970: 0)

    /// Whether an event of unknown kind was seen: a newer version's rules may apply, so a store that meets one opens read-only.
    public internal(set) var hasUnknownEvents = false

    /// How many events were seen to be lost: what came after the first of them may refer to what it told.
    public internal(set) var lostEvents = 0

    package internal(set) var userNumbers = DenseIndex<UserID>()
    package internal(set) var users: [UserRow] = []
    /// Users by the fold key of their present username.
    package internal(set) var usersByName: [String: Int] = [:]
    /// Users by the bytes of their subject: the provider's name is opaque, so two spellings of one character are two subjects.
    package internal(set) var usersBySubject: [[UInt8]: Int] = [:]

    package internal(set) var threadNumbers = DenseIndex<ThreadID>()
    package internal(set) var threads: [ThreadRow] = []
    package internal(set) var memberships: [MembershipKey: MembershipRow] = [:]

    package internal(set) var messageNumbers = DenseIndex<MessageID>()
    package internal(set) var messages: [PostRow] = []
    package internal(set) var replyNumbers = DenseIndex<ReplyID>()
    package internal(set) var replies: [PostRow] = []

    package internal(set) var sessionNumbers = DenseIndex<SessionID>()
    package internal(set) var sessions: [SessionRow] = []

    /// Makes the state before the first event.
    public init() {}
}

package struct UserRow: Sendable, Hashable {
    package var registeredAt: Position
    /// The fold key that the user registered with, nil once erased: a registration that comes again is known by it.
    package var registeredAs: String?
    /// The fold key of the present username.
    package var foldKey: String?
    /// The present username as written.
    package var username: String?
    package var postcode: Postcode?
    /// The thread of the outward code where the user lives.
    package var residence: ThreadID?
}

package struct ThreadRow: Sendable, Hashable {
    package var openedAt: Position
    package var openedBy: Int
    /// How many events of the thread there are.
    package var eventCount: UInt64
}

package struct MembershipKey: Sendable, Hashable {
    package var user: UInt32
    package var thread: UInt32
    init(user: Int, thread: Int) {
        self.user = UInt32(user)
        self.thread = UInt32(thread)
    }
}

package struct MembershipRow: Sendable, Hashable {
    package var isMember = false
    package var readUpTo: Position = 0
}

/// A message (its place is its thread) or a reply (its place is its message).
package struct PostRow: Sendable, Hashable {
    package var position: Position
    package var place: UInt32
    private var authorAndMark: UInt32

    init(position: Position, place: Int, author: Int) {
        self.position = position
        self.place = UInt32(place)
        authorAndMark = UInt32(author) << 1
    }

    package var author: Int { Int(authorAndMark >> 1) }

    package var isRetracted: Bool {
        get { authorAndMark & 1 == 1 }
        set { authorAndMark = authorAndMark & ~1 | (newValue ? 1 : 0) }
    }
}

package struct SessionRow: Sendable, Hashable {
    package var startedAt: Position
    package var user: Int
    package var hasEnded = false
}
