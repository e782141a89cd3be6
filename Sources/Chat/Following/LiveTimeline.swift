public import ChatDomain
import EventJournal
public import Observation
import Projections

/// The latest messages of a thread, kept current for a screen while ``follow()`` runs.
///
/// In SwiftUI: `List(timeline.messages, id: \.id) { ... }.task { await timeline.follow() }`.
/// Without SwiftUI, observe it:
///
/// ```swift
/// /// Keeps the messages of a thread on the screen, until the task is cancelled.
/// @MainActor func show(_ timeline: LiveTimeline, display: ([Post]) -> Void) async {
///     async let following: Void = timeline.follow()
///     for await messages in Observations({ timeline.messages }) { display(messages) }
///     await following
/// }
/// ```
///
/// Each message is listed once, in journal order. Edits, retractions, reply counts and names of
/// authors change in place. The journal is read outside the main actor.
@MainActor @Observable public final class LiveTimeline: LiveView {
    /// The loading state and the messages, oldest first.
    public internal(set) var state = LoadState<[Post]>.loading
    /// Whether messages that the viewer may read precede the first displayed one.
    public private(set) var hasEarlier = false
    /// The generation of the latest load of earlier messages.
    ///
    /// The result of a load is discarded if its generation is not the latest. A complete reload
    /// begins a new generation.
    @ObservationIgnored private var loadGeneration: UInt64 = 0
    /// The changes since the load of earlier messages began; nil if no load is running.
    ///
    /// They are applied to the loaded page, which may be older than they are. If they exceed
    /// `backlogLimit`, the page is loaded again instead.
    @ObservationIgnored private var changesMeanwhile: [TimelineSource.Change]?

    @ObservationIgnored var followCount: UInt64 = 0
    @ObservationIgnored let store: ChatStore
    @ObservationIgnored let source: TimelineSource

    /// Creates a timeline; nothing is read before ``follow()``.
    ///
    /// - Parameters:
    ///   - store: The store of the thread.
    ///   - thread: The thread whose messages are listed.
    ///   - viewer: Who reads the thread. ``state`` fails when a user who reads it leaves the thread.
    ///   - limit: The number of messages that are loaded first, and the number that
    ///     ``loadEarlier()`` adds; at least 1.
    public init(_ store: ChatStore, thread: ThreadID, as viewer: Viewer, limit: Int = 50) {
        self.store = store
        source = TimelineSource(thread: thread, viewer: viewer, limit: max(1, limit))
    }

    /// The messages to display, oldest first.
    public var messages: [Post] { state.value ?? [] }

    /// Reads the messages and keeps them current until the task is cancelled or the store is
    /// closed.
    ///
    /// Also returns after an error, which ``state`` then reports. Can be called again.
    public func follow() async { await followSource() }

    /// Adds the messages before the first displayed one, if any.
    ///
    /// Does nothing while the messages are being loaded, and after the end of ``follow()``.
    ///
    /// - Throws: ``ChatError/journal(_:)`` if the store is closed or the messages cannot be read.
    ///   The displayed messages stay, and ``follow()`` keeps them current; call again to try again.
    ///   ``ChatError/rejected(_:)`` if the viewer may no longer read the thread, which ``state``
    ///   then reports too, unless the view was loaded again meanwhile.
    public func loadEarlier() async throws(ChatError) {
        guard case .loaded(let messages) = state, hasEarlier, let first = messages.first?.position else { return }
        state = .updating(messages)
        while true {
            (loadGeneration, changesMeanwhile) = (loadGeneration + 1, [])
            let generation = loadGeneration
            let earlier: (value: [Post], hasEarlier: Bool)
            do throws(ChatError) {
                earlier = try await store.onReadExecutor { () async throws(ChatError) in
                    try await source.loadInBackground(from: store, before: first)
                }
            } catch {
                // After a complete reload, the state is no longer that of this load.
                if generation == loadGeneration { endLoad(with: error) }
                throw error
            }
            // Meanwhile everything may have been reloaded, or changes may have arrived.
            guard generation == loadGeneration, let changes = changesMeanwhile, case .updating(let now) = state,
                now.first?.position == first
            else { return }
            if changes.count > Self.backlogLimit { continue }
            changesMeanwhile = nil
            hasEarlier = earlier.hasEarlier
            var all = earlier.value + now
            for change in changes { source.apply(change, to: &all) }
            state = .loaded(all)
            return
        }
    }

    /// Ends a failed load of earlier messages.
    private func endLoad(with error: ChatError) {
        changesMeanwhile = nil
        if case .rejected = error { fail(with: error) } else if case .updating(let now) = state { state = .loaded(now) }
    }

    func didApply(_ change: TimelineSource.Change) {
        // One change beyond the limit marks that the page must be loaded again.
        if let count = changesMeanwhile?.count, count <= Self.backlogLimit { changesMeanwhile?.append(change) }
    }

