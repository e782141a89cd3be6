import ChatDomain
import EventJournal

/// The data source of a live view: a query, and the effect of each event on its value.
protocol LiveSource: Sendable {
    associatedtype Value: Sendable
    associatedtype Change: Sendable

    /// The events that may change the value.
    ///
    /// The filter may match more events than the viewer may read: the queries enforce the viewer's
    /// rights.
    var filter: EventFilter { get }
    /// Returns the whole value as of a position, and whether earlier entries precede it.
    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> (value: Value, hasEarlier: Bool)
    /// Returns the effect of an event on the value.
    ///
    /// A change is read from the store's current state, never from the event. It may therefore be
    /// newer than the event, and applying it twice has the same effect as applying it once.
    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<Change>
    /// Applies a change to the value.
    func apply(_ change: Change, to value: inout Value)
}

/// The effect of an event on the value of a live view.
enum LiveEffect<Change: Sendable>: Sendable {
    /// The value stays as it is.
    case none
    /// The value changes in place.
    case change(Change)
    /// The whole value must be loaded again.
    case reload
}

extension LiveSource {
    /// Calls ``load(from:asOf:)`` outside the main actor, because it reads the journal.
    ///
    /// - Returns: The value, whether earlier entries precede it, and the position that it was read
    ///   as of.
    @concurrent func loadInBackground(from store: ChatStore) async throws(ChatError) -> (Value, hasEarlier: Bool, Position) {
        let position = store.applyDurableEvents()
        let (value, hasEarlier) = try load(from: store, asOf: position)
        return (value, hasEarlier, position)
    }

    /// Calls ``effect(of:in:)`` outside the main actor, because it reads the journal.
    @concurrent func effectInBackground(of event: RecordedEvent, in store: ChatStore) async throws(ChatError) -> LiveEffect<Change> {
        try effect(of: event, in: store)
    }
}

/// The reason why a source must be loaded again.
private enum Reload {
    /// The value is no longer current.
    case outdated
    /// The value may have what was erased, or what the viewer can no longer read.
    case forbidden
}

/// An object on the main actor that displays a source.
@MainActor protocol LiveView: AnyObject {
    associatedtype Source: LiveSource
    var store: ChatStore { get }
    var source: Source { get }
    var state: LoadState<Source.Value> { get set }
    /// The number of calls of ``followSource()``: only the latest one says that the updates ended.
    var followCount: UInt64 { get set }
    /// Notes that a change was applied to the value.
    func didApply(_ change: Source.Change)
    /// Notes that the whole value was loaded.
    ///
    /// - Parameter hasEarlier: Whether earlier entries precede it.
    func didLoad(hasEarlier: Bool)
}

extension LiveView {
    /// The maximum number of waiting changes; beyond it, the whole value is loaded again.
    static var backlogLimit: Int { 1_000 }

    func didApply(_ change: Source.Change) {}
    func didLoad(hasEarlier: Bool) {}

    /// Loads the source and keeps it current until cancellation, the end of the store, or an error.
    func followSource() async {
        followCount += 1
        let follow = followCount
        do throws(ChatError) {
            var mayKeep = true
            while !Task.isCancelled, let reload = try await followUntilReload(mayKeep: mayKeep) { mayKeep = reload == .outdated }
        } catch {
            // Neither a cancelled task nor a closed store is an error of the view.
            if !Task.isCancelled, !error.isClosed { return fail(with: error) }
        }
        if follow == followCount { state = .ended(last: state.value) }
    }

    /// Loads the source and keeps it current.
    ///
    /// - Parameter mayKeep: Whether the value may be kept if it cannot be loaded.
    /// - Returns: Why the source must be loaded again; nil at cancellation or the end of the store.
    private func followUntilReload(mayKeep: Bool) async throws(ChatError) -> Reload? {
        state = state.value.map(LoadState.updating) ?? .loading
        do throws(ChatError) {
            let (value, hasEarlier, position): (Source.Value, Bool, Position)
            do throws(ChatError) {
                (value, hasEarlier, position) = try await store.onReadExecutor { () async throws(ChatError) in
                    try await source.loadInBackground(from: store)
                }
            } catch {
                if !mayKeep { state = .loading }
                throw error
            }
            state = .loaded(value)
            didLoad(hasEarlier: hasEarlier)
            var filter = source.filter
            filter.includesErasures = true
            let events = store.events(after: position, matching: filter, bufferingPolicy: .bounded(Self.backlogLimit))
            for try await update in events.updates {
                // An erasure concerns any text and any name.
                guard case .event(let event) = update, !event.recorded.event.isErasure else { return .forbidden }
                let effect = try await store.onReadExecutor { () async throws(ChatError) in
                    try await source.effectInBackground(of: event.recorded, in: store)
                }
                switch effect {
                case .none: break
                case .change(let change): apply(change)
                case .reload: return .outdated
                }
            }
            return nil
        } catch {
            if case .lagged = error { return .outdated }
            throw error
        }
    }

    func fail(with error: ChatError) {
        // A rejected viewer must not keep seeing the value.
        if case .rejected = error { state = .failed(error, last: nil) } else { state = .failed(error, last: state.value) }
    }

    /// Applies a change to the current value, which may have been reloaded since the change was
    /// read.
    func apply(_ change: Source.Change) {
        guard var value = state.value else { return }
        source.apply(change, to: &value)
        didApply(change)
        if case .updating = state { state = .updating(value) } else { state = .loaded(value) }
    }
}
