import Locking
import Primitives
import TestSupport
import Testing

@testable import EventJournal

/// Reads deliver hidden content as erased.
extension EraseTests {
    /// Reads the same positions in each way that delivers records.
    enum Reading: CaseIterable {
        case range, positions, committed

        /// Calls the closure with each record; `positions` are delivered by `.positions`, all
        /// records by the others.
        func run(
            _ journal: Journal, at positions: [Position], _ body: (_ position: Position, _ entry: Entry) -> Bool
        ) throws(JournalError) {
            let all = 1...journal.lastPosition
            switch self {
            case .range:
                try journal.forEachRecord(in: all) { position, state, kept, erasable in
                    body(position, Entry(kept: kept.toArray(), erasable: erasable.toArray(), state: state))
                }
            case .positions:
                try journal.forEachRecord(at: positions) { position, state, kept, erasable in
                    body(position, Entry(kept: kept.toArray(), erasable: erasable.toArray(), state: state))
                }
            case .committed:
                try journal.forEachCommittedRecord(in: all) { position, commit, state, kept, erasable in
                    if commit.position < position { Issue.record("\(position) is after \(commit)") }
                    return body(position, Entry(kept: kept.toArray(), erasable: erasable.toArray(), state: state))
                }
            }
        }

        func wanted(_ journal: Journal, at positions: [Position]) -> [Position] {
            self == .positions ? positions : Array(1...journal.lastPosition)
        }
    }

    /// Returns ascending positions, some of them more than once.
    private func somePositions(through last: Position, _ generator: inout SeededGenerator) -> [Position] {
        (1...last).flatMap { position in
            Array(repeating: position, count: [0, 1, 1, 1, 2, 3].randomElement(using: &generator) ?? 1)
        }
    }

    @Test(arguments: StorageKind.allCases) func hiddenContentIsDeliveredAsErased(_ kind: StorageKind) throws {
        try kind.run { options, path in
            let specimen = try MarkedJournal(path, options, seed: 21)
            let journal = specimen.journal
            var generator = SeededGenerator(21)
            let (head, tree) = (journal.head, try journal.treeHead())
            let whole = try specimen.all.map { try journal.disclosedRecord(at: $0) }
            for round in 0..<8 {
                let hidden = round == 7 ? PositionSet() : generator.positions(through: journal.lastPosition)
                journal.setHiddenContent(hidden)
                #expect(journal.hiddenContent == hidden)
                let expected = specimen.expected(without: hidden)
                for reading in Reading.allCases {
                    let positions = somePositions(through: journal.lastPosition, &generator)
                    var found: [Entry] = []
                    try reading.run(journal, at: positions) { _, entry in
                        found.append(entry)
                        return true
                    }
                    #expect(found == reading.wanted(journal, at: positions).map { expected[Int($0) - 1] })
                }
                for (record, (position, entry)) in zip(whole, zip(specimen.all, expected)) {
                    let disclosed = try journal.disclosedRecord(at: position)
                    #expect(disclosed == (entry.state == .whole ? record : record.withholdingContent()))
                    #expect(disclosed.leaf == record.leaf)
                }
                #expect(try journal.head == head && journal.treeHead() == tree && journal.contains(head))
                try journal.verify { Issue.record("\($0)") }
            }
            // The setting is not stored.
            journal.setHiddenContent(PositionSet([specimen.all]))
            #expect(try Journal.openReadOnly(path, options: specimen.options).entries() == specimen.model)
        }
    }

