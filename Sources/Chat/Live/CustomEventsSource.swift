import ChatDomain
import ChatLive
import ChatValues
import EventJournal

/// A source of the custom events of a thread.
struct StoreCustomEvents: StoreSource {
    typealias Change = LiveCustomEvents.Change

    let thread: ThreadID
    let kind: CustomKind?
    let viewer: Viewer
    let limit: Int

    func filter(in store: ChatStore) -> EventFilter {
        var filter = EventFilter(
            as: .host, threads: [thread],
            kinds: EventKind.changing(.access).union([.custom, .userBlocked, .userUnblocked]))
        filter.includesThreadlessEvents = true
        filter.liveViewer = viewer.user
        return filter
    }

    func page(_ request: PageRequest, of store: ChatStore, asOf point: AsOf) throws(ChatError) -> Page<CustomEvent> {
        try store.reader(as: viewer, asOf: point).customEvents(in: thread, kind: kind, page: request)
    }

    func load(
        from store: ChatStore, asOf position: Position
    ) throws(ChatError) -> (value: [CustomEvent], hasEarlier: Bool) {
        let page = try page(.latest(limit), of: store, asOf: .position(position))
        return (page.entries, page.older != nil)
    }

    /// Returns the effect of an event; a notice tells of the end of access.
    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<Change>? {
        switch (event.kind, event.shape) {
        case (.custom, _):
            let filter = EventFilter(as: viewer, customKinds: kind.map { [$0] })
            return store.visibleEvent(event, through: filter).flatMap(CustomEvent.init).map { .change(.event($0)) }
        case (_, .block(_, let by)): return viewer.isUser(by) ? .reload(.outdated) : nil
        case (.threadJoined, _): return viewer.isUser(event.user) ? .reload(.outdated) : nil
        case (.operatorGranted, _), (.operatorRevoked, _), (.threadPolicySet, _): return .reload(.outdated)
        default: return nil
        }
    }

    /// Returns a page outside the actor of the caller, because that reads the journal.
    @concurrent fileprivate func pageInBackground(
        _ request: PageRequest, of store: ChatStore
    ) async throws(ChatError) -> Page<CustomEvent> { try page(request, of: store, asOf: .now) }
}

extension LiveStoreSource: CustomEventsSource where Source == StoreCustomEvents {
    func page(_ request: PageRequest) async throws(LiveFailure) -> Page<CustomEvent> {
        do throws(ChatError) {
            return try await store.onReadExecutor { () async throws(ChatError) in
                try await source.pageInBackground(request, of: store)
            }
        } catch { throw LiveFailure(error) }
    }
}
