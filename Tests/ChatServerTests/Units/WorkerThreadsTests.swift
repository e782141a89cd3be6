#if Server
    import ChatWire
    import Foundation
    import Locking
    import Testing

    @testable import ChatServer

    /// Threads for calls that block, with a bounded queue.
    @Suite struct WorkerThreadsTests {
        private struct Failure: Error {}

        @Test func resultsAndErrorsAreThoseOfTheCall() async throws {
            let threads = WorkerThreads("test", count: 2, limit: 10)
            #expect(try await threads.run { 1 + 1 } == 2)
            await #expect(throws: Failure.self) { try await threads.run { throw Failure() } }
            threads.stop()
        }

        @Test func queueIsBounded() async throws {
            let threads = WorkerThreads("test", count: 2, limit: 3)
            let gate = DispatchSemaphore(value: 0)
            let started = Box(0)
            var tasks: [Task<Int, any Error>] = []
            func begin(_ index: Int) -> Task<Int, any Error> {
                Task {
                    try await threads.run {
                        started.withLock { $0 += 1 }
                        gate.wait()
                        return index
                    }
                }
            }
            for index in 0..<2 { tasks.append(begin(index)) }
            while started.withLock({ $0 }) < 2 { await Task.yield() }
            for index in 2..<5 {
                tasks.append(begin(index))
                while threads.waitingCount < index - 1 { await Task.yield() }
            }
            await #expect(throws: Problem.busy) { try await threads.run { 0 } }
            #expect((started.withLock { $0 }, threads.waitingCount) == (2, 3))
            for _ in 0..<5 { gate.signal() }
            for (index, task) in tasks.enumerated() { #expect(try await task.value == index) }
            // There is room again.
            #expect(try await threads.run { 7 } == 7)
            threads.stop()
        }

        @Test func callsRunInTheirOrder() async throws {
            let threads = WorkerThreads("test", count: 1, limit: 1_000)
            let order = Box([Int]())
            let gate = DispatchSemaphore(value: 0)
            let first = Task { try await threads.run { gate.wait() } }
            for index in 0..<50 {
                Task { try await threads.run { order.withLock { $0.append(index) } } }
                while threads.waitingCount <= index { await Task.yield() }
            }
            gate.signal()
            try await first.value
            try await threads.run {}
            #expect(order.withLock { $0 } == Array(0..<50))
            threads.stop()
        }

        @Test func stopFinishesWhatWaitsAndRejectsTheRest() async throws {
            let threads = WorkerThreads("test", count: 1, limit: 10)
            let gate = DispatchSemaphore(value: 0)
            let first = Task { try await threads.run { gate.wait() } }
            let second = Task { try await threads.run { 2 } }
            while threads.waitingCount < 1 { await Task.yield() }
            threads.stop()
            await #expect(throws: Problem.busy) { try await threads.run { 0 } }
            gate.signal()
            try await first.value
            #expect(try await second.value == 2)
        }

        @Test func stoppedThreadsEnd() async throws {
            let owned = Box<WorkerThreads?>(WorkerThreads("test", count: 3, limit: 10))
            weak let threads = owned.withLock { $0 }
            try await owned.withLock { $0 }?.run {}
            owned.withLock { $0 }?.stop()
            owned.withLock { $0 = nil }
            for _ in 0..<10_000 where threads != nil { try await Task.sleep(for: .milliseconds(1)) }
            #expect(threads == nil)
        }

        @Test func manyCallsFromManyTasks() async throws {
            let threads = WorkerThreads("test", count: 2, limit: 100_000)
            let total = try await withThrowingTaskGroup(of: Int.self) { group in
                for index in 0..<2_000 { group.addTask { try await threads.run { index } } }
                return try await group.reduce(0, +)
            }
            #expect(total == 1_999 * 1_000)
            threads.stop()
        }
    }
#endif
