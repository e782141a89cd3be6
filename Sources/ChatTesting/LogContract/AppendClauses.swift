import EventJournal
import Locking

extension ClauseCheck {
    func checkPositionsHaveNoGap() throws {
        var random = SeededRandom(seed: seed)
        var log = try fixture.open()
        let id = log.id
        expect(log.lastPosition == 0 && log.durablePosition == 0 && log.head.position == 0, "a new log is not empty")
        expect(!log.isReadOnly, "a new log is read-only")
        for round in 0..<40 {
            let positions = try append(Position.random(in: 1...6, using: &random), to: log)
            if random.oneIn(3) {
                try log.waitUntilDurable(positions.upperBound)
                expect(
                    log.durablePosition >= positions.upperBound,
                    "a wait until \(positions.upperBound) is durable returned too early")
            }
            let first = Position.random(in: 1...positions.upperBound, using: &random)
            try checkRecords(of: log, first...positions.upperBound)
            if round % 10 == 9 {
                try log.close()
                log = try fixture.open()
                expect(log.id == id, "the log has a different id after reopening")
                expect(
                    log.lastPosition == positions.upperBound && log.durablePosition == positions.upperBound,
                    "a log closed at \(positions.upperBound) reopens at \(log.lastPosition), durable up to \(log.durablePosition)"
                )
            }
        }
        let last = log.lastPosition
        try checkRecords(of: log, 1...last)
        var count = 0
        try log.forEachRecord(in: 1...last) { _, _, _, _ in
            count += 1
            return count < 3
        }
        expect(count == 3, "a read that should stop after 3 records delivered \(count)")
        try log.close()
    }

    func checkOneAppendWins() async throws {
        let log = try fixture.open()
        var random = SeededRandom(seed: seed)
        for _ in 0..<60 {
            let head = log.lastPosition
            let count = Position.random(in: 1...3, using: &random)
            let won = Lock<[(writer: UInt64, positions: ClosedRange<Position>)]>([])
            await runOnThreads(4) { [self] thread in
                let writer = UInt64(thread) + 1
                do throws(JournalError) {
                    let positions = try log.append(try draft(head + 1...head + count, by: writer), expecting: head)
                    won.withLock { $0.append((writer, positions)) }
                } catch {
                    expect(error.code == .conflict, "an append that lost a race throws \(error)")
                }
            }
            let winners = won.withLock { $0 }
            expect(winners.count == 1, "\(winners.count) of 4 appends at the head \(head) took effect")
            guard winners.count == 1, let winner = winners.first else { return }
            expect(
                winner.positions == head + 1...head + count,
                "\(count) records at the head \(head) got \(winner.positions)")
            expect(
                log.lastPosition == head + count,
                "the last position is \(log.lastPosition) after an append up to \(head + count)")
            try log.forEachRecord(in: winner.positions) { position, _, kept, erasable in
                expect(
                    ContractRecord(kept: kept, erasable: erasable) == record(at: position, by: winner.writer),
                    "the record at \(position) is not from the append that took effect")
                return true
            }
        }
        try log.close()
    }

    func checkWrongHeadsAreRejected() throws {
        let log = try fixture.open()
        for _ in 0..<5 {
            let last = log.lastPosition
            for head in [last + 1, last + 7, .max] + (last > 0 ? [last - 1, 0] : []) {
                let draft = try draft(last + 1...last + 3)
                expect(.conflict, from: "an append at the head \(head) of a log that ends at \(last)") {
                    () throws(JournalError) in
                    _ = try log.append(draft, expecting: head)
                }
            }
            expect(
                log.lastPosition == last,
                "a rejected append moved the last position from \(last) to \(log.lastPosition)")
            try append(2, to: log)
        }
        try checkRecords(of: log, 1...log.lastPosition)
        try log.close()
    }

    func checkEmptyDraftIsRejected() throws {
        let log = try fixture.open()
        for _ in 0..<2 {
            let head = log.head
            expect(.tooLarge, from: "an empty draft") { () throws(JournalError) in
                _ = try log.append(CommitDraft(), expecting: log.lastPosition)
            }
            expect(log.head == head && log.lastPosition == head.position, "an empty draft changed the log")
            let positions = try append(1, to: log)
            try log.waitUntilDurable(positions.upperBound)
        }
        try log.close()
    }

    func checkHeadIsUnique() throws {
        var random = SeededRandom(seed: seed)
        var log = try fixture.open()
        var heads: Set<JournalHead> = [log.head]
        for round in 1...20 {
            let positions = try append(Position.random(in: 1...3, using: &random), to: log)
            try log.waitUntilDurable(positions.upperBound)
            let head = log.head
            expect(
                head.position == positions.upperBound,
                "the head is at \(head.position), \(positions.upperBound) is durable")
            expect(head.journal == log.id, "the head names another log")
            heads.insert(head)
            expect(Set(heads.map(\.chain)).count == round + 1, "the chain value equals that of an earlier commit")
            if round % 7 == 0 {
                try log.close()
                log = try fixture.open()
                expect(log.head == head, "the head \(head) is \(log.head) after reopening")
            }
        }
        try log.close()
    }
}
