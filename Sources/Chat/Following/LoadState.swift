import ChatDomain
import EventJournal

/// The loading state of a value that a screen displays.
public enum LoadState<Value: Sendable>: Sendable {
    /// No value has been loaded yet.
    case loading
    /// The value is loaded and kept current.
    case loaded(Value)
    /// The value may be out of date; a newer one, or more of it, is being read.
    case updating(Value)
    /// The value is no longer kept current, because of this error.
    ///
    /// `last` is the last value; nil if nothing was loaded, or if the viewer may no longer read it.
    case failed(ChatError, last: Value?)

    /// The value to display, if any.
    public var value: Value? {
        switch self {
        case .loading: nil
        case .loaded(let value), .updating(let value): value
        case .failed(_, let last): last
        }
    }

    /// The error that ended the updates.
    public var error: ChatError? {
        if case .failed(let error, _) = self { error } else { nil }
    }
}

/// The data source of a live view: a query, and the change that each event causes.
protocol LiveSource: Sendable {
    associatedtype Value: Sendable
    associatedtype Change: Sendable

    /// The events that may change the value.
    ///
    /// The filter may match more events than the viewer may read: the queries enforce the viewer's
    /// rights.
    var filter: EventFilter { get }
    /// Returns the whole value, as of a position.
    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> Value
    /// Returns the change that an event causes, nil if none.
    ///
    /// The change is read from the store's current state, never from the event. It may therefore be
    /// newer than the event, and applying it twice has the same effect as applying it once.
    func change(by event: RecordedEvent, in store: ChatStore) throws(ChatError) -> Change?
    /// Applies a change to the value.
    func apply(_ change: Change, to value: inout Value)
}

extension LiveSource {
    /// Calls ``load(from:asOf:)`` outside the main actor, because it reads the journal.
    ///
    /// - Returns: The value, and the position that it was read as of.
    @concurrent func loaded(from store: ChatStore) async throws(ChatError) -> (Value, Position) {
        let position = store.applyDurableEvents()
        return (try load(from: store, asOf: position), position)
    }

    /// Calls ``change(by:in:)`` outside the main actor, because it reads the journal.
    @concurrent func changed(by event: RecordedEvent, in store: ChatStore) async throws(ChatError) -> Change? {
        try change(by: event, in: store)
    }
}

/// An object on the main actor that displays a source.
@MainActor protocol LiveView: AnyObject {
    associatedtype Source: LiveSource
    var store: ChatStore { get }
    var source: Source { get }
    var state: LoadState<Source.Value> { get set }
    /// Records an applied change; nil after a complete reload.
    func note(_ change: Source.Change?)
}

/// The maximum number of waiting changes; beyond it, everything is reloaded.
let backlogLimit = 1_000

extension LiveView {
    func note(_ change: Source.Change?) {}

    /// Loads the source and keeps it current until cancellation, the end of the store, or an error.
    func followSource() async {
        while !Task.isCancelled {
            state = state.value.map(LoadState.updating) ?? .loading
            do throws(ChatError) {
                let (value, position) = try await store.onReadExecutor { () async throws(ChatError) in
                    try await source.loaded(from: store)
                }
                state = .loaded(value)
                note(nil)
                var filter = source.filter
                filter.includesErasures = true
                for try await event in store.events(after: position, matching: filter, bufferingPolicy: .bounded(backlogLimit)) {
                    // Reloads everything: an erasure concerns any text and any name.
                    if event.details.isErasure { throw ChatError.lagged(from: event.position) }
                    let change = try await store.onReadExecutor { () async throws(ChatError) in
                        try await source.changed(by: event.recorded, in: store)
                    }
                    if let change { apply(change) }
                }
                return
            } catch {
                if case .lagged = error { continue }
                // Neither a cancelled task nor a closed store is an error of the view.
                if Task.isCancelled || error.isClosed { return }
                fail(with: error)
                return
            }
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
        note(change)
        if case .updating = state { state = .updating(value) } else { state = .loaded(value) }
    }
}
