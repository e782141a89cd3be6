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

    var userNumbers = DenseIndex<UserID>()
    var users: [UserRow] = []
    /// Users by the fold key of their present username.
    var usersByName: [String: Int] = [:]
    /// Users by the bytes of their subject: the provider's name is opaque, so two spellings of one character are two subjects.
    var usersBySubject: [[UInt8]: Int] = [:]

    var threadNumbers = DenseIndex<ThreadID>()
    var threads: [ThreadRow] = []
    var memberships: [MembershipKey: MembershipRow] = [:]

    var messageNumbers = DenseIndex<MessageID>()
    var messages: [PostRow] = []
    var replyNumbers = DenseIndex<ReplyID>()
    var replies: [PostRow] = []

    var sessionNumbers = DenseIndex<SessionID>()
    var sessions: [SessionRow] = []

    /// Makes the state before the first event.
    public init() {}
}

struct UserRow: Sendable, Hashable {
    var registeredAt: Position
    /// The fold key that the user registered with, nil once erased: a registration that comes again is known by it.
    var registeredAs: String?
    /// The fold key of the present username.
    var foldKey: String?
    /// The present username as written.
    var username: String?
    var postcode: Postcode?
    /// The thread of the outward code where the user lives.
    var residence: ThreadID?
}

struct ThreadRow: Sendable, Hashable {
    var openedAt: Position
    var openedBy: Int
    /// How many events of the thread there are.
    var eventCount: UInt64
}

struct MembershipKey: Sendable, Hashable {
    var user: UInt32
    var thread: UInt32
    init(user: Int, thread: Int) {
        self.user = UInt32(user)
        self.thread = UInt32(thread)
    }
}

struct MembershipRow: Sendable, Hashable {
    var isMember = false
    var readUpTo: Position = 0
}

/// A message (its place is its thread) or a reply (its place is its message).
struct PostRow: Sendable, Hashable {
    var position: Position
    var place: UInt32
    private var authorAndMark: UInt32

    init(position: Position, place: Int, author: Int) {
        self.position = position
        self.place = UInt32(place)
        authorAndMark = UInt32(author) << 1
    }

    var author: Int { Int(authorAndMark >> 1) }

    var isRetracted: Bool {
        get { authorAndMark & 1 == 1 }
        set { authorAndMark = authorAndMark & ~1 | (newValue ? 1 : 0) }
    }
}

struct SessionRow: Sendable, Hashable {
    var startedAt: Position
    var user: Int
    var hasEnded = false
}
