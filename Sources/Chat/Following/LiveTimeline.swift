public import ChatDomain
import EventJournal
public import Observation
import Projections

/// The latest messages of a thread, for a screen: kept current for as long as ``follow()`` runs.
///
/// In SwiftUI: `List(timeline.messages, id: \.id) { ... }.task { await timeline.follow() }`. A message stands there once, in the order of the journal; edits, retractions,
/// reply counts and the names of authors change in place. The journal is read outside the main actor.
@MainActor @Observable public final class LiveTimeline: LiveView {
    /// What there is to show, oldest first.
    public internal(set) var state = LoadState<[TimelineEntry]>.loading
    /// The first message of the thread, once it is known.
    private var beginning: Position?
    /// The number of the last reading of earlier messages; one that is not the last has been overtaken.
    @ObservationIgnored private var lastReading: UInt64 = 0
    /// The changes since the last reading of earlier messages began, whose page may be older than they are; nil while there is none.
    @ObservationIgnored private var changesMeanwhile: [TimelineSource.Change]?

    @ObservationIgnored let store: ChatStore
    @ObservationIgnored let source: TimelineSource

    /// Makes a timeline; nothing is read before ``follow()``.
    ///
    /// - Parameters:
    ///   - store: Where the thread is.
    ///   - thread: Whose messages.
    ///   - viewer: Who looks at it, nil for the operator; once they leave the thread it is refused.
    ///   - limit: How many messages are there at first, and how many ``loadEarlier()`` adds.
    public init(_ store: ChatStore, thread: ThreadID, viewer: UserID? = nil, limit: Int = 50) {
        self.store = store
        source = TimelineSource(thread: thread, viewer: viewer, limit: max(1, limit))
    }

    /// The messages to show, oldest first.
    public var messages: [TimelineEntry] { state.value ?? [] }

    /// Whether there may be messages before the first one that is shown.
    public var hasEarlier: Bool { messages.first.map { $0.position != beginning } ?? false }

    /// Reads the messages and keeps them current until the task is cancelled, the store is closed or something fails, which ``state`` tells; may be called again.
    public func follow() async { await followSource() }

    /// Adds the messages before the first one that is shown, if there are any.
    public func loadEarlier() async {
        guard case .loaded(let messages) = state, hasEarlier, let first = messages.first?.position else { return }
        state = .updating(messages)
        do throws(ChatError) {
            while true {
                (lastReading, changesMeanwhile) = (lastReading + 1, [])
                let reading = lastReading
                let earlier = try await source.messages(before: first, in: store)
                // Everything may have been read anew meanwhile, and others may have come.
                guard reading == lastReading, let changes = changesMeanwhile, case .updating(let now) = state, now.first?.position == first
                else { return }
                if changes.count > backlogLimit { continue }
                changesMeanwhile = nil
                if earlier.count < source.limit { beginning = earlier.first?.position ?? first }
                var all = earlier + now
                for change in changes { source.apply(change, to: &all) }
                state = .loaded(all)
                return
            }
        } catch {
            if !error.isClosed { fail(with: error) }
        }
    }

    func note(_ change: TimelineSource.Change?) {
        guard let change else {
            (lastReading, changesMeanwhile) = (lastReading + 1, nil)
            return
        }
        // One beyond the limit says that the page has to be read again.
        if let count = changesMeanwhile?.count, count <= backlogLimit { changesMeanwhile?.append(change) }
    }
}

/// The messages of a thread.
struct TimelineSource: LiveSource {
    enum Change: Sendable {
        case message(TimelineEntry)
        case name(UserID, String?)
    }

    let thread: ThreadID
    let viewer: UserID?
    let limit: Int

    /// The events of the thread, and changes of usernames.
    ///
    /// Not those that the viewer may be shown: a viewer who left and came back reads what changed meanwhile, and the present names of authors who have left.
    var filter: EventFilter {
        var filter = EventFilter(
            threads: [thread],
            kinds: [.messagePosted, .replyPosted, .messageEdited, .messageRetracted, .replyRetracted, .threadLeft, .usernameChanged])
        filter.includesUsernames = true
        return filter
    }

    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> [TimelineEntry] {
        try store.timeline(thread, PageRequest(limit: limit), viewer: viewer, asOf: .position(position))
    }

    @concurrent func messages(before position: Position, in store: ChatStore) async throws(ChatError) -> [TimelineEntry] {
        try store.timeline(thread, PageRequest(limit: limit, before: position), viewer: viewer)
    }

    func change(by event: RecordedEvent, in store: ChatStore) throws(ChatError) -> Change? {
        switch event.event.details {
        case .messagePosted(let details): return try change(of: details.message, in: store)
        case .messageEdited(let details), .messageRetracted(let details): return try change(of: details.message, in: store)
        case .replyPosted(let details): return try change(of: details.message, in: store)
        case .replyRetracted(let details): return try change(of: details.message, in: store)
        case .usernameChanged(let details):
            let name = store.present { models, now in models.profile(details.user, asOf: now)?.username?.text }
            return .name(details.user, name)
        case .threadLeft(let details):
            // The viewer may not look at it any more.
            if details.user == viewer { _ = try store.thread(thread, viewer: viewer) }
            return nil
        default: return nil
        }
    }

    /// A message as it is now, nil unless it stands in the thread: where events are lost, another may be about a message that is not known, or not of the thread.
    private func change(of message: MessageID, in store: ChatStore) throws(ChatError) -> Change? {
        let entry: TimelineEntry
        do throws(ChatError) { entry = try store.message(message, viewer: viewer) } catch {
            guard case .rejected(let rejection) = error, [.unknownMessage, .notAMember].contains(rejection.code) else { throw error }
            // A viewer who may not look at the thread any more is refused for that.
            _ = try store.thread(thread, viewer: viewer)
            return nil
        }
        return entry.thread == thread ? .message(entry) : nil
    }

    func apply(_ change: Change, to messages: inout [TimelineEntry]) {
        switch change {
        case .message(let message):
            if let index = messages.lastIndex(where: { $0.position <= message.position }) {
                if messages[index].id == message.id { messages[index] = message } else { messages.insert(message, at: index + 1) }
            } else if messages.isEmpty {
                messages.append(message)
            }
        case .name(let user, let name):
            for index in messages.indices where messages[index].author.id == user { messages[index].author.username = name }
        }
    }
}
