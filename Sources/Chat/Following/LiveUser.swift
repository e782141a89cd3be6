public import ChatDomain
import EventJournal
public import Observation

/// A user's own details, kept current for a screen while ``follow()`` runs.
///
/// The details are the name, the postcode, and the threads with their unread counts.
@MainActor @Observable public final class LiveUser: LiveView {
    /// The loading state and the details.
    public internal(set) var state = LoadState<UserDetails>.loading

    @ObservationIgnored var followCount: UInt64 = 0
    @ObservationIgnored let store: ChatStore
    @ObservationIgnored let source: UserSource

    /// Creates the view of a user as the user sees it; nothing is read before ``follow()``.
    public init(_ store: ChatStore, user: UserID) {
        self.store = store
        source = UserSource(user: user)
    }

    /// The details of the user, once they are loaded.
    public var user: UserDetails? { state.value }

    /// Reads the details and keeps them current until the task is cancelled or the store is closed.
    ///
    /// Also returns after an error, which ``state`` then reports. Can be called again.
    public func follow() async { await followSource() }
}

/// A source of a user's own details.
struct UserSource: LiveSource {
    let user: UserID

    /// All kinds of events except sessions, which the details do not contain.
    var filter: EventFilter {
        var filter = EventFilter(as: .user(user), kinds: Set(EventKind.allCases).subtracting([.sessionStarted, .sessionEnded]))
        // The author of a thread's last message may have left the thread.
        filter.kindsWithoutViewer = [.usernameChanged]
        return filter
    }

    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> (value: UserDetails, hasEarlier: Bool) {
        (try store.user(user, as: .user(user), asOf: .position(position)), false)
    }

    /// Returns the details after an event.
    ///
    /// Every event in a thread of the user can change the unread count or the text of the last
    /// message.
    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<UserDetails> {
        .change(try store.user(user, as: .user(user)))
    }

    func apply(_ change: UserDetails, to user: inout UserDetails) { user = change }
}
