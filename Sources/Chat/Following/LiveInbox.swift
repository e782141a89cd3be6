public import ChatDomain
import EventJournal
public import Observation

/// A user's inbox, kept current for a screen while ``follow()`` runs.
@MainActor @Observable public final class LiveInbox: LiveView {
    /// The latest entries of an inbox, and how many are unread.
    public struct Inbox: Hashable, Sendable {
        /// The entries, newest first.
        public var entries: [InboxEntry]
        /// The number of unread entries.
        public var unread: InboxCount
    }

    /// The loading state and the inbox.
    public internal(set) var state = LoadState<Inbox>.loading

    @ObservationIgnored var followCount: UInt64 = 0
    @ObservationIgnored let store: ChatStore
    @ObservationIgnored let source: InboxSource

    /// Creates the view of a user's inbox; nothing is read before ``follow()``.
    ///
    /// - Parameters:
    ///   - store: The store.
    ///   - user: The user whose inbox it is.
    ///   - limit: The maximum number of entries, at least 1.
    public init(_ store: ChatStore, of user: UserID, limit: Int = 50) {
        self.store = store
        source = InboxSource(user: user, limit: max(1, limit))
    }

    /// The entries to display, newest first.
    public var entries: [InboxEntry] { state.value?.entries ?? [] }
    /// The number of unread entries, once it is known.
    public var unread: InboxCount? { state.value?.unread }

    /// Reads the inbox and keeps it current until the task is cancelled or the store is closed.
    ///
    /// Also returns after an error, which ``state`` then reports. Can be called again.
    public func follow() async { await followSource() }
}

/// A source of a user's inbox.
struct InboxSource: LiveSource {
    let user: UserID
    let limit: Int

    /// The events that can add an entry, change one or end the right to see it.
    var filter: EventFilter {
        let others: [EventKind] = [
            .sessionStarted, .sessionEnded, .threadRead, .threadMarkedUnread, .notificationsSet, .postcodeSet, .messagePinned,
            .messageUnpinned, .threadLocked, .threadUnlocked, .custom,
        ]
        var filter = EventFilter(as: .user(user), kinds: Set(EventKind.allCases).subtracting(others))
        // The user who wrote may have left every thread of the reader.
        filter.kindsWithoutViewer = [.usernameChanged]
        return filter
    }

    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> (value: LiveInbox.Inbox, hasEarlier: Bool) {
        let reader = store.reader(as: .user(user), asOf: .position(position))
        let page = try reader.inbox(of: user, page: PageRequest(limit: limit))
        return (LiveInbox.Inbox(entries: page.entries, unread: try reader.unreadInboxCount(of: user)), page.older != nil)
    }

    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<LiveInbox.Inbox> {
        // Most events are messages, of which those without a mention change nothing.
        if event.kind == .messagePosted, !event.mentions.contains(user) { return .none }
        return .change(try load(from: store, asOf: store.applyDurableEvents()).value)
    }

    func apply(_ change: LiveInbox.Inbox, to inbox: inout LiveInbox.Inbox) { inbox = change }
}
