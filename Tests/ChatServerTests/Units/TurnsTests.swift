#if Server
    import ChatDomain
    import ChatWire
    import Foundation
    import Locking
    import Testing

    @testable import ChatServer

    /// Turns of clients on few threads.
    @Suite(.timeLimit(.minutes(1))) struct TurnsTests {
        private func user(_ bits: UInt128) -> Client { .user(UserID(bits: bits)) }

        /// Adds a job of a client that waits for the gate.
        private func occupy(_ turns: Turns, _ client: Client, _ gate: DispatchSemaphore) async {
            let hasBegun = Box(false)
            Task(executorPreference: turns.executor(of: client)) {
                hasBegun.withLock { $0 = true }
                Self.wait(gate)
            }
            while !hasBegun.withLock({ $0 }) { await Task.yield() }
        }

        /// Blocks the thread, as a long query does.
        private static func wait(_ gate: DispatchSemaphore) { gate.wait() }

        @Test func clientWithManyJobsWaitsForOthers() async throws {
            let turns = Turns(threadCount: 2)
            let (gate, done) = (DispatchSemaphore(value: 0), Box([String]()))
            // One thread has a long job, so that the other one runs jobs one after another.
            await occupy(turns, user(9), gate)
            let first = DispatchSemaphore(value: 0)
            await occupy(turns, user(8), first)
            let jobs = [("a1", 1), ("a2", 1), ("a3", 1), ("b1", 2), ("c1", 3), ("b2", 2)]
            var tasks: [Task<Void, Never>] = []
            for (name, number) in jobs {
                tasks.append(
                    Task(executorPreference: turns.executor(of: user(UInt128(number)))) {
                        done.withLock { $0.append(name) }
                    })
            }
            first.signal()
            for task in tasks { await task.value }
            #expect(done.withLock { $0 } == ["a1", "b1", "c1", "a2", "b2", "a3"])
            gate.signal()
            turns.stop()
        }

        @Test func oneThreadRemainsForOthers() async throws {
            let turns = Turns(threadCount: 2)
            let gate = DispatchSemaphore(value: 0)
            await occupy(turns, user(1), gate)
            let second = Task(executorPreference: turns.executor(of: user(1))) { true }
            // The second job of the client waits for the first, although a thread is free.
            #expect(await Task(executorPreference: turns.executor(of: user(2))) { true }.value)
            gate.signal()
            #expect(await second.value)
            turns.stop()
        }

        @Test func everyJobRunsOnceAlsoAfterTheStop() async throws {
            let turns = Turns(threadCount: 3)
            let count = Box(0)
            await withTaskGroup(of: Void.self) { group in
                for index in 0..<2_000 {
                    group.addTask(executorPreference: turns.executor(of: user(UInt128(index % 7)))) {
                        for _ in 0..<3 {
                            count.withLock { $0 += 1 }
                            await Task.yield()
                        }
                    }
                    if index == 1_500 { turns.stop() }
                }
            }
            #expect(count.withLock { $0 } == 6_000)
            turns.stop()
        }
    }

    /// What each user has used.
    @Suite struct UsedLimitsTests {
        private let ann = UserID(bits: 1)
        private let now = ContinuousClock.now

        private func limits(_ name: UserLimits.Name, _ number: Int) -> UsedLimits {
            var limits = UserLimits()
            limits[name] = number
            return UsedLimits(limits)
        }

        private func problem(_ used: UsedLimits, _ number: Int, of name: UserLimits.Name, after time: Duration = .zero)
            -> Problem?
        {
            do throws(Problem) { try used.use([(name, number)], by: ann, at: now + time) } catch { return error }
            return nil
        }

        @Test func unusedIsSavedForAWhile() throws {
            let used = limits(.commands, 10)
            // 20 are saved.
            #expect(problem(used, 19, of: .commands) == nil)
            let refused = problem(used, 11, of: .commands)
            #expect((refused?.status, refused?.code, refused?.retryAfter) == (429, .tooManyRequests, 1))
            // What is refused uses nothing.
            #expect(problem(used, 1, of: .commands) == nil)
            #expect(problem(used, 1, of: .commands)?.status == 429)
            #expect(used.refusedCounts == [.commands: 2])
            try used.use([(.commands, 1)], by: UserID(bits: 2), at: now)
            #expect(problem(used, 1, of: .threads) == nil)
            #expect(problem(used, 1, of: .commands, after: .milliseconds(99))?.status == 429)
            #expect(problem(used, 1, of: .commands, after: .milliseconds(101)) == nil)
            // After a long time there is no more than was saved.
            #expect(problem(used, 20, of: .commands, after: .seconds(100)) == nil)
            #expect(problem(used, 1, of: .commands, after: .seconds(100))?.status == 429)
        }

        /// A batch that the allowance never has is told so, and not to come again.
        @Test func largeBatchIsNeverAllowed() {
            let used = limits(.commands, 10)
            let refused = problem(used, 21, of: .commands)
            #expect((refused?.status, refused?.code, refused?.retryAfter) == (413, .tooLarge, nil))
            #expect(problem(used, 20, of: .commands) == nil)
        }

        @Test func refusedPartUsesNothingOfOthers() throws {
            let used = limits(.threads, 1)
            try used.use([(.threads, 100), (.commands, 100)], by: ann, at: now)
            #expect(throws: Problem.self) { try used.use([(.commands, 100), (.threads, 1)], by: ann, at: now) }
            #expect(problem(used, 19_900, of: .commands) == nil)
        }

        @Test func queriesAreChargedAfterwards() throws {
            let used = limits(.queries, 100)
            for _ in 0..<2 {
                try used.requireQueries(by: ann, at: now)
                used.charge(.milliseconds(501), to: ann, at: now)
            }
            let problem = #expect(throws: Problem.self) { try used.requireQueries(by: ann, at: now) }
            #expect(problem?.status == 429 && problem?.retryAfter == 1)
            try used.requireQueries(by: UserID(bits: 2), at: now)
            try used.requireQueries(by: ann, at: now + .milliseconds(30))
        }

        /// A query that has waited for a database costs no more than a long one.
        @Test func anOutageIsNotCharged() throws {
            let used = limits(.queries, 1_000)
            for _ in 0..<9 { used.charge(.seconds(45), to: ann, at: now) }
            try used.requireQueries(by: ann, at: now)
        }

        @Test func streamsAreCounted() throws {
            let used = limits(.streams, 2)
            try used.requireStream(beside: 1)
            #expect(throws: Problem.self) { try used.requireStream(beside: 2) }
        }

        /// The memory is bounded: allowances that are full are forgotten.
        @Test func fullAllowancesAreForgotten() throws {
            let used = limits(.commands, 1_000)
            for bits in 0..<40_000 {
                try used.use([(.commands, 1)], by: UserID(bits: UInt128(bits)), at: now + .milliseconds(bits))
            }
            #expect(used.allowanceCount <= 16_384)
        }
    }

    /// Streams of a user that hold events.
    @Suite(.timeLimit(.minutes(1))) struct ReadingSlotsTests {
        @Test func streamsTakeTurns() async throws {
            let slots = ReadingSlots(ClientMemory())
            let (ann, bob) = (UserSlots(slots, UserID(bits: 1)), UserSlots(slots, UserID(bits: 2)))
            for _ in 0..<ReadingSlots.count { #expect(await ann.take()) }
            let order = Box([Int]())
            var tasks: [Task<Bool, Never>] = []
            for index in 0..<3 {
                tasks.append(
                    Task {
                        let isTaken = await ann.take()
                        if isTaken { order.withLock { $0.append(index) } }
                        return isTaken
                    })
                while slots.waitingCount < index + 1 { await Task.yield() }
            }
            #expect(await bob.take())
            tasks[1].cancel()
            #expect(await !tasks[1].value && order.withLock { $0.isEmpty })
            ann.giveBack()
            #expect(await tasks[0].value)
            #expect(order.withLock { $0 } == [0])
            ann.giveBack()
            #expect(await tasks[2].value)
            for _ in 0..<ReadingSlots.count { ann.giveBack() }
            for _ in 0..<ReadingSlots.count { #expect(await ann.take()) }
        }

        /// Events are memory of their user: without any, a stream waits until some is given back.
        @Test func streamWithoutMemoryWaits() async {
            var budget = ClientBudget()
            (budget.userMaximum, budget.userMinimum) = (2 * ServerMemory.batch, ServerMemory.batch)
            let memory = ClientMemory(budget)
            let slots = UserSlots(ReadingSlots(memory), UserID(bits: 1))
            for _ in 0..<2 { #expect(await slots.take()) }
            #expect(memory.byteCount == 2 * ServerMemory.batch)
            let (waiting, cancelled) = (Task { await slots.take() }, Task { await slots.take() })
            cancelled.cancel()
            #expect(await !cancelled.value)
            slots.giveBack()
            #expect(await waiting.value)
            for _ in 0..<2 { slots.giveBack() }
            #expect(memory.byteCount == 0)
        }

        @Test func cancelledTaskTakesNone() async {
            let slots = UserSlots(ReadingSlots(ClientMemory()), UserID(bits: 1))
            let task = Task {
                unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
                return await slots.take()
            }
            #expect(await !task.value)
            for _ in 0..<ReadingSlots.count { #expect(await slots.take()) }
        }
    }
#endif
