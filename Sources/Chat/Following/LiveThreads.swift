public import ChatDomain
import EventJournal
public import Observation
import Projections

/// The threads that somebody may read, or all of them, for a screen: kept current for as long as ``follow()`` runs.
///
/// A thread stands there once, in the order of the threads' latest events. The threads that a viewer joins come and those that they leave go; the next thread, if there is
/// one, takes the place of one that goes.
@MainActor @Observable public final class LiveThreads: LiveView {
    /// What there is to show, the thread with the latest event last.
    public internal(set) var state = LoadState<[ThreadSummary]>.loading

    @ObservationIgnored let store: ChatStore
    @ObservationIgnored let source: ThreadsSource

    /// Makes a list of threads; nothing is read before ``follow()``.
    ///
    /// - Parameters:
    ///   - store: Where the threads are.
    ///   - viewer: Whose threads, nil for the operator, who sees all.
    ///   - limit: How many threads are there at most: those with the latest events.
    public init(_ store: ChatStore, viewer: UserID? = nil, limit: Int = 50) {
        self.store = store
        source = ThreadsSource(viewer: viewer, limit: max(1, limit))
    }

    /// The threads to show, the one with the latest event last.
    public var threads: [ThreadSummary] { state.value ?? [] }

    /// Reads the threads and keeps them current until the task is cancelled, the store is closed or something fails, which ``state`` tells; may be called again.
    public func follow() async { await followSource() }
}

/// The threads with the latest events.
struct ThreadsSource: LiveSource {
    enum Change: Sendable {
        /// A thread as it is now.
        case thread(ThreadSummary)
        /// All of them, after the viewer left one.
        case all([ThreadSummary])
    }

    let viewer: UserID?
    let limit: Int

    var filter: EventFilter {
        EventFilter(
            kinds: [
                .threadOpened, .threadJoined, .threadLeft, .messagePosted, .replyPosted, .messageEdited, .replyEdited, .messageRetracted,
                .replyRetracted,
            ], viewer: viewer)
    }

    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> [ThreadSummary] {
        try store.threads(PageRequest(limit: limit), viewer: viewer, asOf: .position(position))
    }

    func change(by event: RecordedEvent, in store: ChatStore) throws(ChatError) -> Change? {
        guard let id = event.event.details.thread else { return nil }
        do throws(ChatError) {
            return .thread(try store.thread(id, viewer: viewer))
        } catch {
            guard case .rejected(.notAMember) = error else { throw error }
            // Which thread takes its place only a query tells; their leaving is an event of their own.
            guard case .threadLeft(let details) = event.event.details, details.user == viewer else { return nil }
            return .all(try store.threads(PageRequest(limit: limit), viewer: viewer))
        }
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
