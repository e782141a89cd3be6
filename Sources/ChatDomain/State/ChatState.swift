package import Columns

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

    /// The numbers of users, threads and messages: the rows of the columns that follow.
    package internal(set) var numbering = Numbering()
    /// The numbers of memberships, replies and sessions, likewise.
    package internal(set) var dependents = DependentNumbering()
    package internal(set) var users = Column<UserRow>()
    /// Users by the fold key of their present username.
    package internal(set) var usersByName: [String: Int] = [:]
    /// Users by the bytes of their subject: the provider's name is opaque, so two spellings of one character are two subjects.
    package internal(set) var usersBySubject: [[UInt8]: Int] = [:]

    package internal(set) var threads = Column<ThreadRow>()
    package internal(set) var memberships = MembershipTable()

    package internal(set) var messages = PostTable()
    package internal(set) var replies = PostTable()

    package internal(set) var sessions = Column<SessionRow>()

    /// Makes the state before the first event.
    public init() {}
}

extension ChatState {
    // Not generic, so that read models do not pay for looking up a layout.

    /// The number of a user whom any event has named.
    package func number(ofUser id: UserID) -> Int? { numbering.users.find(id) }

    /// The number of a thread that any event has named.
    package func number(ofThread id: ThreadID) -> Int? { numbering.threads.find(id) }

    /// The user with a number.
    package func userID(_ number: Int) -> UserID { numbering.users.id(number) }

    /// The thread with a number.
    package func threadID(_ number: Int) -> ThreadID { numbering.threads.id(number) }
}

/// A user; one that only events after a loss have named has not been registered.
package struct UserRow: Sendable, Hashable {
    /// 0 for a user whose registration was never seen.
    package var registeredAt: Position = 0
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

/// A thread; one that only events after a loss have named has not been opened.
package struct ThreadRow: Sendable, Hashable {
    /// 0 for a thread whose opening was never seen.
    package var openedAt: Position = 0
    package var openedBy = 0
    /// The number of the thread's last event.
    package var eventCount: UInt64 = 0
}

package struct SessionRow: Sendable, Hashable, BitwiseCopyable {
    package var startedAt: Position
    package var user: UInt32
    package var hasEnded = false
}