    /// The setting changes in the closure of a read, at random records.
    @Test(arguments: Reading.allCases, 1...UInt64(Repetitions.few(2, of: 100)))
    func readInProgressObeysHiddenContent(_ reading: Reading, seed: UInt64) throws {
        let specimen = try MarkedJournal(
            "journal", JournalOptions(storage: MemoryStorage()), seed: seed, commits: 60, segmentSize: 4_096)
        let journal = specimen.journal
        var generator = SeededGenerator(seed)
        let positions = somePositions(through: journal.lastPosition, &generator)
        let interval = Int.random(in: 1...20, using: &generator)
        var (expected, found): ([Entry], [Position]) = (specimen.model, [])
        var commits: [JournalHead] = []
        try reading.run(journal, at: positions) { position, entry in
            found.append(position)
            #expect(entry == expected[Int(position) - 1], "position \(position)")
            if Int.random(in: 0..<interval, using: &generator) == 0 {
                let hidden = generator.positions(through: journal.lastPosition)
                journal.setHiddenContent(hidden)
                expected = specimen.expected(without: hidden)
            }
            return true
        }
        #expect(found == reading.wanted(journal, at: positions))
        // The commits' heads do not depend on where a read continues.
        try journal.forEachCommittedRecord(in: specimen.all) { position, commit, _, _, _ in
            commits.append(commit)
            if position % 3 == 0 { journal.setHiddenContent(PositionSet([position...position])) }
            return true
        }
        #expect(try commits == commits.map { try journal.head(at: $0.position) })
    }

    @Test func endedReadDoesNotContinue() throws {
        let specimen = try MarkedJournal("journal", JournalOptions(storage: MemoryStorage()), seed: 5)
        var found: [Position] = []
        try specimen.journal.forEachRecord(in: specimen.all) { position, _, _, _ in
            found.append(position)
            specimen.journal.setHiddenContent(PositionSet([position...position]))
            return found.count < 7
        }
        #expect(found == Array(1...7))
    }

    /// Content is erased, and then no longer hidden, in the closure of a read.
    @Test(arguments: StorageKind.allCases, Array(1...UInt64(Repetitions.few(1, of: 60))))
    func readInProgressDeliversNoErasedContent(_ kind: StorageKind, seed: UInt64) throws {
        for reading in Reading.allCases {
            try kind.run { options, path in
                let specimen = try MarkedJournal(path, options, seed: seed, commits: 30)
                let journal = specimen.journal
                var generator = SeededGenerator(seed)
                let positions = somePositions(through: journal.lastPosition, &generator)
                var (erased, found): (PositionSet, [Position]) = (PositionSet(), [])
                var expected = specimen.model
                try reading.run(journal, at: positions) { position, entry in
                    found.append(position)
                    #expect(entry == expected[Int(position) - 1], "position \(position)")
                    if Int.random(in: 0..<20, using: &generator) == 0 {
                        let new =
                            Int.random(in: 0..<4, using: &generator) == 0
                            ? PositionSet([position...min(position + 9, journal.lastPosition)])
                            : PositionSet(
                                [1, 2, 3].map { _ in Position.random(in: specimen.all, using: &generator) }.map {
                                    $0...$0
                                })
                        journal.setHiddenContent(new)
                        do throws(JournalError) {
                            try journal.eraseContent(of: new, orderedThrough: 1)
                        } catch {
                            Issue.record("\(error)")
                        }
                        journal.setHiddenContent(PositionSet())
                        erased.formUnion(new)
                        expected = specimen.expected(without: erased)
                    }
                    return true
                }
                #expect(found == reading.wanted(journal, at: positions))
                #expect(try journal.entries() == expected)
            }
        }
    }

    /// Hidden content is erased, and no longer hidden, between the read of a record and its return.
    @Test func disclosureDuringErasureWithholdsContent() throws {
        let storage = FaultyStorage(MemoryStorage())
        let specimen = try MarkedJournal("journal", JournalOptions(storage: storage), seed: 6)
        let journal = specimen.journal
        let position = try #require(specimen.contentNumbers(without: PositionSet()).min().map { Position($0) })
        let positions = PositionSet([position...position])
        _ = try journal.disclosedRecord(at: position)
        journal.setHiddenContent(positions)
        let isErasing = Lock(false)
        storage.fail { call in
            guard call.operation == .read, call.path.hasSuffix(".segment"), !isErasing.withLock({ $0 }) else {
                return nil
            }
            isErasing.withLock { $0 = true }
            do { try journal.eraseContent(of: positions, orderedThrough: 1) } catch { Issue.record("\(error)") }
            journal.setHiddenContent(PositionSet())
            return nil
        }
        #expect(try journal.disclosedRecord(at: position).erasable == nil)
        #expect(isErasing.withLock { $0 })
    }
}
