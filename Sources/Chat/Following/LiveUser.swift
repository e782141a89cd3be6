public import ChatDomain
import EventJournal
public import Observation
import Projections

/// A user's own view, for a screen: their name, their postcode, their threads with what is unread, kept current for as long as ``follow()`` runs.
@MainActor @Observable public final class LiveUser: LiveView {
    /// What there is to show.
    public internal(set) var state = LoadState<UserDetails>.loading

    @ObservationIgnored let store: ChatStore
    @ObservationIgnored let source: UserSource

    /// Makes the view of a user, as they see themselves; nothing is read before ``follow()``.
    public init(_ store: ChatStore, user: UserID) {
        self.store = store
        source = UserSource(user: user)
    }

    /// The user, once there is something to show.
    public var user: UserDetails? { state.value }

    /// Reads the view and keeps it current until the task is cancelled, the store is closed or something fails, which ``state`` tells; may be called again.
    public func follow() async { await followSource() }
}

/// What a user sees of themselves.
struct UserSource: LiveSource {
    let user: UserID

    /// Sessions are not shown.
    var filter: EventFilter {
        var filter = EventFilter(kinds: Set(EventKind.allCases).subtracting([.sessionStarted, .sessionEnded]), viewer: user)
        // The author of a last message may have left the thread.
        filter.includesUsernames = true
        return filter
    }

    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> UserDetails {
        try store.user(user, viewer: user, asOf: .position(position))
    }

    /// Whatever happens in one of the user's threads may change what is unread or what its last message says.
    func change(by event: RecordedEvent, in store: ChatStore) throws(ChatError) -> UserDetails? { try store.user(user, viewer: user) }

    func apply(_ change: UserDetails, to user: inout UserDetails) { user = change }
}
