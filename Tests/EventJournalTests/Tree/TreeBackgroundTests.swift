import ChatTesting
import Dispatch
import Foundation
import Locking
import MerkleLog
import Primitives
import Synchronization
import TestSupport
import Testing

@testable import EventJournal

/// The background work that writes the tree file.
@Suite struct TreeBackgroundTests {
    private let storage = FaultyStorage(MemoryStorage())

    private func options(_ durability: Durability = .synced) -> JournalOptions {
        var options = JournalOptions(durability: durability, storage: storage, slotSyncDelay: nil)
        options.treeLayout = TreeSpecimen.layout
        options.treePause = .zero
        return options
    }

    private func append(_ count: Int, to journal: Journal) throws {
        try journal.append((0..<count).map { _ in Entry("kept", "content") })
        try journal.waitUntilDurable(journal.lastPosition)
    }

    /// Waits until no page is scheduled.
    private func drain(_ journal: Journal) {
        repeat { journal.treeBackground.drain() } while journal.state.withLock { $0.treePageDuePosition == .max }
    }

    private func pageCount(_ options: JournalOptions) throws -> Int {
        Int(try Journal.openReadOnly("journal", options: options).storedTree().size) / 16
    }

    /// Whether a call is on the tree file, or on the temporary file with its header and first page.
    private static func isTree(_ call: FaultyStorage.Call) -> Bool {
        call.path.hasSuffix("/tree") || call.path.hasSuffix("/tree.tmp")
    }

    private func treeCalls(_ operation: StorageError.Operation = .write) -> Int {
        storage.calls.count { $0.operation == operation && Self.isTree($0) }
    }

    @Test func pagesFollowSyncs() throws {
        let journal = try Journal.open("journal", options: options())
        try append(15, to: journal)
        drain(journal)
        #expect(treeCalls() == 0)
        try append(1, to: journal)
        drain(journal)
        #expect(try pageCount(options()) == 1)
        try append(100, to: journal)
        drain(journal)
        #expect(try pageCount(options()) == 7)
        // Each page once, the first one with the header.
        #expect(treeCalls() == 7 && journal.state.withLock { $0.treePageDuePosition } == 128)
        try journal.close()
    }

    /// The file appears with its first page, and each page is synced before the next one is
    /// written.
    ///
    /// A power failure can therefore tear the last page only.
    @Test func everyPageIsSynced() throws {
        let journal = try Journal.open("journal", options: options())
        try append(50, to: journal)
        drain(journal)
        try journal.close()
        let again = try Journal.open("journal", options: options())
        try append(50, to: again)
        drain(again)
        try again.close()
        let changes = storage.calls.filter { Self.isTree($0) && ![.open, .read].contains($0.operation) }.map(
            \.operation)
        // A killed writer may have left the last page without its sync.
        let first: [StorageError.Operation] = [.write, .sync, .rename, .write, .sync, .write, .sync]
        #expect(changes == first + [.truncate, .sync, .write, .sync, .write, .sync, .write, .sync])
    }

    @Test func writtenRecordsHavePagesAfterSync() throws {
        let journal = try Journal.open("journal", options: options(.written))
        try append(40, to: journal)
        drain(journal)
        #expect(treeCalls(.open) == 0)
        try journal.synchronize()
        drain(journal)
        #expect(try pageCount(options()) == 2)
        try journal.close()
    }

    @Test func openingBuildsMissingPages() throws {
        let first = try Journal.open("journal", options: options())
        try append(100, to: first)
        drain(first)
        try first.close()
        let right = try #require(storage.base.allContents()["journal/tree"])
        for bytes in [nil, Array(right.prefix(300)), right] {
            if let bytes {
                storage.base.setContents(bytes, of: "journal/tree")
            } else {
                try storage.base.remove("journal/tree")
            }
            let journal = try Journal.open("journal", options: options())
            drain(journal)
            #expect(storage.base.allContents()["journal/tree"] == right)
            try journal.close()
        }
    }

    /// The job of an injected executor writes the pages.
    @Test func executorRunsTheWork() async throws {
        var options = options()
        options.executor = ThreadExecutor()
        let journal = try Journal.open("journal", options: options)
        try append(100, to: journal)
        while try pageCount(options) < 6 { await Task.yield() }
        try journal.close()
    }

    private final class Messages: Sendable {
        let list = Lock<[LogMessage]>([])
    }

    /// A full disk ends the file; the journal continues, and a later page is tried again.
    @Test(arguments: [StorageError.Kind.full, .failed], [StorageError.Operation.write, .open, .truncate])
    func failureIsReportedOnceAndTriedAgain(_ kind: StorageError.Kind, _ operation: StorageError.Operation) throws {
        var options = options()
        let messages = Messages()
        options.log = { message in messages.list.withLock { $0.append(message) } }
        let before = try Journal.open("journal", options: options)
        try append(20, to: before)
        drain(before)
        try before.close()
        let journal = try Journal.open("journal", options: options)
        drain(journal)
        storage.fail(writing: 100) { call in
            call.operation == operation && call.path.hasSuffix("/tree")
                ? StorageError(kind, operation, path: call.path) : nil
        }
        messages.list.withLock { $0 = [] }
        for _ in 0..<4 {
            try append(30, to: journal)
            drain(journal)
        }
        #expect(try journal.treeHead().size == 140)
        let reported = messages.list.withLock { $0 }
        #expect(reported.count == 1 && reported.first?.level == .warning)
        #expect(reported.first?.metadata["code"] == (kind == .full ? "storageFull" : "ioFailed"))
        storage.fail(nil)
        #expect(try pageCount(options) == 1)
        try append(16, to: journal)
        drain(journal)
        #expect(try pageCount(options) == 9)
        try journal.close()
    }

