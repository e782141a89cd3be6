import Primitives
import Testing

@testable import EventJournal

/// Reads of selected positions equal single reads of each position.
@Suite struct PositionReadingTests {
    /// A journal of several segments.
    ///
    /// Records reach several times the spacing of the index; commits have 1 to 12 records.
    private func journal(_ generator: inout SeededGenerator, _ storage: any JournalStorage) throws -> (Journal, [Entry])
    {
        let journal = try Journal.open("journal", options: JournalOptions(segmentSize: 100_000, storage: storage))
        var model: [Entry] = []
        for _ in 0..<300 {
            let entries = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                let long = Int.random(in: 0..<40, using: &generator) == 0
                return generator.entry(kept: 40, erasable: long ? 20_000 : 200)
            }
            try journal.append(entries)
            model += entries
        }
        return (journal, model)
    }

    private func entries(_ journal: Journal, at positions: [Position]) throws(JournalError) -> [Entry] {
        var next = 0
        var entries: [Entry] = []
        try journal.forEachRecord(at: positions) { position, state, kept, erasable in
            #expect(position == positions[next])
            next += 1
            entries.append(Entry(kept: kept.toArray(), erasable: erasable.toArray(), state: state))
            return true
        }
        return entries
    }

    @Test(arguments: 0..<4) func ascendingPositionsEqualArray(_ round: Int) throws {
        var generator = SeededGenerator()
        let (journal, model) = try journal(&generator, MemoryStorage())
        let seed = generator.seed
        #expect(try entries(journal, at: []) == [])
        for share in [1, 2, 5, 20, 400] {
            var positions: [Position] = []
            for position in 1...model.count where Int.random(in: 0..<share, using: &generator) == 0 {
                // Some positions occur twice.
                positions.append(Position(position))
                if Int.random(in: 0..<50, using: &generator) == 0 { positions.append(Position(position)) }
            }
            #expect(
                try entries(journal, at: positions) == positions.map { model[Int($0) - 1] }, "CHATJOURNAL_SEED=\(seed)")
        }
    }

    @Test func bodyStopsReading() throws {
        var generator = SeededGenerator(2)
        let (journal, model) = try journal(&generator, MemoryStorage())
        let positions = (1...Position(model.count)).filter { $0 % 3 == 0 }
        for most in [1, 2, 255, 256, 257, 400] {
            var given: [Position] = []
            try journal.forEachRecord(at: positions) { position, _, _, _ in
                given.append(position)
                return given.count < most
            }
            #expect(given == Array(positions.prefix(most)))
        }
    }

    @Test func missingPositionThrowsBeforeDelivery() throws {
        var generator = SeededGenerator(3)
        let (journal, model) = try journal(&generator, MemoryStorage())
        for positions in [[0, 1], [1, Position(model.count) + 1], [.max], [2, 1], [1, 3, 3, 2]] {
            let error = journalError {
                try journal.forEachRecord(at: positions) { position, _, _, _ in
                    Issue.record("\(position) of \(positions)")
                    return true
                }
            }
            #expect(error?.code == .outOfRange)
        }
        try journal.close()
        #expect(journalError { try journal.forEachRecord(at: [1]) { _, _, _, _ in true } }?.code == .closed)
    }

    /// An index can be damaged: for any numbers in it, the estimate lies between the entry and the
    /// bound.
    @Test func estimateStaysWithinBounds() throws {
        var index = SparseIndex()
        index.addEntry(0, at: 128, recordsLeft: 0)
        index.addEntry(UInt64(UInt32.max), at: UInt64(UInt32.max) - 1, recordsLeft: 1)
        for last in [0, 1, 1 << 31, 1 << 32 - 1, 1 << 40, 1 << 62, .max - 1] as [UInt64] {
            for end in [last + 1, .max] {
                var hint = 0
                let found = try #require(index.findReadExtent(last, last, end: (end, UInt64(UInt32.max)), from: &hint))
                #expect(UInt64(found.start.offset) < found.estimate && found.estimate <= found.bound)
            }
        }
    }

    /// A search from the last found record finds the same as a search from the start.
    @Test func resumedSearchEqualsFullSearch() throws {
        var generator = SeededGenerator(6)
        var index = SparseIndex()
        var (position, offset) = (0 as UInt64, UInt64(SegmentHeader.size))
        var firsts: [UInt64] = []
        for _ in 0..<500 {
            index.addEntry(position, at: offset, recordsLeft: 0)
            firsts.append(position)
            position += UInt64.random(in: 1...60, using: &generator)
            offset += UInt64.random(in: 4_096...9_000, using: &generator)
        }
        let end = (relativePosition: position, offset: offset)
        for most in [1, 20, 400, 10_000] as [UInt64] {
            var (wanted, hint) = (0 as UInt64, 0)
            while wanted < position {
                let last = min(position - 1, wanted + UInt64.random(in: 0...most, using: &generator))
                var beginning = 0
                let found = try #require(index.findReadExtent(wanted, last, end: end, from: &hint))
                let expected = try #require(index.findReadExtent(wanted, last, end: end, from: &beginning))
                #expect(found == expected && hint == beginning)
                #expect(UInt64(found.start.relativePosition) == firsts.last { $0 <= wanted })
                #expect(found.bound >= found.estimate)
                wanted += UInt64.random(in: 0...most, using: &generator)
            }
        }
    }

    /// A distant record costs less than the spacing of the index; adjacent records share one read.
    @Test func readAmplificationIsBounded() throws {
        var generator = SeededGenerator(4)
        let storage = CountingStorage(MemoryStorage())
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage))
        for _ in 0..<2_000 { try journal.append([generator.entry()]) }
        let spacing = Int(SparseIndex.spacing)
        let far = (1...20).map { Position($0 * 100) }
        _ = try entries(journal, at: [1_000])
        func cost(_ positions: [Position]) throws -> (bytes: Int, reads: Int) {
            let before = (storage.bytesRead, storage.reads)
            _ = try entries(journal, at: positions)
            return (storage.bytesRead - before.0, storage.reads - before.1)
        }
        let alone = try cost(far)
        #expect(alone.bytes < far.count * spacing * 7 / 8)
        #expect(alone.reads >= far.count && alone.reads <= far.count * 3 / 2)
        let together = try cost((1_000...1_099).filter { $0 % 10 == 0 })
        #expect(together.reads == 1)
    }

    /// Flips one bit of each record in turn: a read of that record throws an error that names it,
    /// other records are read.
    @Test func damagedRecordIsNamedAndOthersAreRead() throws {
        var generator = SeededGenerator(5)
        let storage = MemoryStorage()
        var model: [Entry] = []
        let journal = try Journal.open("journal", options: JournalOptions(storage: storage))
        for _ in 0..<60 {
            let entry = Entry(
                kept: generator.bytes(16), erasable: generator.bytes(Int.random(in: 100...300, using: &generator)))
            try journal.append([entry])
            model.append(entry)
        }
        try journal.close()
        let segment = try #require(storage.allContents().first { $0.key.hasSuffix(".segment") })
        for target in 1...model.count {
            let damaged = storage.copy()
            let start = try #require(segment.value.firstIndex(of: model[target - 1].kept))
            let reader = try Journal.openReadOnly("journal", options: JournalOptions(storage: damaged))
            // The journal is open before the damage, because an opening rejects damaged segments.
            let file = try damaged.open(segment.key, .readWrite)
            try [segment.value[start + 3] ^ 4].withBytes(0..<1) { bytes in try file.write(bytes, at: UInt64(start + 3))
            }
            let others = (1...model.count).filter { $0 != target }.map { Position($0) }
            #expect(try entries(reader, at: others) == others.map { model[Int($0) - 1] })
            var given: [Position] = []
            let error = journalError {
                try reader.forEachRecord(at: (1...Position(model.count)).filter { $0 % 2 == Position(target) % 2 }) {
                    position, _, _, _ in
                    given.append(position)
                    return true
                }
            }
            #expect(error?.code == .damaged && error?.positions == Position(target)...Position(target))
            #expect(given == (1..<Position(target)).filter { $0 % 2 == Position(target) % 2 })
        }
    }
}

extension Array where Element == UInt8 {
    fileprivate func firstIndex(of part: [UInt8]) -> Int? {
        indices.first { $0 + part.count <= count && self[$0] == part[0] && Array(self[$0..<($0 + part.count)]) == part }
    }
}