    func didLoad(hasEarlier: Bool) {
        (loadGeneration, changesMeanwhile) = (loadGeneration + 1, nil)
        self.hasEarlier = hasEarlier
    }
}

/// A source of the messages of a thread.
struct TimelineSource: LiveSource {
    enum Change: Sendable {
        case message(Post)
        case name(UserID, String?)
        case block(UserID, isBlocked: Bool)
    }

    let thread: ThreadID
    let viewer: Viewer
    let limit: Int

    /// The events of the thread, changes of usernames, and the viewer's blocks and changes as an
    /// operator.
    ///
    /// The filter is the host's: a viewer who left and came back reads what changed meanwhile, and
    /// the current names of authors who have left.
    var filter: EventFilter {
        var filter = EventFilter(
            as: .host, threads: [thread],
            kinds: [
                .messagePosted, .replyPosted, .messageEdited, .messageRetracted, .replyRetracted, .messageRemoved, .replyRemoved,
                .threadJoined, .threadLeft, .memberRemoved, .operatorGranted, .operatorRevoked, .threadPolicySet, .usernameChanged,
                .userBlocked, .userUnblocked, .reactionAdded, .reactionRemoved,
            ])
        filter.includesThreadlessEvents = true
        filter.liveViewer = viewer.user
        return filter
    }

    func load(from store: ChatStore, asOf position: Position) throws(ChatError) -> (value: [Post], hasEarlier: Bool) {
        try load(from: store, before: nil, asOf: .position(position))
    }

    /// Returns the messages before a position, outside the main actor.
    @concurrent func loadInBackground(
        from store: ChatStore, before position: Position
    ) async throws(ChatError) -> (value: [Post], hasEarlier: Bool) {
        try load(from: store, before: position, asOf: .now)
    }

    private func load(
        from store: ChatStore, before position: Position?, asOf point: AsOf
    ) throws(ChatError) -> (value: [Post], hasEarlier: Bool) {
        let page = try store.timeline(thread, page: PageRequest(limit: limit, before: position), as: viewer, asOf: point)
        return (page.entries, page.older != nil)
    }

    func effect(of event: RecordedEvent, in store: ChatStore) throws(ChatError) -> LiveEffect<Change> {
        switch (event.kind, event.shape) {
        case (.messagePosted, _), (.messageEdited, _), (.messageRetracted, _), (.messageRemoved, _), (.replyPosted, _),
            (.replyRetracted, _), (.replyRemoved, _), (.reactionAdded, .message), (.reactionRemoved, .message):
            return try event.message.map { message throws(ChatError) in try change(of: message, in: store) } ?? .none
        case (.usernameChanged, .user(let user)):
            let name = store.withCurrentModels { models, now in models.profile(user, asOf: now)?.username?.text }
            return .change(.name(user, name))
        case (.threadLeft, _), (.memberRemoved, _):
            if viewer.isUser(event.user) { try requireRights(in: store) }
            return .none
        case (.threadJoined, _): return try viewer.isUser(event.user) ? reload(from: store) : .none
        case (.operatorGranted, _), (.operatorRevoked, _), (.threadPolicySet, _): return try reload(from: store)
        case (let kind?, .block(let user, let by)):
            return viewer.isUser(by) ? .change(.block(user, isBlocked: kind == .userBlocked)) : .none
        default: return .none
        }
    }

    /// Returns the effect of an event after which the viewer may read other messages than before.
    private func reload(from store: ChatStore) throws(ChatError) -> LiveEffect<Change> {
        try requireRights(in: store)
        return .reload
    }

    /// Throws `notAMember` or `unknownThread` if the viewer can no longer read the thread.
    private func requireRights(in store: ChatStore) throws(ChatError) { _ = try store.thread(thread, as: viewer) }

    /// Returns the current state of a message; no change if it is not in this thread.
    ///
    /// After a repair that lost events, an event can refer to a message that is unknown or in
    /// another thread.
    private func change(of message: MessageID, in store: ChatStore) throws(ChatError) -> LiveEffect<Change> {
        let entry: Post
        do throws(ChatError) { entry = try store.message(message, as: viewer) } catch {
            guard case .rejected(let rejection) = error, [.unknownMessage, .notAMember].contains(rejection.code) else { throw error }
            // Throws if the reason is that the viewer can no longer read the thread.
            try requireRights(in: store)
            return .none
        }
        return entry.thread == thread ? .change(.message(entry)) : .none
    }

    func apply(_ change: Change, to messages: inout [Post]) {
        switch change {
        case .message(let message):
            if let index = messages.lastIndex(where: { $0.position <= message.position }) {
                if messages[index].id == message.id { messages[index] = message } else { messages.insert(message, at: index + 1) }
            } else if messages.isEmpty {
                messages.append(message)
            }
        case .name(let user, let name):
            for index in messages.indices where messages[index].author.id == user { messages[index].author.username = name }
        case .block(let user, let isBlocked):
            for index in messages.indices where messages[index].author.id == user { messages[index].isFromBlockedUser = isBlocked }
        }
    }
}
