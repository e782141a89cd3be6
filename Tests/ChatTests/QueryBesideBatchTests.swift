import ChatDomain
import Dispatch
import Foundation
import Locking
import Testing

@testable import Chat

/// A query waits for one command of a batch, not for the group that is decided together.
@Suite struct QueryBesideBatchTests {
    /// Makes ids; with one of them it starts a query, which waits for the lock that the batch
    /// holds, and counts the ids made before the query has its answer.
    private final class SlowIDs: IDGenerator, Sendable {
        struct State {
            var query: (@Sendable () -> Void)?
            /// Waits until the query waits for the lock.
            var awaitQuery: (@Sendable () -> Void)?
            var count: UInt128 = 0
            var countBeforeAnswer: UInt128 = 0
        }
        let state = Lock(State())
        let answered = DispatchSemaphore(value: 0)

        func makeID(at time: Timestamp) -> UInt128 {
            let (count, query, awaitQuery) = state.withLock { state in
                state.count += 1
                return (state.count, state.query.take(), state.awaitQuery)
            }
            if let query {
                Thread.detachNewThread { [self] in
                    query()
                    state.withLock { $0.countBeforeAnswer = $0.count }
                    answered.signal()
                }
                awaitQuery?()
            } else if state.withLock({ $0.countBeforeAnswer == 0 && $0.awaitQuery != nil }) {
                // Time for the query to use the lock that the batch has just released.
                Thread.sleep(forTimeInterval: 0.05)
            }
            return count
        }
    }

    @Test func queryIsAnsweredBetweenTheCommandsOfABatch() throws {
        let ids = SlowIDs()
        let fixture = StoreFixture()
        var options = fixture.options
        options.ids = ids
        let store = try ChatStore.open(fixture.directory, options: options)
        let ann = UserID(bits: 1 << 64)
        try store.executeBlocking(.registerUser(id: ann, username: "ann"))
        let answer = Lock<Bool?>(nil)
        ids.state.withLock { state in
            state.query = {
                let found = try? store.isUser(ann)
                answer.withLock { $0 = found }
            }
            state.awaitQuery = {
                for _ in 0..<10_000 where !store.readSide.isAwaited { Thread.sleep(forTimeInterval: 0.001) }
            }
        }
        let requests = (0..<40).map { CommandRequest(.registerUser(id: nil, username: "user\($0)")) }
        for answer in try store.executeBlocking(requests) { _ = try answer.get() }
        ids.answered.wait()
        #expect(answer.withLock { $0 } == true)
        #expect(ids.state.withLock { $0.countBeforeAnswer } < 40, "the query waits for all commands")
        ids.state.withLock { ($0.query, $0.awaitQuery) = (nil, nil) }
    }
}
