import ChatDomain
import Dispatch
import Foundation
import Locking
import Testing

@testable import Chat

/// A query waits for one command of a batch, not for the group that is decided together.
@Suite struct QueryBesideBatchTests {
    /// Makes ids; from the second one on, it gives a query that runs meanwhile the time to wait, and
    /// counts the ids made before the query has its answer.
    private final class SlowIDs: IDGenerator, Sendable {
        struct State {
            var query: (@Sendable () -> Void)?
            var count: UInt128 = 0
            var countBeforeAnswer: UInt128 = 0
        }
        let state = Lock(State())
        let answered = DispatchSemaphore(value: 0)

        func makeID(at time: Timestamp) -> UInt128 {
            let (count, query) = state.withLock { state in
                state.count += 1
                return (state.count, state.query.take())
            }
            if let query {
                Thread.detachNewThread { [self] in
                    query()
                    state.withLock { $0.countBeforeAnswer = $0.count }
                    answered.signal()
                }
            }
            if state.withLock({ $0.countBeforeAnswer }) == 0 { Thread.sleep(forTimeInterval: 0.05) }
            return count
        }
    }

    @Test func queryIsAnsweredBetweenTheCommandsOfABatch() throws {
        let ids = SlowIDs()
        let fixture = StoreFixture()
        var options = fixture.options
        options.ids = ids
        let store = try ChatStore.open(fixture.directory, options: options)
        try store.executeBlocking(.registerUser(user: UserID(bits: 1 << 64), username: "ann"))
        ids.state.withLock { $0.query = { _ = try? store.isUser(UserID(bits: 1 << 64)) } }
        let requests = (0..<40).map { CommandRequest(.registerUser(user: nil, username: "user\($0)")) }
        for answer in try store.executeBlocking(requests) { _ = try answer.get() }
        ids.answered.wait()
        #expect(ids.state.withLock { $0.countBeforeAnswer } < 40, "the query waits for all commands")
    }
}
