import ChatDomain
import ChatLive
import ChatValues
import EventJournal

/// A source of a user's inbox.
struct InboxSource: StoreSource {
    let user: UserID
    let limit: Int

    /// The events that can add an entry, change one or end the right to see it.
    func filter(in store: ChatStore) -> EventFilter {
        let others: [EventKind] = [
            .sessionStarted, .sessionEnded, .threadRead, .threadMarkedUnread, .notificationsSet, .postcodeSet,
            .messagePinned,
            .messageUnpinned, .threadLocked, .threadUnlocked, .custom,
        ]
        var filter = EventFilter(as: .user(user), kinds: Set(EventKind.allCases).subtracting(others))
        // The user who wrote may have left every thread of the reader.
        filter.kindsWithoutViewer = [.usernameChanged]
        return filter
    }

    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> (
        value: LiveInbox.Inbox, hasEarlier: Bool
    ) {
        let reader = store.reader(as: .user(user), asOf: .position(position))
        let page = try reader.inbox(of: user, page: PageRequest(limit: limit))
        return (
            LiveInbox.Inbox(entries: page.entries, unread: try reader.unreadInboxCount(of: user)), page.older != nil
        )
    }

    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<LiveInbox.Inbox>? {
        // Most events are messages, of which those without a mention change nothing.
        if event.kind == .messagePosted, !event.mentions.contains(user) { return .none }
        return .change(try load(from: store, asOf: store.applyDurableEvents()).value)
    }
}
