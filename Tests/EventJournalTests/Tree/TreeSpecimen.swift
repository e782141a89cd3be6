import ChatTesting
import Locking
import MerkleLog
import Testing

@testable import EventJournal

/// A growing journal with small pages in its tree file, and the heads and proofs that its records
/// give by definition.
final class TreeSpecimen {
    static let layout = TreeLayout(subtreeHeight: 2, pageHeight: 4)
    static let path = "journal"
    static var treePath: String { path + "/tree" }

    var options: JournalOptions
    private(set) var leaves: [MerkleHash] = []
    private(set) var journal: Journal
    private var generator = SeededGenerator()

    /// Opens a new journal.
    ///
    /// No job of the executor runs, so ``storePages()`` alone writes the tree file.
    init(
        _ storage: any JournalStorage = MemoryStorage(), durability: Durability = .synced, segmentSize: UInt64 = 4 << 10
    ) throws {
        options = JournalOptions(
            durability: durability, segmentSize: segmentSize, storage: storage, slotSyncDelay: nil,
            executor: SeededExecutor(seed: 1))
        options.treeLayout = Self.layout
        journal = try Journal.open(Self.path, options: options)
    }

    var storage: MemoryStorage { options.storage as? MemoryStorage ?? MemoryStorage() }
    var seed: UInt64 { generator.seed }
    var size: Int { leaves.count }
    var tree: [UInt8]? { storage.allContents()[Self.treePath] }

    /// Appends a commit of random records, and waits until it is durable.
    func append(_ count: Int) throws {
        let positions = try journal.append((0..<count).map { _ in generator.entry() })
        try journal.waitUntilDurable(positions.upperBound)
        for position in positions { leaves.append(try journal.disclosedRecord(at: position).leaf) }
    }

    /// Appends commits of 1 to 50 records up to a size.
    func grow(to size: Int, commits: ClosedRange<Int> = 1...50) throws {
        while self.size < size { try append(min(size - self.size, Int.random(in: commits, using: &generator))) }
    }

    /// Stores all pages that are due, as the background work does.
    func storePages() throws { try Self.storePages(of: journal) }

    static func storePages(of journal: Journal) throws {
        while try journal.storeTreePage() <= journal.state.withLock({ $0.syncedPosition }) {}
    }

    func reopen() throws {
        try journal.close()
        journal = try Journal.open(Self.path, options: options)
    }

    func root(_ size: Int) -> MerkleHash {
        var tree = MerkleAccumulator()
        for leaf in leaves.prefix(size) { tree.append(leaf) }
        return tree.root
    }

    /// The bytes of the tree file by the definition of Format.md, without the CRCs.
    func expectedHashes() -> [MerkleHash] {
        let pages = size / 16
        return (0..<pages * 4).map { index in
            var tree = MerkleAccumulator()
            for leaf in leaves[index * 4..<index * 4 + 4] { tree.append(leaf) }
            return tree.root
        }
    }

    /// Compares heads, and random proofs, of a journal with the definition.
    func check(
        _ journal: Journal, proofs: Int = 20, _ comment: Comment = "", sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        func expect(_ isRight: Bool) { #expect(isRight, "\(comment) seed \(seed)", sourceLocation: sourceLocation) }
        expect(journal.durablePosition == Position(size))
        expect(try journal.treeHead().root == root(size))
        guard size > 0 else { return }
        for _ in 0..<proofs {
            let at = Int.random(in: 1...size, using: &generator)
            let index = Int.random(in: 0..<at, using: &generator)
            let proof = try journal.inclusionProof(of: Position(index + 1), at: Position(at))
            expect(proof.head.root == root(at) && proof.extra == leaves[index].bytes)
            try proof.verify(leaves[index])
            let old = Int.random(in: 0...at, using: &generator)
            let growth = try journal.consistencyProof(from: Position(old), at: Position(at))
            expect(growth.head.root == root(at))
            try growth.verify(from: TreeHead(origin: growth.head.origin, size: UInt64(old), root: root(old)))
        }
    }

    /// A reader that knows nothing yet.
    func reader() throws -> Journal { try Journal.openReadOnly(Self.path, options: options) }

    /// Checks that the tree file has all pages, with the right hashes.
    func checkFile(_ comment: Comment = "", sourceLocation: SourceLocation = #_sourceLocation) throws {
        let stored = try reader().storedTree().lowest
        #expect(stored == expectedHashes(), "\(comment) seed \(seed)", sourceLocation: sourceLocation)
        #expect(
            storage.allContents()[Self.treePath]?.count == (size < 16 ? nil : 32 + size / 16 * Self.layout.pageSize),
            "\(comment) seed \(seed)", sourceLocation: sourceLocation)
    }
}