    /// Blocks the first call that a condition selects until the gate opens.
    private final class HeldCall: Sendable {
        private let hasBegun = DispatchSemaphore(value: 0)
        private let gate = DispatchSemaphore(value: 0)
        private let wasHeld = Atomic(false)

        func hold() {
            guard wasHeld.compareExchange(expected: false, desired: true, ordering: .relaxed).exchanged else { return }
            hasBegun.signal()
            gate.wait()
        }

        func waitUntilItIsUnderWay() { hasBegun.wait() }

        func letGo() { gate.signal() }
    }

    /// The lock is not released while a page is being written, and nothing is written afterwards.
    @Test func closeWaitsForThePageThatIsBeingWritten() throws {
        let journal = try Journal.open("journal", options: options())
        let held = HeldCall()
        storage.fail { call in
            if call.operation == .write, Self.isTree(call) { held.hold() }
            return nil
        }
        try append(100, to: journal)
        held.waitUntilItIsUnderWay()
        let closing = DispatchGroup()
        DispatchQueue.global().async(group: closing) {
            do { try journal.close() } catch { Issue.record(error) }
        }
        while !journal.tree.hashes.withLock({ $0.isEnding }) { usleep(100) }
        // The timeout is a lower bound only: on any machine, the close waits for the held write.
        #expect(closing.wait(timeout: .now() + 0.1) == .timedOut)
        #expect(storage.base.isLocked("journal/lock"))
        held.letGo()
        closing.wait()
        let calls = treeCalls()
        journal.treeBackground.drain()
        // The page that was being written.
        #expect(treeCalls() == calls && calls == 1)
        let again = try Journal.open("journal", options: options())
        drain(again)
        #expect(try pageCount(options()) == 6)
        try again.close()
    }

    /// A close does not wait for the records of a page, and the page is not written.
    @Test func closeDoesNotWaitForTheRecordsOfAPage() throws {
        let journal = try Journal.open("journal", options: options())
        let held = HeldCall()
        try append(15, to: journal)
        storage.fail { call in
            // Appends do not read; the background work is the only reader.
            if call.operation == .read, call.path.hasSuffix(".segment") { held.hold() }
            return nil
        }
        try append(85, to: journal)
        held.waitUntilItIsUnderWay()
        try journal.close()
        held.letGo()
        journal.treeBackground.drain()
        #expect(treeCalls() == 0)
    }

    /// After the end of the work no page is due, so that no job schedules the next one.
    @Test func noPageIsDueAfterTheEndOfTheWork() throws {
        var options = options()
        options.executor = SeededExecutor(seed: 1)
        let journal = try Journal.open("journal", options: options)
        try append(100, to: journal)
        #expect(try journal.storeTreePage() == 32)
        journal.endTreeWork()
        #expect(try journal.storeTreePage() == .max)
        try journal.close()
    }

    /// Proofs, appends, erasures and the background work at the same time, in files.
    @Test func proofsAreRightWhileTheTreeIsBuilt() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("journal")
        var small = JournalOptions(segmentSize: 64 << 10)
        small.treeLayout = TreeSpecimen.layout
        small.treePause = .zero
        let options = small
        let journal = try Journal.open(path, options: options)
        let rounds = Repetitions.few(60, of: 1_000)
        let failures = Lock<[String]>([])
        let heads = Lock<[TreeHead]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            var generator = SeededGenerator(UInt64(thread))
            do {
                for round in 0..<rounds {
                    switch thread {
                    case 0:
                        try journal.append(
                            (0..<Int.random(in: 1...50, using: &generator)).map { _ in generator.entry() })
                        try journal.waitUntilDurable(journal.lastPosition)
                    case 1:
                        let last = journal.lastPosition
                        if last > 0, round % 10 == 0 {
                            try journal.eraseContent(of: PositionSet([1...last]), orderedThrough: 1)
                        }
                    default:
                        let source = try thread == 2 ? journal : Journal.openReadOnly(path, options: options)
                        let last = source.durablePosition
                        guard last > 0 else { continue }
                        let (position, old) = (
                            Position.random(in: 1...last, using: &generator),
                            Position.random(in: 0...last, using: &generator)
                        )
                        let proof = try source.inclusionProof(of: position, at: last)
                        try proof.verify(try source.disclosedRecord(at: position).leaf)
                        try source.consistencyProof(from: old, at: last).verify(from: try source.treeHead(at: old))
                        heads.withLock { $0.append(proof.head) }
                    }
                }
            } catch {
                failures.withLock { $0.append("thread \(thread): \(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        drain(journal)
        let last = journal.durablePosition
        var (tree, roots) = (MerkleAccumulator(), [MerkleHash.emptyTree])
        try journal.forEachLeaf(in: 1...last) { _, _, _, _, leaf in
            tree.append(leaf)
            roots.append(tree.root)
            return true
        }
        for head in heads.withLock({ $0 }) { #expect(head.root == roots[Int(head.size)]) }
        #expect(try Journal.openReadOnly(path, options: options).storedTree().size == last / 16 * 16)
        try journal.close()
    }
}
