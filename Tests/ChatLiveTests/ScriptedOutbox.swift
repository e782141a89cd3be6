import ChatLive
import ChatValues
import Locking

/// A source of an outbox whose commands and changes a test gives.
final class ScriptedOutbox: LiveOutboxSource {
    private struct State {
        var items: [OutboxItem]
        var replaced: [(id: OutboxItem.ID, mentions: [UserID])] = []
        var withdrawn: [OutboxItem.ID] = []
    }

    private let state: Lock<State>
    private let limit: Int
    private let (effects, script) = AsyncStream<LiveEffect<OutboxChange>>.makeStream()

    init(_ items: [OutboxItem], limit: Int = 10) {
        state = Lock(State(items: items))
        self.limit = limit
    }

    var replaced: [(id: OutboxItem.ID, mentions: [UserID])] { state.withLock { $0.replaced } }
    var withdrawn: [OutboxItem.ID] { state.withLock { $0.withdrawn } }

    func set(_ items: [OutboxItem]) { state.withLock { $0.items = items } }

    func reload() { script.yield(.reload(.outdated)) }

    /// Changes the outbox, and tells of it.
    func change(_ change: OutboxChange) {
        state.withLock { state in
            let item = change.item
            state.items.removeAll { $0.id == item.id }
            switch change {
            case .queued, .sending, .rejected:
                state.items.append(item)
                state.items.sort { $0.id < $1.id }
            case .confirmed, .withdrawn: break
            }
        }
        script.yield(.change(change))
    }

    func load() -> LiveLoad<[OutboxItem], OutboxChange> {
        let found = items(after: 0)
        return LiveLoad(
            found.items, hasEarlier: found.hasMore, effects: Effects(iterator: effects.makeAsyncIterator()))
    }

    func items(after item: OutboxItem.ID) -> (items: [OutboxItem], hasMore: Bool) {
        let found = state.withLock { $0.items.filter { $0.id > item } }
        return (Array(found.prefix(limit)), found.count > limit)
    }

    func withdraw(_ item: OutboxItem.ID) { state.withLock { $0.withdrawn.append(item) } }

    func replace(_ item: OutboxItem.ID, by request: CommandRequest) {
        state.withLock { $0.replaced.append((item, request.command.mentions)) }
    }

    private struct Effects: LiveEffects {
        var iterator: AsyncStream<LiveEffect<OutboxChange>>.AsyncIterator

        mutating func next() async -> LiveEffect<OutboxChange>? { await iterator.next(isolation: #isolation) }
    }
}
