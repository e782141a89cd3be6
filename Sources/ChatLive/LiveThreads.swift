import ChatDomain
public import ChatValues
public import Observation

/// The threads of a viewer, or all threads, kept current for a screen while ``follow()`` runs.
///
/// Each thread is listed once, in the order of the latest events of the threads. A thread appears
/// when the viewer joins it and disappears when the viewer leaves it; the next thread then takes
/// its place.
@MainActor @Observable public final class LiveThreads: LiveView {
    /// The loading state and the threads; the thread with the latest event is last.
    public internal(set) var state = LoadState<[ThreadSummary]>.loading

    @ObservationIgnored var followCount: UInt64 = 0
    @ObservationIgnored private let source: any LiveSource<[ThreadSummary], Change>
    /// The maximum number of threads.
    @ObservationIgnored private let limit: Int

    package enum Change: Sendable {
        /// The current state of one thread.
        case thread(ThreadSummary)
        /// All threads, after the viewer left one, or became or ceased to be an operator, or the
        /// policy of a thread was set.
        case all([ThreadSummary])
    }

    package init(source: any LiveSource<[ThreadSummary], Change>, limit: Int) {
        (self.source, self.limit) = (source, max(1, limit))
    }

    /// The threads to display; the thread with the latest event is last.
    public var threads: [ThreadSummary] { state.value ?? [] }

    /// Reads the threads and keeps them current until the task is cancelled or the store or client
    /// is closed.
    ///
    /// Also returns after an error, which ``state`` then reports. Can be called again.
    public func follow() async { await followSource() }

    func load() async throws(LiveFailure) -> LiveLoad<[ThreadSummary], Change> { try await source.load() }

    func apply(_ change: Change, to threads: inout [ThreadSummary]) {
        switch change {
        case .thread(let thread):
            threads.removeAll { $0.id == thread.id }
            let index = threads.firstIndex { $0.lastPosition > thread.lastPosition } ?? threads.endIndex
            threads.insert(thread, at: index)
            if threads.count > limit { threads.removeFirst() }
        case .all(let all): threads = all
        }
    }
}
