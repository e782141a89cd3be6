import ChatTesting
import EventJournal
import Foundation
import MerkleLog
import TestSupport
import Testing

/// Power failures at every operation of a journal that stores its tree and writes tiles: no head is
/// that of lost records, no verification finds damage, and a checkpoint of tiles has all of its
/// tiles.
@Suite struct TreeCrashTests {
    @Test(arguments: Durability.allCases, 1...UInt64(Repetitions.few(1, of: 2))) func treesSurvivePowerCuts(
        _ durability: Durability, seed: UInt64
    ) throws {
        var explorer = TreeLife.explorer(durability, seed: seed, rounds: 2)
        explorer.exhaustiveLimit = 4
        explorer.outcomesPerCrash = 6
        try explorer.check(atLeast: 200)
    }

    /// The long form; see ``EraseCrashTests``.
    @Test(.enabled(if: EraseCrashTests.isLongRun, "set CHATJOURNAL_ERASURE_STATES"), arguments: Durability.allCases)
    func treesSurvivePowerCutsInLongRun(_ durability: Durability) throws {
        var series = CrashSeries { seed in
            var explorer = TreeLife.explorer(durability, seed: seed, rounds: 6)
            explorer.exhaustiveLimit = 16
            explorer.outcomesPerCrash = 16
            explorer.crashesAfterKill = 4
            return explorer
        }
        let report = try series.run(states: (EraseCrashTests.longRun ?? 0) / 8)
        if report.isReplay {
            report.printReplay()
        } else {
            print("\(report); seeds below \(series.nextSeed)")
        }
        if !report.failures.isEmpty { Issue.record("\(report)") }
    }
}

/// What a journal and its tiles have promised.
struct TreeModel: Sendable {
    /// The number of openings, which seeds the salts and the contents.
    var openings = 0
    /// The positions that must survive.
    var promised: Position = 0
    /// The head of the last run that has written tiles.
    var tiles: TreeHead?
}

/// A journal with small pages that appends, stores its tree, erases and writes tiles.
enum TreeLife {
    static func explorer(_ durability: Durability, seed: UInt64, rounds: Int) -> CrashExplorer<TreeModel> {
        var explorer = CrashExplorer("tree-\(durability)-\(rounds)-\(seed)", model: TreeModel()) { disk, recorder in
            var random = SeededRandom(seed: seed)
            let journal = try open(disk, durability, recorder)
            for round in 0..<rounds {
                try work(journal, &random, recorder)
                if round == 1 { try journal.eraseContent(of: PositionSet([1...3]), orderedThrough: 1) }
            }
            try journal.close()
            recorder.update { $0.promised = journal.durablePosition }
        } recovery: { disk, recorder in
            try checkTiles(disk, recorder.model)
            try checkFindings(disk, durability, recorder.model)
            let journal = try open(disk, durability, recorder)
            try checkTree(journal)
            var random = SeededRandom(seed: seed &+ UInt64(recorder.model.openings))
            try work(journal, &random, recorder)
            try checkTree(journal)
            try journal.close()
            try checkTree(try Journal.openReadOnly("journal", options: options(disk, durability, recorder.model)))
            try checkTiles(disk, recorder.model)
        }
        explorer.seed = seed
        explorer.crashesAfterKill = 2
        return explorer
    }

    private static func options(_ disk: SimulatedDisk, _ durability: Durability, _ model: TreeModel) -> JournalOptions {
        // No job of the executor runs: the work calls it on its own thread.
        var options = JournalOptions(
            durability: durability, segmentSize: 2048, storage: disk,
            entropy: SeededEntropy(seed: UInt64(model.openings)),
            slotSyncDelay: nil, executor: SeededExecutor(seed: 1))
        options.treeLayout = TreeLayout(subtreeHeight: 1, pageHeight: 2)
        return options
    }

    private static func open(_ disk: SimulatedDisk, _ durability: Durability, _ recorder: CrashRecorder<TreeModel>)
        throws -> Journal
    {
        let journal = try Journal.open("journal", options: options(disk, durability, recorder.model))
        guard journal.durablePosition >= recorder.model.promised else {
            throw Surprise("records up to \(journal.durablePosition)")
        }
        recorder.update { model in
            model.openings += 1
            model.promised = journal.durablePosition
        }
        return journal
    }

