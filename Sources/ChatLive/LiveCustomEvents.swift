import ChatDomain
public import ChatValues
public import Observation

/// The latest custom events of a thread, kept current for a screen while ``follow()`` runs.
///
/// Each event is listed once, in journal order. An erased event disappears, and all do when the
/// viewer can no longer read the thread.
@MainActor @Observable public final class LiveCustomEvents: LiveView {
    /// The loading state and the events, oldest first.
    public internal(set) var state = LoadState<[CustomEvent]>.loading
    /// Whether events that the viewer may see precede the first displayed one.
    public private(set) var hasEarlier = false

    @ObservationIgnored var followCount: UInt64 = 0
    @ObservationIgnored private let source: any CustomEventsSource
    /// The maximum number of events.
    @ObservationIgnored private let limit: Int

    package enum Change: Sendable {
        /// A new event.
        case event(CustomEvent)
        /// All events to display, and whether earlier ones precede them.
        case all([CustomEvent], hasEarlier: Bool)
    }

    package init(source: any CustomEventsSource, limit: Int) { (self.source, self.limit) = (source, limit) }

    /// The events to display, oldest first.
    public var events: [CustomEvent] { state.value ?? [] }

    /// Reads the events and keeps them current until the task is cancelled or the store or client is
    /// closed.
    ///
    /// Also returns after an error, which ``state`` then reports. Can be called again.
    public func follow() async { await followSource() }

    func load() async throws(LiveFailure) -> LiveLoad<[CustomEvent], Change> { try await source.load() }

    func didLoad(hasEarlier: Bool) { self.hasEarlier = hasEarlier }

    func apply(_ change: Change, to events: inout [CustomEvent]) {
        switch change {
        case .event(let event):
            guard events.last.map({ $0.position < event.position }) ?? true else { return }
            events.append(event)
            guard events.count > limit else { return }
            events.removeFirst()
            hasEarlier = true
        case .all(let all, let hasEarlier): (events, self.hasEarlier) = (all, hasEarlier)
        }
    }
}
