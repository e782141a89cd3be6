import ChatDomain
import ChatLive
import ChatValues
import EventJournal

/// A source of a user's inbox.
struct InboxSource: StoreSource {
    let user: UserID
    let limit: Int

    func filter(in store: ChatStore) -> EventFilter {
        var filter = EventFilter(as: .user(user), kinds: EventKind.changing([.inbox, .inboxOfTold]))
        // The user who wrote may have left every thread of the reader.
        filter.kindsWithoutViewer = [.usernameChanged]
        return filter
    }

    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> (
        value: LiveInbox.Inbox, hasEarlier: Bool
    ) {
        let reader = store.reader(as: .user(user), asOf: .position(position))
        let page = try reader.inbox(of: user, page: .latest(limit))
        return (
            LiveInbox.Inbox(entries: page.entries, unread: try reader.unreadInboxCount(of: user)), page.older != nil
        )
    }

    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<LiveInbox.Inbox>? {
        // Most events are messages, of which the user is not told.
        guard event.changes(.inbox) else { return .none }
        return .change(try load(from: store, asOf: store.applyDurableEvents()).value)
    }
}
