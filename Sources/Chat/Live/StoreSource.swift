import ChatDomain
import ChatLive
import EventJournal

/// What a live view shows of a store: a query, and the effect of each event on its value.
protocol StoreSource: Sendable {
    associatedtype Value: Sendable
    associatedtype Change: Sendable

    /// Returns the filter of the events that may change the value.
    ///
    /// It may match more events than the viewer may read: the queries enforce the viewer's rights.
    func filter(in store: ChatStore) throws(ChatError) -> EventFilter
    /// Returns the whole value as of a position, and whether earlier entries precede it.
    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> (value: Value, hasEarlier: Bool)
    /// Returns the effect of an event on the value; nil if there is none.
    ///
    /// A change is read from the store's current state, never from the event.
    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<Change>?
}

extension StoreSource {
    /// Loads the value outside the main actor, because that reads the journal.
    @concurrent fileprivate func loadInBackground(
        from store: ChatStore
    ) async throws(ChatError) -> (value: Value, hasEarlier: Bool, events: ChatUpdates) {
        let position = store.applyDurableEvents()
        let (value, hasEarlier) = try load(from: store, asOf: position)
        var filter = try filter(in: store)
        filter.includesErasures = true
        let events = store.events(after: position, matching: filter, bufferingPolicy: .bounded(LiveBacklog.limit))
        return (value, hasEarlier, events.updates)
    }

    /// Returns the effect of an event outside the main actor, because that reads the journal.
    @concurrent fileprivate func effectInBackground(
        of event: RecordedEvent, in store: ChatStore
    ) async throws(ChatError) -> LiveEffect<Change>? { try effect(of: event, in: store) }
}

/// A source of a live view in a store.
struct LiveStoreSource<Source: StoreSource>: LiveSource {
    let store: ChatStore
    let source: Source

    init(_ store: ChatStore, _ source: Source) { (self.store, self.source) = (store, source) }

    func load() async throws(LiveFailure) -> LiveLoad<Source.Value, Source.Change> {
        do throws(ChatError) {
            let (value, hasEarlier, events) = try await store.onReadExecutor { () async throws(ChatError) in
                try await source.loadInBackground(from: store)
            }
            let effects = StoreEffects(store: store, source: source, updates: events.makeAsyncIterator())
            return LiveLoad(value, hasEarlier: hasEarlier, effects: effects)
        } catch { throw LiveFailure(error) }
    }
}

extension LiveStoreSource: LivePostsSource where Source: PostsSource {
    func loadEarlier(before position: Position) async throws(LiveFailure) -> (posts: [Post], hasEarlier: Bool) {
        do throws(ChatError) {
            return try await store.onReadExecutor { () async throws(ChatError) in
                try await source.loadInBackground(from: store, before: position)
            }
        } catch { throw LiveFailure(error) }
    }
}

/// The effects of the events of a store.
private struct StoreEffects<Source: StoreSource>: LiveEffects {
    let store: ChatStore
    let source: Source
    var updates: ChatUpdates.AsyncIterator

    mutating func next() async throws(LiveFailure) -> LiveEffect<Source.Change>? {
        let (store, source) = (store, source)
        do throws(ChatError) {
            while let update = try await updates.next() {
                // An erasure concerns any text and any name.
                guard case .event(let event) = update, !event.recorded.event.isErasure else {
                    return .reload(.forbidden)
                }
                let effect = try await store.onReadExecutor { () async throws(ChatError) in
                    try await source.effectInBackground(of: event.recorded, in: store)
                }
                if let effect { return effect }
            }
            return nil
        } catch {
            if case .lagged = error { return .reload(.outdated) }
            throw LiveFailure(error)
        }
    }
}

extension LiveFailure {
    fileprivate init(_ error: ChatError) { self.init(error, isEnd: error.isClosed) }
}
