import ChatTesting
import Foundation
import MerkleLog
import Primitives
import StubRewriter
import TestSupport
import Testing

@testable import EventJournal

/// The heads and proofs of a journal's tree.
@Suite struct TreeTests {
    /// A closed journal of several segments, its records and their leaves by the rule of Format.md.
    private struct Specimen {
        let path: String
        let options: JournalOptions
        var model: [Entry] = []
        var leaves: [MerkleHash] = []

        init(_ path: String, _ options: JournalOptions, commits: Int = 12) throws {
            self.path = path
            var options = options
            options.segmentSize = 4 << 10
            self.options = options
            let journal = try Journal.open(path, options: options)
            var generator = SeededGenerator(Repetitions.seed)
            for _ in 0..<commits {
                let entries = (0..<Int.random(in: 1...12, using: &generator)).map { _ in
                    generator.entry(kept: 40, erasable: 200)
                }
                try journal.append(entries)
                model += entries
            }
            try journal.waitUntilDurable(journal.lastPosition)
            for (index, entry) in model.enumerated() {
                let record = try journal.disclosedRecord(at: Position(index + 1))
                guard case .whole(let salt, let erasable) = record.content else { throw TreeTestError() }
                #expect(record.kept == entry.kept && erasable == entry.erasable && salt.count == 16)
                let digest = SHA256.hash(salt + erasable)
                #expect(record.entry == [1] + entry.kept + digest)
                leaves.append(try #require(MerkleHash(SHA256.hash([0, 1] + entry.kept + digest))))
            }
            try journal.close()
        }

        var size: Int { leaves.count }

        /// The head at a size by the definition of the accumulator, which has tests of its own.
        func head(_ size: Int, _ id: JournalID) -> TreeHead {
            var tree = MerkleAccumulator()
            for leaf in leaves.prefix(size) { tree.append(leaf) }
            return TreeHead(origin: "chat-journal/\(id)", size: UInt64(size), root: tree.root)
        }

        func check(_ journal: Journal) throws {
            #expect(journal.durablePosition == Position(size))
            #expect(try journal.treeHead() == head(size, journal.id))
            for at in 0...size { #expect(try journal.treeHead(at: Position(at)) == head(at, journal.id), "size \(at)") }
            var generator = SeededGenerator(Repetitions.seed)
            for _ in 0..<Repetitions.few(60, of: 1_000) {
                let at = Int.random(in: 1...size, using: &generator)
                let index = Int.random(in: 0..<at, using: &generator)
                let proof = try journal.inclusionProof(of: Position(index + 1), at: Position(at))
                #expect(
                    proof.head == head(at, journal.id) && proof.index == UInt64(index)
                        && proof.extra == leaves[index].bytes)
                try proof.verify(leaves[index])
                let old = Int.random(in: 0...at, using: &generator)
                let growth = try journal.consistencyProof(from: Position(old), at: Position(at))
                #expect(growth.head == head(at, journal.id) && growth.oldSize == UInt64(old))
                try growth.verify(from: head(old, journal.id))
            }
        }
    }

    @Test(arguments: StorageKind.allCases) func headsAndProofsFollowFromRecords(_ kind: StorageKind) throws {
        try kind.run { options, path in
            let specimen = try Specimen(path, options)
            let reader = try Journal.openReadOnly(path, options: specimen.options)
            try specimen.check(reader)
            let writer = try Journal.open(path, options: specimen.options)
            try specimen.check(writer)
            try writer.close()
            #expect(journalError { _ = try writer.treeHead(at: 1) }?.code == .closed)
        }
    }

    /// Stubs have the leaves of the whole records.
    @Test(arguments: StorageKind.allCases) func stubsKeepTheTree(_ kind: StorageKind) throws {
        try kind.run { options, path in
            let specimen = try Specimen(path, options)
            let proof = try Journal.openReadOnly(path, options: specimen.options).inclusionProof(of: 1, at: 9)
            let rewriter = StubRewriter(path, on: options.storage)
            let chosen = try rewriter.rewrite { position, _, _ in
                position % 3 == 0 ? .whole : position % 3 == 1 ? .erased : .withheld
            }
            #expect(chosen.count > 10 && chosen.contains(1))
            let journal = try Journal.openReadOnly(path, options: specimen.options)
            try specimen.check(journal)
            for position in chosen {
                let record = try journal.disclosedRecord(at: position)
                #expect(record.kept == specimen.model[Int(position) - 1].kept && record.erasable == nil)
                #expect(record.leaf == specimen.leaves[Int(position) - 1])
                #expect(record.withholdingContent() == record)
            }
            try proof.verify(try journal.disclosedRecord(at: 1).leaf)
        }
    }

