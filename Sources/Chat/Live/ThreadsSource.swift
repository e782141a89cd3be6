import ChatDomain
import ChatLive
import ChatValues
import EventJournal

/// A source of the threads with the latest events.
struct ThreadsSource: StoreSource {
    typealias Change = LiveThreads.Change

    let viewer: Viewer
    let limit: Int

    func filter(in store: ChatStore) -> EventFilter {
        var filter = EventFilter(as: viewer, kinds: EventKind.changing(.threads))
        // An operator ceases to see a thread with the event that makes it `inviteOnly`. A person of a
        // direct thread may have left every thread of the viewer.
        filter.kindsWithoutViewer = [.threadPolicySet, .usernameChanged]
        return filter
    }

    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> (
        value: [ThreadSummary], hasEarlier: Bool
    ) {
        (
            try store.reader(as: viewer, asOf: .position(position)).threads(page: .latest(limit)).entries,
            false
        )
    }

    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<Change>? {
        guard let id = event.thread else {
            // A person of direct threads has another name, or the viewer became an operator, who sees
            // every thread that is not `inviteOnly`, or ceased to be one.
            return try event.kind == .usernameChanged || viewer.isUser(event.user) ? allThreads(in: store) : .none
        }
        do throws(ChatError) {
            return .change(.thread(try store.reader(as: viewer).thread(id)))
        } catch {
            guard case .rejected(let rejection) = error, [.notAMember, .unknownThread].contains(rejection) else {
                throw error
            }
            // Only a query finds the thread that fills the gap. The viewer's own departure is a
            // separate event.
            guard let user = viewer.user, event.event.changesRights(of: user) else { return .none }
            return try allThreads(in: store)
        }
    }

    private func allThreads(in store: ChatStore) throws(ChatError) -> LiveEffect<Change>? {
        .change(.all(try store.reader(as: viewer).threads(page: .latest(limit)).entries))
    }
}
