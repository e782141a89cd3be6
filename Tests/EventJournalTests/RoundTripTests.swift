import Primitives
import TestSupport
import Testing

@testable import EventJournal

/// The storages on which a journal must behave the same.
enum StorageKind: CaseIterable {
    case memory, files

    /// Runs the work on an empty storage of this kind.
    func run(_ work: (JournalOptions, String) throws -> Void) throws {
        switch self {
        case .memory: try work(JournalOptions(storage: MemoryStorage()), "journal")
        case .files:
            let directory = try TemporaryDirectory()
            try withExtendedLifetime(directory) { try work(JournalOptions(), directory.file("journal")) }
        }
    }
}

@Suite struct RoundTripTests {
    static let parts = StorageKind.allCases.flatMap { kind in Durability.allCases.map { (kind, $0) } }

    @Test(arguments: parts) func appendsReadBackAndSurviveReopening(_ kind: StorageKind, _ durability: Durability)
        throws
    {
        try kind.run { options, path in
            var options = options
            options.durability = durability
            var generator = SeededGenerator(1)
            var model: [Entry] = []
            do {
                let journal = try Journal.open(path, options: options)
                #expect(journal.recovery.wasCreated)
                #expect(journal.lastPosition == 0)
                #expect(journal.head.position == 0)
                for count in 1...20 {
                    let entries = (0..<count).map { _ in generator.entry() }
                    let positions = try journal.append(entries)
                    #expect(positions == UInt64(model.count + 1)...UInt64(model.count + count))
                    model += entries
                }
                if durability == .written { #expect(journal.durablePosition == journal.lastPosition) }
                if durability == .synced { #expect(journal.durablePosition == 0) }
                try journal.waitUntilDurable(journal.lastPosition)
                #expect(journal.durablePosition == journal.lastPosition)
                #expect(try journal.entries() == model)
                for position in 1...model.count {
                    let one = UInt64(position)...UInt64(position)
                    #expect(try journal.entries(one) == [model[position - 1]])
                }
                let head = journal.head
                try journal.close()
                try journal.close()
                options.expectedHead = head
            }
            let journal = try Journal.open(path, options: options)
            #expect(journal.recovery.wasClean)
            #expect(!journal.recovery.wasCreated)
            #expect(try journal.entries() == model)
            try journal.append([Entry("after", "reopening")])
            try journal.close()
            let reader = try Journal.openReadOnly(path, options: options)
            #expect(try reader.entries() == model + [Entry("after", "reopening")])
        }
    }

    @Test(arguments: StorageKind.allCases) func segmentsRotate(_ kind: StorageKind) throws {
        try kind.run { options, path in
            var options = options
            options.segmentSize = 2000
            var generator = SeededGenerator(2)
            var model: [Entry] = []
            for _ in 0..<3 {
                let journal = try Journal.open(path, options: options)
                for _ in 0..<30 {
                    let entries = (0..<Int.random(in: 1...4, using: &generator)).map { _ in generator.entry() }
                    try journal.append(entries)
                    model += entries
                }
                // A record longer than a segment gets its own segment.
                let long = Entry(kept: generator.bytes(10), erasable: generator.bytes(5000))
                try journal.append([long])
                model.append(long)
                #expect(try journal.entries() == model)
                try journal.close()
            }
            #expect(try options.storage.list(path).filter { $0.hasSuffix(".segment") }.count > 10)
            #expect(try Journal.openReadOnly(path, options: options).entries() == model)
        }
    }

    @Test func partsUpToLimitRoundTrip() throws {
        let options = JournalOptions(storage: MemoryStorage())
        let journal = try Journal.open("journal", options: options)
        let largest = Entry(
            kept: [UInt8](repeating: 7, count: JournalLimits.keptBytes),
            erasable: [UInt8](repeating: 9, count: JournalLimits.erasableBytes)
        )
        try journal.append([largest, Entry("", ""), largest])
        #expect(try journal.entries() == [largest, Entry("", ""), largest])
        #expect(try journal.entries(2...2) == [Entry("", "")])

        var draft = CommitDraft()
        var long = largest
        long.kept.append(1)
        #expect(journalError { try draft.append(long) }?.code == .tooLarge)
        long = largest
        long.erasable.append(1)
        #expect(journalError { try draft.append(long) }?.code == .tooLarge)
        #expect(draft.recordCount == 0)
        #expect(draft.encodedByteCount == CommitHeader.size)
        #expect(journalError { _ = try journal.append(draft, expecting: 3) }?.code == .tooLarge)
        #expect(journalError { while true { try draft.append(largest) } }?.code == .tooLarge)
        #expect(draft.encodedByteCount <= JournalLimits.commitBytes)
        let count = UInt64(draft.recordCount)
        #expect(try journal.append(draft, expecting: 3) == 4...(3 + count))
        #expect(try journal.entries(4...4) == [largest])
        #expect(journalError { try journal.reserve(JournalLimits.commitBytes + 1) }?.code == .tooLarge)
    }

    @Test func positionsOutOfRangeAreRejected() throws {
        let journal = try Journal.open("journal", options: JournalOptions(storage: MemoryStorage()))
        try journal.append([Entry("a", "b")])
        for range: ClosedRange<Position> in [0...1, 0...0, 1...2, 2...2, 1...UInt64.max] {
            #expect(journalError { try journal.read(range) { _, _, _, _ in } }?.code == .outOfRange)
        }
        #expect(journalError { try journal.waitUntilDurable(2) }?.code == .outOfRange)
    }

    @Test func wrongExpectedHeadConflicts() throws {
        let journal = try Journal.open("journal", options: JournalOptions(storage: MemoryStorage()))
        let commit = try draft([Entry("a", "b")])
        #expect(try journal.append(commit, expecting: 0) == 1...1)
        for wrong: Position in [0, 2, .max] {
            #expect(journalError { _ = try journal.append(commit, expecting: wrong) }?.code == .conflict)
        }
        #expect(journal.lastPosition == 1)
        #expect(try journal.append(commit, expecting: 1) == 2...2)
    }

    @Test func throwingClosureStopsReading() throws {
        struct Enough: Error {}
        let journal = try Journal.open("journal", options: JournalOptions(storage: MemoryStorage()))
        try journal.append([Entry("a", "b"), Entry("c", "d")])
        var seen: [Position] = []
        do throws(ReadError<Enough>) {
            try journal.read(1...2) { (position, _, _, _) throws(Enough) in
                seen.append(position)
                throw Enough()
            }
            Issue.record("nothing was thrown")
        } catch {
            guard case .body = error else { throw error }
        }
        #expect(seen == [1])
    }

    @Test func closedJournalRejectsCalls() throws {
        let journal = try Journal.open("journal", options: JournalOptions(storage: MemoryStorage()))
        try journal.append([Entry("a", "b")])
        try journal.close()
        #expect(journalError { _ = try journal.append([Entry("a", "b")]) }?.code == .closed)
        #expect(journalError { try journal.reserve(100) }?.code == .closed)
        #expect(journalError { _ = try journal.entries() }?.code == .closed)
        try journal.waitUntilDurable(1)
    }

    @Test func draftEnumeratesItsRecords() throws {
        var generator = SeededGenerator(7)
        let entries = (0..<50).map { _ in generator.entry(kept: 300, erasable: 20_000) } + [Entry("", "")]
        var found: [Entry] = []
        let draft = try draft(entries)
        draft.forEachRecord { kept, erasable in found.append(Entry(kept: kept.toArray(), erasable: erasable.toArray()))
        }
        #expect(found == entries)
        struct Enough: Error {}
        var count = 0
        #expect(throws: Enough.self) {
            try draft.forEachRecord { (_, _) throws(Enough) in
                count += 1
                if count == 3 { throw Enough() }
            }
        }
        #expect(count == 3)
        CommitDraft().forEachRecord { _, _ in Issue.record("an empty draft has a record") }
    }

    @Test func rollbackRemovesRecordsAfterMark() throws {
        let (first, second, third) = (Entry("a", "bc"), Entry("def", ""), Entry("", "ghij"))
        func entries(_ draft: borrowing CommitDraft) -> [Entry] {
            var found: [Entry] = []
            draft.forEachRecord { kept, erasable in
                found.append(Entry(kept: kept.toArray(), erasable: erasable.toArray()))
            }
            return found
        }
        var draft = try draft([first, second])
        let (mark, byteCount) = (draft.mark, draft.encodedByteCount)
        try draft.append(third)
        draft.removeRecords(after: mark)
        #expect(entries(draft) == [first, second] && draft.encodedByteCount == byteCount)
        // After removal of all records, an old mark keeps as many records as it counted, even if
        // they are others.
        draft.removeAll()
        for entry in [third, first, second] { try draft.append(entry) }
        draft.removeRecords(after: mark)
        #expect(entries(draft) == [third, first])
        let journal = try Journal.open("journal", options: JournalOptions(storage: MemoryStorage()))
        #expect(try journal.append(draft, expecting: 0) == 1...2)
        #expect(try journal.entries() == [third, first])
    }
}
