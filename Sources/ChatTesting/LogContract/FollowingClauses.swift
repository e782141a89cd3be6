import EventJournal
import Locking

extension ClauseCheck {
    func checkFollowersMissNothing() async throws {
        let log = try fixture.open()
        let last: Position = 250
        try await withFollowers(8) { [self] follower in
            var random = SeededRandom(seed: SeededRandom.derivedSeed(seed, UInt64(follower)))
            // Followers start before the first record, between records, and possibly after the last
            // one.
            let delay = Duration.microseconds(Int.random(in: 0...30_000, using: &random) * (follower % 4))
            do { try await Task.sleep(for: delay) } catch { return }
            let start = Position.random(in: 0...min(last, log.durablePosition), using: &random)
            await follow(log, after: start, through: last)
        } while: {
            await runOnThreads(2) { [self] thread in
                do throws(JournalError) { try write(to: log, through: last, as: thread) } catch {
                    recordViolation("a writer failed: \(error)")
                }
            }
        }
        try log.close()
    }

    /// Follows a log from a position on, and checks every record up to another position.
    private func follow(_ log: any CommitLog, after start: Position, through last: Position) async {
        var seen = start
        do throws(JournalError) {
            while seen < last {
                let more = try await waitForRecords(of: log, after: seen)
                guard more > seen else { return }
                try checkRecords(of: log, seen + 1...more)
                seen = more
            }
        } catch {
            recordViolation("a follower from \(start) ended after \(seen): \(error)")
        }
    }

    /// Waits for more records and checks that they are durable.
    private func waitForRecords(of log: any CommitLog, after position: Position) async throws(JournalError) -> Position
    {
        let more = try await log.waitForRecords(after: position)
        let durable = log.durablePosition
        expect(more > position, "a wait for more than \(position) returned \(more)")
        expect(more <= durable, "a wait returned \(more), but only \(durable) is durable")
        return more
    }

    /// Returns the result of a wait for more records; cancels the wait after the timeout.
    func waitOutcomeWithTimeout(for log: any CommitLog, after position: Position) async throws -> Result<
        Position, JournalError
    > {
        let outcome = Lock<Result<Position, JournalError>?>(nil)
        try await withFollowers(1) { [self] _ in
            let found = await waitOutcome(of: log, after: position)
            outcome.withLock { $0 = found }
        } while: {
        }
        return outcome.withLock { $0 } ?? .failure(JournalError(.cancelled, "The wait was cancelled."))
    }

    private func waitOutcome(of log: any CommitLog, after position: Position) async -> Result<Position, JournalError> {
        do throws(JournalError) { return .success(try await waitForRecords(of: log, after: position)) } catch {
            return .failure(error)
        }
    }

    func checkOnlyDurableIsAnnounced() async throws {
        var random = SeededRandom(seed: seed)
        let log = try fixture.open()
        for _ in 0..<12 {
            let before = log.durablePosition
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                try append(Position.random(in: 1...3, using: &random), to: log)
            }
            let last = log.lastPosition
            try await withFollowers(1) { [self] _ in
                do throws(JournalError) { _ = try await waitForRecords(of: log, after: before) } catch {
                    recordViolation("a follower at \(before) ended: \(error)")
                }
            } while: {
                // Gives the log time to announce the records too early.
                try await Task.sleep(for: .milliseconds(3))
                try await log.waitUntilDurable(last)
            }
        }
        try log.close()
    }

    func checkCloseEndsOperations() async throws {
        let log = try fixture.open()
        try append(3, to: log)
        try await log.waitUntilDurable(3)
        let ended = Lock<[(seen: Position, error: JournalError)]>([])
        try await withFollowers(5) { [self] follower in
            var seen = Position(follower % 4)
            do throws(JournalError) {
                while true {
                    let more = try await waitForRecords(of: log, after: seen)
                    guard more > seen else { return }
                    seen = more
                }
            } catch {
                ended.withLock { $0.append((seen, error)) }
            }
        } while: {
            try await Task.sleep(for: .milliseconds(3))
            try append(1, to: log)
            try log.close()
        }
        for (seen, error) in ended.withLock({ $0 }) {
            expect(
                seen == 4 && error.code == .closed,
                "a follower of a log that was closed at 4 ended after \(seen): \(error)")
        }
        try log.close()
        expect(log.lastPosition == 4 && log.durablePosition == 4, "a close did not make the last commit durable")
        expect(log.failure == nil, "a log that was closed without an error says that it has stopped")
        expect(.closed, from: "a reservation after a close") { () throws(JournalError) in try log.reserve(100) }
        let draft = try draft(5...5)
        expect(.closed, from: "an append after a close") { () throws(JournalError) in
            _ = try log.append(draft, expecting: 4)
        }
        expect(.closed, from: "a read after a close") { () throws(JournalError) in
            try log.forEachRecord(in: 1...1) { _, _, _, _ in true }
        }
        let before = try await waitOutcomeWithTimeout(for: log, after: 1)
        expect(before == .success(4), "a wait after a close does not return the durable position")
        let after = try await waitOutcomeWithTimeout(for: log, after: 4)
        expect(after.failure?.code == .closed, "a wait for more after a close at 4 gave \(after)")
        let again = try fixture.open()
        try checkRecords(of: again, 1...4)
        try again.close()
    }

    func checkCancellingEndsOneFollower() async throws {
        let log = try fixture.open()
        try append(2, to: log)
        try await log.waitUntilDurable(2)
        let outcomes = Lock<[Int: Result<Position, JournalError>]>([:])
        try await withFollowers(3) { [self] follower in
            let wait = Task { await waitOutcome(of: log, after: 2) }
            // Follower 0 is cancelled during its wait, follower 1 before or near its start,
            // follower 2 never.
            if follower == 0 { do { try await Task.sleep(for: .milliseconds(3)) } catch { return } }
            if follower < 2 { wait.cancel() }
            let outcome = await withTaskCancellationHandler {
                await wait.value
            } onCancel: {
                wait.cancel()
            }
            outcomes.withLock { $0[follower] = outcome }
        } while: {
            try await Self.sleep(for: timeout) { outcomes.withLock { $0[0] != nil && $0[1] != nil } }
            try append(1, to: log)
            try await log.waitUntilDurable(3)
        }
        for follower in 0..<3 {
            let outcome = outcomes.withLock { $0[follower] }
            let isRight = follower < 2 ? outcome?.failure?.code == .cancelled : outcome == .success(3)
            expect(
                isRight,
                "follower \(follower), of which 0 and 1 were cancelled, ended with \(String(describing: outcome))")
        }
        try log.close()
    }
}

extension Result {
    /// The error, if this is a failure.
    var failure: Failure? {
        if case .failure(let failure) = self { return failure }
        return nil
    }
}
