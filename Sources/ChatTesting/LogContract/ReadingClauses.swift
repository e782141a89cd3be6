import EventJournal
import Locking

/// The observations of threads that write to a log and read from it.
private struct Observations {
    /// The end positions of commits, and 0.
    var commitEnds: Set<Position> = [0]
    /// Every durable position that a thread observed.
    var durable: Set<Position> = []
    var activeWriters: Int
}

extension ClauseCheck {
    func checkCommitsAreAtomic() async throws {
        let log = try fixture.open()
        let seen = await observe(log, through: 250, reads: false)
        expect(
            seen.durable.isSubset(of: seen.commitEnds),
            "durable positions inside a commit: \(seen.durable.subtracting(seen.commitEnds).sorted())")
        let last = log.lastPosition
        expect(last >= 250, "the writers ended at \(last), expected at least 250")
        try log.close()
        let again = try fixture.open()
        expect(again.lastPosition == last, "a log closed at \(last) reopens at \(again.lastPosition)")
        try checkRecords(of: again, 1...last)
        try again.close()
    }

    func checkReadersSeeOneOrder() async throws {
        let log = try fixture.open()
        _ = await observe(log, through: 250, reads: true)
        try checkRecords(of: log, 1...log.lastPosition)
        try log.close()
    }

    /// Writes on two threads and observes on two others, until the log reaches a position.
    private func observe(_ log: any CommitLog, through last: Position, reads: Bool) async -> Observations {
        let seen = Lock(Observations(activeWriters: 2))
        await runOnThreads(4) { [self] thread in
            do throws(JournalError) {
                if thread < 2 {
                    defer { seen.withLock { $0.activeWriters -= 1 } }
                    try write(to: log, through: last, as: thread) { end in
                        _ = seen.withLock { $0.commitEnds.insert(end) }
                    }
                } else {
                    var random = SeededRandom(seed: SeededRandom.derivedSeed(seed, UInt64(thread)))
                    var before: Position = 0
                    while seen.withLock({ $0.activeWriters > 0 }) {
                        let durable = random.oneIn(3) ? log.head.position : log.durablePosition
                        let end = log.lastPosition
                        expect(durable >= before, "the durable position went from \(before) back to \(durable)")
                        expect(durable <= end, "the durable position \(durable) is beyond the last one, \(end)")
                        before = durable
                        _ = seen.withLock { $0.durable.insert(durable) }
                        if reads, durable > 0 {
                            try checkRecords(of: log, Position.random(in: 1...durable, using: &random)...durable)
                        }
                    }
                }
            } catch {
                recordViolation("thread \(thread) failed: \(error)")
            }
        }
        return seen.withLock { $0 }
    }

    /// Appends commits of random length until the log reaches a position.
    ///
    /// Waits for the durability of some commits and of the last one.
    func write(
        to log: any CommitLog, through last: Position, as writer: Int, _ appended: (_ end: Position) -> Void = { _ in }
    ) throws(JournalError) {
        var random = SeededRandom(seed: SeededRandom.derivedSeed(seed, UInt64(writer), last))
        while true {
            let head = log.lastPosition
            if head >= last { break }
            let draft = try draft(head + 1...head + Position.random(in: 1...5, using: &random))
            do throws(JournalError) {
                let positions = try log.append(draft, expecting: head)
                appended(positions.upperBound)
                if random.oneIn(3) { try log.waitUntilDurable(positions.upperBound) }
            } catch {
                guard error.code == .conflict else { throw error }
            }
        }
        try log.waitUntilDurable(log.lastPosition)
    }

    func checkPositionsAreBounded() async throws {
        let log = try fixture.open()
        try append(3, to: log)
        try await log.waitUntilDurable(3)
        for positions in [0...2, 3...4, 4...4, 9...10, 1...Position.max] as [ClosedRange<Position>] {
            expect(.outOfRange, from: "reading \(positions) of a log that ends at 3") { () throws(JournalError) in
                try log.forEachRecord(in: positions) { position, _, _, _ in
                    recordViolation("reading \(positions) of a log that ends at 3 delivers \(position)")
                    return true
                }
            }
        }
        for positions in [[0], [1, 4], [2, 1], [1, 3, 3, 2], [.max]] as [[Position]] {
            expect(.outOfRange, from: "reading at \(positions) of a log that ends at 3") { () throws(JournalError) in
                try log.forEachRecord(at: positions) { position, _, _, _ in
                    recordViolation("reading at \(positions) of a log that ends at 3 delivers \(position)")
                    return true
                }
            }
        }
        expect(.outOfRange, from: "blocking until 4 is durable in a log that ends at 3") { () throws(JournalError) in
            try log.waitUntilDurable(4)
        }
        let outcome = try await waitOutcomeWithTimeout(for: log, after: 4)
        expect(outcome.failure?.code == .outOfRange, "waiting for more after 4 in a log that ends at 3 gave \(outcome)")
        try await log.waitUntilDurable(0)
        try log.close()
    }

    func checkDamageIsAnError() throws {
        guard let damage = fixture.damage else { return }
        var random = SeededRandom(seed: seed)
        let log = try fixture.open()
        var commits: [ClosedRange<Position>] = []
        for _ in 0..<12 { commits.append(try append(Position.random(in: 1...4, using: &random), to: log)) }
        let last = log.lastPosition
        try log.waitUntilDurable(last)
        let target = Position.random(in: 1...last, using: &random)
        try damage(Array(record(at: target).kept.suffix(16)))

        expect(.damaged, from: "reading the damaged record at \(target)") { () throws(JournalError) in
            try checkRecords(of: log, target...target)
        }
        var delivered: Position = 0
        expect(.damaged, from: "reading past the damaged record at \(target)") { () throws(JournalError) in
            try log.forEachRecord(in: 1...last) { position, _, kept, erasable in
                expect(
                    position == delivered + 1 && ContractRecord(kept: kept, erasable: erasable) == record(at: position),
                    "the record at \(position) is delivered after \(delivered), or not as it was appended")
                delivered = position
                return true
            }
        }
        expect(delivered < target, "the damaged record at \(target) is delivered")
        // A log may checksum whole commits, so other records of the damaged commit may be
        // unreadable too. All other commits must be readable.
        for commit in commits where !commit.contains(target) { try checkRecords(of: log, commit) }
        try log.close()
        guard let again = try? fixture.open() else { return }
        expect(.damaged, from: "reading the damaged record at \(target) after reopening") { () throws(JournalError) in
            try checkRecords(of: again, target...target)
        }
        try again.close()
    }
}