    /// Appends commits, stores the pages that are due, and writes tiles.
    private static func work(_ journal: Journal, _ random: inout SeededRandom, _ recorder: CrashRecorder<TreeModel>)
        throws
    {
        for _ in 0..<3 {
            var draft = CommitDraft()
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let content = random.bytes(40)
                // Integers have no padding, which is what makes `bytes` unsafe for other elements.
                try draft.append(
                    kept: unsafe [UInt8(recorder.model.openings)].span.bytes, erasable: unsafe content.span.bytes)
            }
            let last = try journal.append(draft, expecting: journal.lastPosition).upperBound
            if random.oneIn(2) {
                try journal.waitUntilDurable(last)
                if journal.durability == .synced { recorder.update { $0.promised = last } }
            }
            if random.oneIn(4) {
                try journal.synchronize()
                recorder.update { $0.promised = last }
            }
            var next: Position = 0
            while true {
                let due = try journal.storeTreePage()
                if due == next { break }
                next = due
            }
        }
        let head = try journal.writeTiles(to: "tiles", includingEntries: true).head
        recorder.update { model in
            model.tiles = head
            model.promised = max(model.promised, head.size)
        }
        try checkTree(journal)
    }

    /// Compares the heads of the tree's sizes, and the tree file, with the records.
    private static func checkTree(_ journal: Journal) throws {
        var (tree, subtree) = (MerkleAccumulator(), MerkleAccumulator())
        var (roots, subtrees) = ([tree.root], [MerkleHash]())
        if journal.durablePosition > 0 {
            try journal.forEachLeaf(in: 1...journal.durablePosition) { _, _, _, _, leaf in
                tree.append(leaf)
                roots.append(tree.root)
                subtree.append(leaf)
                if subtree.size == 2 {
                    subtrees.append(subtree.root)
                    subtree = MerkleAccumulator()
                }
                return true
            }
        }
        let stored = journal.storedTree().lowest
        guard subtrees.starts(with: stored) else { throw Surprise("the tree file has hashes of other records") }
        // By default, the largest size and a sample of the others.
        let largest = roots.count - 1
        for size in Repetitions.oneIn(6, of: 0..<largest) + [largest] {
            guard try journal.treeHead(at: Position(size)).root == roots[size] else {
                throw Surprise("the head of size \(size)")
            }
        }
    }

    /// Checks that a verification finds no damage in the tree file before a writer opens the
    /// journal.
    private static func checkFindings(_ disk: SimulatedDisk, _ durability: Durability, _ model: TreeModel) throws {
        guard try disk.kind(of: "journal/tree") == .file else { return }
        let findings = try Journal.openReadOnly("journal", options: options(disk, durability, model))
            .storedTreeFindings()
        guard findings.isEmpty else { throw Surprise("\(findings)") }
    }

    /// Checks that the directory of tiles has a checkpoint with all of its tiles.
    private static func checkTiles(_ disk: SimulatedDisk, _ model: TreeModel) throws {
        guard let bytes = try disk.kind(of: "tiles/checkpoint") == .file ? disk.bytes(of: "tiles/checkpoint") : nil
        else {
            if model.tiles != nil { throw Surprise("the checkpoint is missing") }
            return
        }
        let head = try TreeHead(parsing: String(decoding: bytes, as: UTF8.self))
        guard head.size >= model.tiles?.size ?? 0 else { throw Surprise("the checkpoint has the size \(head.size)") }
        guard head.size > 0 else { return }
        let width = Int(head.size)
        guard width < 256 else { throw Surprise("the tree has several tiles") }
        let tile = try disk.bytes(of: "tiles/tile/0/000.p/\(width)") ?? []
        var tree = MerkleAccumulator()
        for index in 0..<tile.count / 32 {
            if let hash = MerkleHash(Array(tile[32 * index..<32 * index + 32])) { tree.append(hash) }
        }
        guard tile.count == 32 * width, tree.root == head.root else { throw Surprise("the tile of size \(width)") }
        guard try disk.bytes(of: "tiles/tile/entries/000.p/\(width)")?.isEmpty == false else {
            throw Surprise("the entries of size \(width)")
        }
    }
}
