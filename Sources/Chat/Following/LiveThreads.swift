import ChatDomain
import EventJournal
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
    @ObservationIgnored let store: ChatStore
    @ObservationIgnored let source: ThreadsSource

    /// Creates a list of threads; nothing is read before ``follow()``.
    ///
    /// - Parameters:
    ///   - store: The store of the threads.
    ///   - viewer: The member whose threads are listed, or the host, which sees all threads.
    ///   - limit: The maximum number of threads, at least 1. The threads with the latest events are
    ///     kept.
    public init(_ store: ChatStore, as viewer: Viewer, limit: Int = 50) {
        self.store = store
        source = ThreadsSource(viewer: viewer, limit: max(1, limit))
    }

    /// The threads to display; the thread with the latest event is last.
    public var threads: [ThreadSummary] { state.value ?? [] }

    /// Reads the threads and keeps them current until the task is cancelled or the store is closed.
    ///
    /// Also returns after an error, which ``state`` then reports. Can be called again.
    public func follow() async { await followSource() }
}

/// A source of the threads with the latest events.
struct ThreadsSource: LiveSource {
    enum Change: Sendable {
        /// The current state of one thread.
        case thread(ThreadSummary)
        /// All threads, after the viewer left one, or became or ceased to be an operator, or the policy
        /// of a thread was set.
        case all([ThreadSummary])
    }

    let viewer: Viewer
    let limit: Int

    var filter: EventFilter {
        // A numbered event moves its thread in the list, or changes who sees it there.
        let kinds = EventKind.allCases.filter { $0.form.isNumbered && $0.form.reordersThreads } + [.operatorGranted, .operatorRevoked]
        var filter = EventFilter(as: viewer, kinds: Set(kinds))
        // An operator ceases to see a thread with the event that makes it `inviteOnly`.
        filter.kindsWithoutViewer = [.threadPolicySet]
        return filter
    }

    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> (value: [ThreadSummary], hasEarlier: Bool) {
        (try store.threads(page: PageRequest(limit: limit), as: viewer, asOf: .position(position)).entries, false)
    }

    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<Change> {
        guard let id = event.thread else {
            // The viewer became an operator, who sees every thread that is not `inviteOnly`, or
            // ceased to be one.
            return try viewer.isUser(event.user) ? allThreads(in: store) : .none
        }
        do throws(ChatError) {
            return .change(.thread(try store.thread(id, as: viewer)))
        } catch {
            guard case .rejected(let rejection) = error, [.notAMember, .unknownThread].contains(rejection) else { throw error }
            // Only a query finds the thread that fills the gap. The viewer's own departure is a
            // separate event.
            guard let user = viewer.user, event.event.changesRights(of: user) else { return .none }
            return try allThreads(in: store)
        }
    }

    private func allThreads(in store: ChatStore) throws(ChatError) -> LiveEffect<Change> {
        .change(.all(try store.threads(page: PageRequest(limit: limit), as: viewer).entries))
    }

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
