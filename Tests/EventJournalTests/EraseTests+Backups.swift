import Locking
import Primitives
import TestSupport
import Testing

@testable import EventJournal

/// Backups lose the content that the journal has lost.
extension EraseTests {
    @Test(arguments: 1...UInt64(Repetitions.few(2, of: 60)))
    func nextBackupReplacesErasedSegments(seed: UInt64) throws {
        let storage = MemoryStorage()
        var specimen = try MarkedJournal("journal", JournalOptions(storage: storage), seed: seed)
        var generator = SeededGenerator(seed)
        try specimen.journal.backup(to: "copy")
        #expect(try MarkedContent.numbers(in: "copy", on: storage) == specimen.contentNumbers(without: PositionSet()))
        var erased = PositionSet()
        for _ in 0..<3 {
            let before = try specimen.stored()
            let positions = generator.positions(through: specimen.journal.lastPosition)
            try specimen.journal.eraseContent(of: positions, orderedThrough: 1)
            erased.formUnion(positions)
            let after = try specimen.stored()
            let replaced = try specimen.segmentNames().filter { name in
                let first = Position(name.prefix(20)) ?? 0
                return after[first]?.generation != before[first]?.generation && before[first] != nil
            }
            let report = try specimen.journal.backup(to: "copy")
            #expect(report.rewrittenSegments == replaced && report.head == specimen.journal.head)
            #expect(try MarkedContent.numbers(in: "copy", on: storage) == specimen.contentNumbers(without: erased))
            let copy = try Journal.openReadOnly(
                "copy", options: JournalOptions(storage: storage, expectedHead: report.head))
            #expect(copy.recovery.wasClean)
            #expect(try copy.entries() == specimen.expected(without: erased))
            try copy.verify { Issue.record("\($0)") }
            for _ in 0..<Int.random(in: 0...5, using: &generator) { try specimen.append(3, &generator) }
            try specimen.journal.waitUntilDurable(specimen.journal.lastPosition)
            try specimen.journal.backup(to: "copy")
        }
    }

    /// A process that wrote a checkpoint of the copy was killed: the next backup removes the rest.
    @Test func backupRemovesTemporaryCheckpointOfCopy() throws {
        let storage = MemoryStorage()
        var specimen = try MarkedJournal("journal", JournalOptions(storage: storage), seed: 5)
        var generator = SeededGenerator(5)
        try specimen.journal.backup(to: "copy")
        _ = try storage.open("copy/built-in.checkpoint.tmp", .create)
        _ = try storage.open("copy/ledger.tmp", .create)
        try specimen.append(3, &generator)
        try specimen.journal.waitUntilDurable(specimen.journal.lastPosition)
        let report = try specimen.journal.backup(to: "copy")
        #expect(report.head == specimen.journal.head)
        #expect(try storage.list("copy").filter { $0.hasSuffix(".tmp") } == [])
    }

    /// Content is erased when the backup makes its nth change, for each n.
    @Test(arguments: [true, false]) func backupDuringErasureHasNoErasedContent(ofReader: Bool) throws {
        let base = MemoryStorage()
        var specimen = try MarkedJournal(
            "journal", JournalOptions(storage: base), seed: 41, commits: 8, segmentSize: 1_024)
        try specimen.journal.close()
        let some = PositionSet([2...3, specimen.all.upperBound - 6...specimen.all.upperBound - 1])
        let all = PositionSet([specimen.all])
        for positions in [some, all] {
            var number = 0
            var isOver = false
            while !isOver {
                number += 1
                specimen.options.storage = base.copy()
                let journal = try Journal.open("journal", options: specimen.options)
                let source = ofReader ? try Journal.openReadOnly("journal", options: specimen.options) : journal
                let copies = FaultyStorage(MemoryStorage())
                let left = Lock(number)
                copies.fail { call in
                    guard call.operation == .write || call.operation == .rename || call.operation == .sync else {
                        return nil
                    }
                    let isDue = left.withLock { left in
                        left -= 1
                        return left == 0
                    }
                    if isDue {
                        do { try journal.eraseContent(of: positions, orderedThrough: 1) } catch {
                            Issue.record("\(error)")
                        }
                    }
                    return nil
                }
                let report = try source.backup(to: "copy", on: copies)
                copies.fail(nil)
                isOver = left.withLock { $0 > 0 }
                let erased = isOver ? PositionSet() : positions
                #expect(
                    try MarkedContent.numbers(in: "copy", on: copies.base) == specimen.contentNumbers(without: erased),
                    "change \(number)")
                let copy = try Journal.openReadOnly(
                    "copy", options: JournalOptions(storage: copies.base, expectedHead: journal.head))
                #expect(copy.recovery.wasClean && report.head == journal.head)
                #expect(try copy.entries() == specimen.expected(without: erased))
                try copy.verify { Issue.record("\($0)") }
                let written = report.copiedSegments + report.rewrittenSegments
                #expect(Set(written).isDisjoint(with: report.skippedSegments))
                #expect(
                    Set(written + report.skippedSegments)
                        == Set(try copies.base.list("copy").filter { $0.hasSuffix(".segment") }))
            }
            #expect(number > 10)
        }
    }

    /// A reader opened before the erasure knows the former last segment, and nothing follows it.
    @Test func backupOfEarlierReaderHasNoErasedContent() throws {
        let specimen = try MarkedJournal("journal", JournalOptions(storage: MemoryStorage()), seed: 43)
        let reader = try Journal.openReadOnly("journal", options: specimen.options)
        let all = PositionSet([specimen.all])
        try specimen.journal.eraseContent(of: all, orderedThrough: 1)
        let copies = MemoryStorage()
        let report = try reader.backup(to: "copy", on: copies)
        #expect(report.head == specimen.journal.head)
        #expect(try MarkedContent.numbers(in: "copy", on: copies) == [])
        #expect(
            try Journal.openReadOnly("copy", options: JournalOptions(storage: copies)).entries()
                == specimen.expected(without: all))
    }
}