    /// Another salt, another id and another order of the same contents give another tree.
    @Test func treesOfOtherJournalsDiffer() throws {
        var heads: Set<TreeHead> = []
        var roots: Set<MerkleHash> = []
        for _ in 0..<3 {
            let journal = try Journal.open("journal", options: JournalOptions(storage: MemoryStorage()))
            try journal.append([Entry("kept", "content")])
            try journal.waitUntilDurable(1)
            heads.insert(try journal.treeHead(at: 1))
            roots.insert(try journal.treeHead(at: 1).root)
            #expect(try journal.treeHead(at: 0).root == .emptyTree)
            try journal.close()
        }
        #expect(heads.count == 3 && roots.count == 3)
    }

    @Test func sizesAndPositionsOutsideTheTreeAreRejected() throws {
        let journal = try Journal.open("journal", options: JournalOptions(storage: MemoryStorage()))
        try journal.append((1...5).map { Entry("\($0)", "") })
        try journal.waitUntilDurable(5)
        // A record that is not durable is in no tree.
        try journal.append([Entry("6", "")])
        try #require(journal.durablePosition == 5 && journal.lastPosition == 6)
        let work: [() throws -> Void] = [
            { _ = try journal.treeHead(at: 6) }, { _ = try journal.treeHead(at: .max) },
            { _ = try journal.inclusionProof(of: 0, at: 5) },
            { _ = try journal.inclusionProof(of: 6, at: 5) }, { _ = try journal.inclusionProof(of: 4, at: 3) },
            { _ = try journal.inclusionProof(of: 1, at: 6) }, { _ = try journal.inclusionProof(of: 1, at: 0) },
            { _ = try journal.inclusionProof(of: .max, at: 5) }, { _ = try journal.consistencyProof(from: 4, at: 3) },
            { _ = try journal.consistencyProof(from: 6, at: 6) },
            { _ = try journal.consistencyProof(from: .max, at: 5) },
            { _ = try journal.disclosedRecord(at: 0) }, { _ = try journal.disclosedRecord(at: 6) },
        ]
        for call in work { #expect(journalError(call)?.code == .outOfRange) }
        try journal.close()
    }
}

private struct TreeTestError: Error {}

/// The text form of a disclosed record.
@Suite struct DisclosedRecordTests {
    private static let salt = [UInt8](repeating: 7, count: 16)
    private static let title = "chat-journal/record@v1\n"
    private static let hash = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    @Test(arguments: [[], [0], [1, 2, 3]] as [[UInt8]], [[], [255], [1, 2, 3, 4]] as [[UInt8]])
    func textsRoundTrip(kept: [UInt8], erasable: [UInt8]) throws {
        let record = DisclosedRecord(kept: kept, content: .whole(salt: Self.salt, erasable: erasable))
        #expect(try DisclosedRecord(parsing: record.text) == record)
        let withheld = record.withholdingContent()
        #expect(withheld.leaf == record.leaf && withheld != record && withheld.erasable == nil)
        #expect(try DisclosedRecord(parsing: withheld.text) == withheld)
    }

    @Test func longestTextRoundTrips() throws {
        let record = DisclosedRecord(
            kept: [UInt8](repeating: 1, count: JournalLimits.keptBytes),
            content: .whole(salt: Self.salt, erasable: [UInt8](repeating: 2, count: JournalLimits.erasableBytes)))
        #expect(try DisclosedRecord(parsing: record.text) == record)
    }

    /// Texts after the title, and the line of the fault.
    private static let malformed: [(text: String, line: Int)] = [
        ("", 2), ("kept\n", 3), ("kept  AA==\n", 2), ("kept AB==\ndigest \(hash)\n", 2), ("kept \ndigest \(hash)\n", 2),
        ("digest \(hash)\n", 2), ("kept\ndigest AAAA\n", 3), ("kept\ndigest \(hash)\nmore\n", 4),
        ("kept\ndigest \(hash)\n\n", 4),
        ("kept\nsalt AAAA\nerasable\n", 3), ("kept\nsalt BwcHBwcHBwcHBwcHBwcHBw==\n", 4),
        ("kept\nsalt BwcHBwcHBwcHBwcHBwcHBw==\nbody\n", 4), ("kept\ndigest \(hash)", 3),
    ]

    @Test(arguments: malformed) func malformedTextsNameTheLine(_ example: (text: String, line: Int)) {
        do {
            _ = try DisclosedRecord(parsing: Self.title + example.text)
            Issue.record("no error")
        } catch { #expect(error.line == example.line, "\(error)") }
    }

    @Test func otherTitlesAreRejected() {
        #expect(throws: ProofTextError.self) {
            try DisclosedRecord(parsing: "chat-journal/record@v2\nkept\ndigest \(Self.hash)\n")
        }
    }
}
