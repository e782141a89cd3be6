import ChatDomain
import EventJournal

/// What a screen shows of something that changes.
public enum LoadState<Value: Sendable>: Sendable {
    /// Nothing yet.
    case loading
    /// The value, which is kept current.
    case loaded(Value)
    /// A value that may be out of date, while a newer one or more of it is read.
    case updating(Value)
    /// Why it is no longer kept current, and what was shown last: nil if there was nothing, or if it may no longer be shown.
    case failed(ChatError, last: Value?)

    /// What there is to show.
    public var value: Value? {
        switch self {
        case .loading: nil
        case .loaded(let value), .updating(let value): value
        case .failed(_, let last): last
        }
    }

    /// Why it is no longer kept current.
    public var error: ChatError? {
        if case .failed(let error, _) = self { error } else { nil }
    }
}

/// Where a live view gets what it shows: a query, and what each event changes of it.
protocol LiveSource: Sendable {
    associatedtype Value: Sendable
    associatedtype Change: Sendable

    /// The events that can change the value: each is a reason to ask the store.
    ///
    /// What may be shown, the queries decide; the events may be more than the viewer may be shown.
    var filter: EventFilter { get }
    /// All of it, as of a position.
    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> Value
    /// What an event changes, nil if nothing; read from the store as it is now, never from the event, so that it may be newer than the event, and comes to the same when it comes again.
    func change(by event: RecordedEvent, in store: ChatStore) throws(ChatError) -> Change?
    /// Takes in a change.
    func apply(_ change: Change, to value: inout Value)
}

extension LiveSource {
    // Not on the main actor: they read the journal.

    @concurrent func loaded(from store: ChatStore) async throws(ChatError) -> (Value, Position) {
        let position = store.shownPosition
        return (try load(from: store, asOf: position), position)
    }

    @concurrent func changed(by event: RecordedEvent, in store: ChatStore) async throws(ChatError) -> Change? {
        try change(by: event, in: store)
    }
}

/// An object that shows a source, on the main actor.
@MainActor protocol LiveView: AnyObject {
    associatedtype Source: LiveSource
    var store: ChatStore { get }
    var source: Source { get }
    var state: LoadState<Source.Value> { get set }
    /// Takes note of a change that has been applied; nil where everything has been read anew.
    func note(_ change: Source.Change?)
}

/// So many changes may wait before all is read anew.
let backlogLimit = 1_000

extension LiveView {
    func note(_ change: Source.Change?) {}

    /// Shows the source and keeps it current until the task is cancelled, the store is closed, or something fails.
    func followSource() async {
        while !Task.isCancelled {
            state = state.value.map(LoadState.updating) ?? .loading
            do throws(ChatError) {
                let (value, position) = try await source.loaded(from: store)
                state = .loaded(value)
                note(nil)
                for try await event in store.events(after: position, matching: source.filter, bufferingPolicy: .bounded(backlogLimit)) {
                    if let change = try await source.changed(by: event, in: store) { apply(change) }
                }
                return
            } catch {
                if case .lagged = error { continue }
                // A cancelled view is done with, and a closed store has nothing more to say.
                if Task.isCancelled || error.isClosed { return }
                fail(with: error)
                return
            }
        }
    }

    func fail(with error: ChatError) {
        // Whoever is refused may not go on looking at it.
        if case .rejected = error { state = .failed(error, last: nil) } else { state = .failed(error, last: state.value) }
    }

    /// Takes in a change, whatever has become of the value while it was read.
    func apply(_ change: Source.Change) {
        guard var value = state.value else { return }
        source.apply(change, to: &value)
        note(change)
        if case .updating = state { state = .updating(value) } else { state = .loaded(value) }
    }
}
