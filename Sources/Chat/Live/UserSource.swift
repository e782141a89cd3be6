import ChatDomain
import ChatLive
import ChatValues
import EventJournal

/// A source of a user's own details.
struct UserSource: StoreSource {
    let user: UserID

    func filter(in store: ChatStore) -> EventFilter {
        var filter = EventFilter(as: .user(user), kinds: EventKind.changing([.details, .messages]))
        // The author of a thread's last message may have left the thread.
        filter.kindsWithoutViewer = [.usernameChanged]
        return filter
    }

    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> (
        value: UserDetails, hasEarlier: Bool
    ) {
        (try store.reader(as: .user(user), asOf: .position(position)).user(user), false)
    }

    /// Returns the details after an event.
    ///
    /// Every event in a thread of the user can change the unread count or the text of the last
    /// message.
    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<UserDetails>? {
        .change(try store.reader(as: .user(user)).user(user))
    }
}
