import Locking
import Testing

@testable import EventJournal

@Suite struct SyncQueueTests {
    /// A queue with a task for each position, and the positions of the tasks that ended.
    private final class Fixture: Sendable {
        let queue = Lock(SyncQueue())
        let durable = Lock<[Position]>([])
        let failed = Lock<[Position]>([])

        var count: Int { queue.withLock { $0.count } }

        func wait(for position: Position) async {
            let result = await withCheckedContinuation { (task: WaitQueue.Continuation) in
                queue.withLock { $0.join(position, task) }
            }
            switch result {
            case .success: durable.withLock { $0.append(position) }
            case .failure: failed.withLock { $0.append(position) }
            }
        }
    }

    /// A sync can cover less than all records of its beginning: a transaction has a maximum size.
    @Test func syncOfSomeRecordsWakesTheirTasksOnly() async {
        let fixture = Fixture()
        await withTaskGroup(of: Void.self) { group in
            for position in 1...6 as ClosedRange<Position> { group.addTask { await fixture.wait(for: position) } }
            while fixture.count < 6 { await Task.yield() }
            for end in [2, 4, 5, 6] as [Position] {
                fixture.queue.withLock { $0.begin(through: end) }
                let wakeups = fixture.queue.withLock { $0.end(synced: end, failure: nil) }
                wakeups.deliver()
                #expect(fixture.count == 6 - Int(end))
                #expect(fixture.queue.withLock { $0.hasUncoveredWaiters } == (end < 6))
                // A test that fails must end too.
                guard fixture.count == 6 - Int(end) else {
                    return fixture.queue.withLock { $0.end(synced: end, failure: JournalError(.syncFailed, "no sync")) }
                        .deliver()
                }
                while fixture.durable.withLock({ $0.count }) < Int(end) { await Task.yield() }
                #expect(fixture.durable.withLock { $0.sorted() } == Array(1...end))
            }
        }
        #expect(fixture.failed.withLock { $0 } == [])
    }

    /// Positions that are durable before the failure are durable.
    @Test func failureEndsEveryWait() async {
        let fixture = Fixture()
        await withTaskGroup(of: Void.self) { group in
            for position in 1...4 as ClosedRange<Position> { group.addTask { await fixture.wait(for: position) } }
            while fixture.count < 4 { await Task.yield() }
            fixture.queue.withLock { $0.begin(through: 4) }
            let late = fixture.queue.withLock { $0.joinThread(5) }
            fixture.queue.withLock { $0.end(synced: 1, failure: JournalError(.syncFailed, "no sync")) }.deliver()
            #expect(fixture.count == 0)
            #expect(late.wait())
        }
        #expect(fixture.durable.withLock { $0 } == [1])
        #expect(fixture.failed.withLock { $0.sorted() } == [2, 3, 4])
    }
}
