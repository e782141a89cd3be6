import ChatDomain
import ChatValues
public import Observation

/// The commands that a user has written and the server does not have yet, or has rejected, kept
/// current for a screen while ``follow()`` runs.
///
/// They are in the order of sending. One that is confirmed or withdrawn is gone. The outbox of a
/// store stays empty: a store executes a command at once.
///
/// What the user has written about a post is changed by `UserChat.edit(_:body:mentions:)` and
/// `UserChat.retract(_:)`, wherever the post is.
@MainActor @Observable public final class LiveOutbox: LiveView {
    /// The loading state and the commands, in the order of sending.
    public internal(set) var state = LoadState<[OutboxItem]>.loading
    /// Whether more commands wait or were rejected after ``items``.
    public private(set) var hasMore = false

    /// Called when the outbox was loaded: changes before that can have been missed.
    @ObservationIgnored package var onLoad: @MainActor () -> Void = {}
    /// Called with each change since then, in the order of the changes of each command.
    ///
    /// The first ones can have happened before the load.
    @ObservationIgnored package var onChange: @MainActor (OutboxChange) -> Void = { _ in }

    @ObservationIgnored var followCount: UInt64 = 0
    @ObservationIgnored private let source: any LiveOutboxSource
    /// The maximum number of commands.
    @ObservationIgnored private let limit: Int

    package init(source: any LiveOutboxSource, limit: Int) { (self.source, self.limit) = (source, max(1, limit)) }

    /// The commands to display, in the order of sending.
    public var items: [OutboxItem] { state.value ?? [] }
    /// Those that wait.
    public var pending: [OutboxItem] { items.filter { $0.state == .queued } }
    /// Those that were rejected: each stays until it is withdrawn or sent again.
    public var rejected: [OutboxItem] { items.filter { $0.state != .queued } }

    /// Reads the outbox and keeps it current until the task is cancelled or the client is closed.
    ///
    /// Also returns after an error, which ``state`` then reports. Can be called again.
    public func follow() async { await followSource() }

    /// Sends a rejected command again, and what was stopped with it.
    ///
    /// If somebody was no member, nobody is mentioned: one of them may have left the thread.
    ///
    /// - Throws: A ``ChatFailure``, for example if the command is no longer in the outbox.
    public func sendAgain(_ item: OutboxItem) throws {
        var request = item.request
        if item.rejection?.code == .notAMember { request.command.mentions = [] }
        try source.replace(item.id, by: request)
    }

    /// Takes a command back that was never sent, or was rejected.
    ///
    /// - Throws: A ``ChatFailure``, for example if the command was sent meanwhile.
    public func withdraw(_ item: OutboxItem) throws { try source.withdraw(item.id) }

    func load() async throws(LiveFailure) -> LiveLoad<[OutboxItem], OutboxChange> { try await source.load() }

    func didLoad(hasEarlier: Bool) {
        hasMore = hasEarlier
        onLoad()
    }

    func didApply(_ change: OutboxChange) { onChange(change) }

    func apply(_ change: OutboxChange, to items: inout [OutboxItem]) {
        let item = change.item
        let index = items.firstIndex { $0.id >= item.id } ?? items.count
        let isListed = index < items.count && items[index].id == item.id
        switch change {
        case .confirmed, .withdrawn: if isListed { items.remove(at: index) }
        case .queued, .sending, .rejected:
            if isListed { return items[index] = item }
            // What comes after the listed ones is read when there is room for it.
            guard index < items.count || !hasMore else { return }
            items.insert(item, at: index)
            if items.count > limit {
                items.removeLast()
                hasMore = true
            }
        }
    }

    func refill() async throws(LiveFailure) {
        guard hasMore, case .loaded(let items) = state, items.count < max(1, limit / 2) else { return }
        let more = try await source.items(after: items.last?.id ?? 0)
        state = .loaded(items + more.items.prefix(limit - items.count))
        hasMore = more.hasMore || more.items.count > limit - items.count
    }
}

/// The outbox of a chat.
package protocol LiveOutboxSource: LiveSource where Value == [OutboxItem], Change == OutboxChange {
    /// Returns the commands after one, in the order of sending, and whether others follow them.
    func items(after item: OutboxItem.ID) async throws(LiveFailure) -> (items: [OutboxItem], hasMore: Bool)
    /// Takes a command back that was never sent, or was rejected.
    func withdraw(_ item: OutboxItem.ID) throws
    /// Replaces a command that was never sent, or was rejected, and has it sent.
    func replace(_ item: OutboxItem.ID, by request: CommandRequest) throws
}

/// The outbox of a chat that has none.
struct NoOutbox: LiveOutboxSource {
    func load() -> LiveLoad<[OutboxItem], OutboxChange> {
        let (changes, continuation) = AsyncStream<OutboxChange>.makeStream()
        return LiveLoad([], effects: Effects(changes: changes.makeAsyncIterator(), continuation: continuation))
    }

    func items(after item: OutboxItem.ID) -> (items: [OutboxItem], hasMore: Bool) { ([], false) }
    func withdraw(_ item: OutboxItem.ID) {}
    func replace(_ item: OutboxItem.ID, by request: CommandRequest) {}

    /// No change ever comes; the stream ends with its task.
    private struct Effects: LiveEffects {
        var changes: AsyncStream<OutboxChange>.AsyncIterator
        let continuation: AsyncStream<OutboxChange>.Continuation

        mutating func next() async -> LiveEffect<OutboxChange>? {
            await changes.next(isolation: #isolation).map(LiveEffect.change)
        }
    }
}
