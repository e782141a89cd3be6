import MerkleLog
import Primitives
import StubRewriter
import TestSupport
import Testing

@testable import EventJournal

/// The content of records is removed from all files, and everything else stays.
@Suite struct EraseTests {
    @Test(arguments: StorageKind.allCases, Array(1...UInt64(Repetitions.few(2, of: 60))))
    func erasureRemovesContentAndNothingElse(_ kind: StorageKind, seed: UInt64) throws {
        try kind.run { options, path in
            var specimen = try MarkedJournal(
                path, options, seed: seed, commits: 12, segmentSize: [1_024, 2_048, 1 << 20][Int(seed % 3)])
            var generator = SeededGenerator(seed)
            var erased = PositionSet()
            for order in 1...Position(3) {
                try specimen.addCopiesOfContent()
                let positions = generator.positions(through: specimen.journal.lastPosition)
                let (head, before) = (specimen.journal.head, try specimen.stored())
                let sizes =
                    Repetitions.areAll
                    ? Array(0...head.position) : [0, head.position / 3, head.position / 2, head.position]
                let (heads, trees) = (
                    try specimen.all.map { try specimen.journal.head(at: $0) },
                    try sizes.map { try specimen.journal.treeHead(at: $0) }
                )
                let leaves = try specimen.all.map { try specimen.journal.disclosedRecord(at: $0).leaf }
                let proven = Position.random(in: specimen.all, using: &generator)
                let proof = try specimen.journal.inclusionProof(of: proven, at: head.position)

                try specimen.journal.eraseContent(of: positions, orderedThrough: order)
                let removed = positions
                let after = try specimen.stored()
                for (first, old) in before {
                    let new = try #require(after[first])
                    let last = first + Position(old.records.count) - 1
                    let changes =
                        old.records.isEmpty
                        ? false
                        : (first...last).contains { position in
                            removed.contains(position) && !erased.contains(position)
                                && !specimen.model[Int(position) - 1].erasable.isEmpty
                        }
                    #expect(new.generation == old.generation + (changes ? 1 : 0), "segment \(first)")
                    #expect(new.commitEnds == old.commitEnds)
                    if !changes { #expect(new.records == old.records) }
                }
                erased.formUnion(positions)
                #expect(try specimen.journal.entries() == specimen.expected(without: erased))
                #expect(specimen.journal.head == head && specimen.journal.erasedThrough == order)
                #expect(try specimen.all.map { try specimen.journal.head(at: $0) } == heads)
                #expect(try sizes.map { try specimen.journal.treeHead(at: $0) } == trees)
                #expect(try specimen.all.map { try specimen.journal.disclosedRecord(at: $0).leaf } == leaves)
                #expect(try specimen.journal.inclusionProof(of: proven, at: head.position) == proof)
                try proof.verify(try specimen.journal.disclosedRecord(at: proven).leaf)
                try specimen.journal.verify { Issue.record("\($0)") }
                try specimen.checkFiles(without: erased, head, order: order)
                let mark = try Journal.openReadOnly(path, options: specimen.options).erasureMark(through: head.position)
                #expect(specimen.journal.erasureMark(through: head.position) == mark)
                let names = try options.storage.list(path)
                #expect(!names.contains { $0.contains(".checkpoint") || $0.hasSuffix(".tmp") }, "\(names)")
                #expect(try options.storage.list(path + "/cut") == [])

                // Also into the segment that the erasure has begun.
                for _ in 0..<Int.random(in: 0...4, using: &generator) { try specimen.append(2, &generator) }
                try specimen.journal.waitUntilDurable(specimen.journal.lastPosition)
            }
            let head = specimen.journal.head
            try specimen.journal.close()
            try specimen.checkFiles(without: erased, head, order: 3)
            var reopening = specimen.options
            reopening.expectedHead = head
            let journal = try Journal.open(path, options: reopening)
            #expect(journal.recovery.wasClean && journal.erasedThrough == 3)
            try journal.eraseContent(of: PositionSet([specimen.all]), orderedThrough: 9)
            #expect(try journal.entries() == specimen.expected(without: PositionSet([specimen.all])))
            try journal.close()
            try specimen.checkFiles(without: PositionSet([specimen.all]), head, order: 9)
        }
    }

    /// The independent implementation of rewriting stores the same records and commits.
    @Test(arguments: 1...UInt64(Repetitions.few(3, of: 100)))
    func erasureStoresTheStubsOfTheFormat(seed: UInt64) throws {
        let storage = MemoryStorage()
        var specimen = try MarkedJournal("journal", JournalOptions(storage: storage), seed: seed)
        var generator = SeededGenerator(seed)
        let positions = generator.positions(through: specimen.journal.lastPosition)
        try specimen.journal.rotate(for: 0, always: true)
        try specimen.journal.synchronize()
        let copy = storage.copy()
        try specimen.journal.eraseContent(of: positions, orderedThrough: 1)
        let erased = try specimen.stored()

        specimen.options.storage = copy
        let chosen = try StubRewriter("journal", on: copy).rewrite { position, _, erasable in
            !erasable.isEmpty && positions.contains(position) ? .erased : .whole
        }
        #expect(
            Set(chosen.map(Int.init))
                == specimen.contentNumbers(without: PositionSet())
                .subtracting(specimen.contentNumbers(without: positions)))
        #expect(try specimen.stored() == erased)
    }

    /// An erasure of content that is gone changes no file.
    @Test func repeatedErasureChangesNothing() throws {
        let storage = MemoryStorage()
        let specimen = try MarkedJournal("journal", JournalOptions(storage: storage), seed: 4)
        let all = PositionSet([specimen.all])
        try specimen.journal.eraseContent(of: all, orderedThrough: 1)
        let before = storage.allContents()
        try specimen.journal.eraseContent(of: all, orderedThrough: 1)
        let isUnchanged = storage.allContents() == before
        #expect(isUnchanged)
    }
}
