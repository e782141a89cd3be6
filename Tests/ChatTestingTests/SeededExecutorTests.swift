import ChatTesting
import Dispatch
import Locking
import Testing

/// The seed alone determines the order of steps, and some seed finds a race between steps.
@Suite struct SeededExecutorTests {
    /// The order of (task, step) pairs as they ran: eight tasks of four steps each.
    private func steps(seed: UInt64) throws -> [[Int]] {
        try SeededExecutor(seed: seed).run {
            let steps = Notes<[Int]>()
            await withTaskGroup { tasks in
                for task in 0..<8 {
                    tasks.addTask {
                        for step in 0..<4 {
                            steps.add([task, step])
                            await Task.yield()
                        }
                    }
                }
            }
            return steps.all
        }
    }

    @Test func orderFollowsSeed() throws {
        let orders = try (1...20 as ClosedRange<UInt64>).map { try steps(seed: $0) }
        #expect(try (1...20 as ClosedRange<UInt64>).map { try steps(seed: $0) } == orders)
        #expect(Set(orders).count == 20)
        for order in orders {
            #expect(order.count == 32)
            for task in 0..<8 { #expect(order.filter { $0[0] == task }.map { $0[1] } == [0, 1, 2, 3]) }
        }
    }

    /// Reads a sum and writes it after an `await`, which loses concurrent additions.
    private func sum(seed: UInt64, isCareful: Bool) throws -> Int {
        let account = Account()
        return try SeededExecutor(seed: seed).run {
            await withTaskGroup { tasks in
                for _ in 0..<2 { tasks.addTask { await account.add(1, isCareful: isCareful) } }
            }
            return await account.sum
        }
    }

    @Test func raceIsFoundAndReplays() throws {
        let sums = try (1...50 as ClosedRange<UInt64>).map { try sum(seed: $0, isCareful: false) }
        // Only some seeds find the race: it needs an order in which the tasks interleave.
        #expect(Set(sums).isSuperset(of: [1, 2]))
        #expect(try (1...50 as ClosedRange<UInt64>).map { try sum(seed: $0, isCareful: false) } == sums)
        #expect(try (1...50 as ClosedRange<UInt64>).allSatisfy { try sum(seed: $0, isCareful: true) == 2 })
    }

    @Test func childTasksAndActorsStayOnExecutor() throws {
        let executor = SeededExecutor(seed: 1)
        let total = try executor.run {
            let account = Account()
            async let one: Void = account.add(1, isCareful: true)
            async let two: Void = elsewhere()
            _ = await (one, two)
            let unstructured = Task(executorPreference: executor) { await account.add(2, isCareful: true) }
            await unstructured.value
            let numbers = AsyncStream<Int> { numbers in
                numbers.yield(3)
                numbers.finish()
            }
            for await number in numbers { await account.add(number, isCareful: true) }
            return await account.sum
        }
        #expect(total == 6)
    }

    @Test func deadlockIsReported() {
        #expect(throws: SeededExecutor.ReproducibilityError.stalled) {
            try SeededExecutor(seed: 1).run {
                let (numbers, source) = AsyncStream<Int>.makeStream()
                for await _ in numbers {}
                source.finish()
            }
        }
    }

    @Test func externalJobIsReported() {
        #expect(throws: SeededExecutor.ReproducibilityError.enqueuedFromOutside) {
            try SeededExecutor(seed: 1).run {
                let (hasBegun, isOver) = (Notes<Bool>(), Notes<Bool>())
                let isWaiting = DispatchSemaphore(value: 0)
                await withTaskGroup { tasks in
                    tasks.addTask {
                        await withCheckedContinuation { (waiting: CheckedContinuation<Void, Never>) in
                            hasBegun.add(true)
                            DispatchQueue.global().async {
                                isWaiting.wait()
                                waiting.resume()
                                isOver.add(true)
                            }
                        }
                    }
                    tasks.addTask {
                        // Once this task runs again, the other one is suspended.
                        while hasBegun.all.isEmpty { await Task.yield() }
                        isWaiting.signal()
                        // Keeps a job ready at all times.
                        while isOver.all.isEmpty { await Task.yield() }
                    }
                }
            }
        }
    }

    @Test func sleepingTakesVirtualTimeOnly() throws {
        let executor = SeededExecutor(seed: 1)
        let order = Notes<Int>()
        try executor.run {
            await withThrowingTaskGroup { tasks in
                for hours in [3, 1, 2, 0] {
                    tasks.addTask {
                        try await executor.sleep(for: .seconds(hours * 3_600))
                        order.add(hours)
                    }
                }
            }
        }
        #expect(order.all == [0, 1, 2, 3])
        #expect(executor.now == .seconds(3 * 3_600))
    }

    @Test func sleepEndsWithItsTask() throws {
        let executor = SeededExecutor(seed: 1)
        try executor.run {
            let sleeping = Task(executorPreference: executor) { try await executor.sleep(for: .seconds(3_600)) }
            try await executor.sleep(for: .seconds(1))
            sleeping.cancel()
            await #expect(throws: CancellationError.self) { try await sleeping.value }
            await #expect(throws: CancellationError.self) { try await sleepOfCancelledTask(on: executor) }
        }
        #expect(executor.now == .seconds(1))
    }

    private func sleepOfCancelledTask(on executor: SeededExecutor) async throws {
        let cancelled = Task(executorPreference: executor) {
            while !Task.isCancelled { await Task.yield() }
            try await executor.sleep(for: .seconds(3_600))
        }
        cancelled.cancel()
        try await cancelled.value
    }

    @Test func errorOfRunIsRethrown() {
        #expect(throws: CancellationError.self) { try SeededExecutor(seed: 1).run { throw CancellationError() } }
    }

    #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
        @Test func runAfterErrorTraps() async {
            await #expect(processExitsWith: .failure) {
                let executor = SeededExecutor(seed: 1)
                _ = try? executor.run { throw CancellationError() }
                _ = try? executor.run {}
            }
        }
    #endif

    @Test func remainingJobsAreRun() throws {
        let notes = Notes<Int>()
        let executor = SeededExecutor(seed: 1)
        try executor.run {
            _ = Task(executorPreference: executor) {
                for step in 0..<50 {
                    notes.add(step)
                    await Task.yield()
                }
            }
        }
        #expect(notes.all == Array(0..<50))
    }
}

@concurrent private func elsewhere() async { await Task.yield() }

private final class Notes<Note: Sendable>: Sendable {
    private let notes = Lock<[Note]>([])

    var all: [Note] { notes.withLock { $0 } }

    func add(_ note: Note) { notes.withLock { $0.append(note) } }
}

private actor Account {
    private(set) var sum = 0

    func add(_ amount: Int, isCareful: Bool) async {
        if isCareful { await Task.yield() }
        let before = sum
        if !isCareful { await Task.yield() }
        sum = before + amount
    }
}
