import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import MerkleLog
import StubRewriter
import TestSupport
import Testing

@testable import Chat

/// The files that are computed from the records: checkpoints, and the hashes of the tree.
@Suite struct DerivedFilesTests {
    private static let thread = ThreadID(bits: 7)
    private static let ann = UserID(bits: 1)

    /// Options with pages of 16 records, and with an executor that runs no job.
    private func options() -> StoreOptions {
        var options = StoreFixture(segmentSize: 8_192).options
        options.journal.executor = SeededExecutor(seed: 1)
        options.journal.treeLayout = TreeLayout(subtreeHeight: 2, pageHeight: 4)
        options.checkpoints = .loadingOnly
        return options
    }

    private func post(_ count: Int, _ store: ChatStore) throws {
        for number in 0..<count {
            try store.executeBlocking(.postMessage(thread: Self.thread, body: "text \(number)", by: Self.ann))
        }
    }

    private func fill(_ options: StoreOptions, messages: Int) throws {
        let store = try ChatStore.open("journal", options: options)
        try store.executeBlocking(.registerUser(id: Self.ann, username: "Ann"))
        try store.executeBlocking(.openThread(id: Self.thread, name: "Garden", by: Self.ann))
        try post(messages, store)
        try store.writeCheckpoint()
        try store.close()
    }

    private func pageCount(_ options: StoreOptions) throws -> Int {
        let journal = try Journal.openReadOnly("journal", options: options.journal)
        return Int(journal.storedTree().size / 16)
    }

    // MARK: Short runs

    /// Every run stores the pages that it has completed, and one more: no number of short runs
    /// leaves the file behind.
    @Test func shortRunsStoreTheTree() throws {
        let options = options()
        try fill(options, messages: 200)
        if try options.journal.storage.kind(of: "journal/tree") != nil {
            try options.journal.storage.remove("journal/tree")
        }
        var missing = 13
        for _ in 0..<30 {
            let store = try ChatStore.open("journal", options: options)
            try post(7, store)
            let last = Int(store.head.position)
            try store.close()
            let stored = try pageCount(options)
            #expect(last / 16 - stored < missing || stored == last / 16)
            missing = last / 16 - stored
        }
        #expect(missing == 0)
        #expect(try ChatStore.verify("journal", options: options.journal, deep: true).findings == [])
    }

    // MARK: Wrong checksums

    /// A flipped bit of a checkpoint is a finding of the deep verification, and of no other.
    @Test func damagedCheckpointIsAFinding() throws {
        let options = options()
        try fill(options, messages: 20)
        let storage = options.journal.storage
        let name = CheckpointFixture.fileName
        let bytes = try storage.contents(of: "journal/" + name)
        for offset in Repetitions.oneIn(97, of: bytes.indices) + [bytes.count - 1] {
            var damaged = bytes
            damaged[offset] ^= 1 << UInt8(offset % 8)
            try storage.replace(name, in: "journal", with: damaged)
            #expect(try ChatStore.verify("journal", options: options.journal).findings == [])
            let findings = try ChatStore.verify("journal", options: options.journal, deep: true).findings
            #expect(
                findings.map(\.problem) == ["checkpointDamaged"] && findings.first?.segment == name,
                "byte \(offset): \(findings)")
            #expect(findings.first?.isRebuildable == true)
        }
        try storage.replace(name, in: "journal", with: Array(bytes.dropLast()))
        #expect(
            try ChatStore.verify("journal", options: options.journal, deep: true).findings.map(\.problem) == [
                "checkpointDamaged"
            ])
        // Another projection's file is checked too.
        try storage.replace(name, in: "journal", with: bytes)
        try storage.replace("other.checkpoint", in: "journal", with: [1, 2, 3])
        let findings = try ChatStore.verify("journal", options: options.journal, deep: true).findings
        #expect(findings.map(\.segment) == ["other.checkpoint"])
    }

    /// A checkpoint that an opening ignores for another reason than damage is no fault.
    @Test func outdatedCheckpointIsNoFinding() throws {
        let options = options()
        try fill(options, messages: 20)
        let storage = options.journal.storage
        let bytes = try storage.contents(of: "journal/" + CheckpointFixture.fileName)
        let store = try ChatStore.open("journal", options: options)
        try store.eraseContent(of: PositionSet([5...5]), reason: "spam")
        try store.close()
        try storage.replace(CheckpointFixture.fileName, in: "journal", with: bytes)
        #expect(try ChatStore.verify("journal", options: options.journal, deep: true).findings == [])
    }

    /// A flipped bit of the tree file is a finding of the deep verification, unless a power failure
    /// can leave the same.
    @Test func damagedTreeIsAFinding() throws {
        let options = options()
        try fill(options, messages: 80)
        let storage = options.journal.storage
        let journal = try Journal.open("journal", options: options.journal)
        while try journal.storeTreePage() <= journal.durablePosition {}
        try journal.close()
        let bytes = try storage.contents(of: "journal/tree")
        let page = TreeLayout(subtreeHeight: 2, pageHeight: 4).pageSize
        #expect((bytes.count - 32) / page == 5)
        let last = bytes.count - page
        for offset in Repetitions.oneIn(13, of: 0..<last) + [0, 32, last - 1] {
            var damaged = bytes
            damaged[offset] ^= 1 << UInt8(offset % 8)
            try storage.replace("tree", in: "journal", with: damaged)
            let findings = try ChatStore.verify("journal", options: options.journal, deep: true).findings
            #expect(
                findings.map(\.problem) == ["treeDamaged"] && findings.first?.segment == "tree",
                "byte \(offset): \(findings)")
            #expect(findings.first?.isRebuildable == true && findings.first?.bytes?.contains(UInt64(offset)) == true)
        }
        // The first page is written before the file has its name.
        var single = Array(bytes.prefix(32 + page))
        single[40] ^= 1
        try storage.replace("tree", in: "journal", with: single)
        #expect(
            try ChatStore.verify("journal", options: options.journal, deep: true).findings.map(\.problem) == [
                "treeDamaged"
            ])
        // A torn last page and a file that ends early are what a power failure leaves.
        for offset in [last, bytes.count - 1] {
            var torn = bytes
            torn[offset] ^= 1
            try storage.replace("tree", in: "journal", with: torn)
            #expect(
                try ChatStore.verify("journal", options: options.journal, deep: true).findings == [], "byte \(offset)")
        }
        for count in [0, 20, 32, 40, 32 + page, 32 + page + 9] {
            try storage.replace("tree", in: "journal", with: Array(bytes.prefix(count)))
            #expect(
                try ChatStore.verify("journal", options: options.journal, deep: true).findings == [], "\(count) bytes")
        }
        // The next run writes the file again.
        var damaged = bytes
        damaged[32 + 2 * page] ^= 1
        try storage.replace("tree", in: "journal", with: damaged)
        for _ in 0..<5 { try ChatStore.open("journal", options: options).close() }
        #expect(try storage.contents(of: "journal/tree") == bytes)
    }
}
