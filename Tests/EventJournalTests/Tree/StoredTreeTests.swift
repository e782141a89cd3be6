import ChatTesting
import Dispatch
import Foundation
import Locking
import MerkleLog
import Primitives
import StubRewriter
import TestSupport
import Testing

@testable import EventJournal

/// The tree file: it changes no answer, whatever bytes it has, and is built again when it is not
/// right.
@Suite struct StoredTreeTests {
    @Test func headsAndProofsWithFileEqualThoseWithout() throws {
        let specimen = try TreeSpecimen()
        let limit = Repetitions.few(300, of: 2_000)
        while specimen.size < limit {
            try specimen.grow(to: min(limit, specimen.size + 1 + specimen.size / 8))
            try specimen.storePages()
            try specimen.checkFile()
            try specimen.check(specimen.journal, proofs: 5)
            try specimen.check(try specimen.reader(), proofs: 5)
        }
        for size in 0...limit {
            #expect(try specimen.journal.treeHead(at: Position(size)).root == specimen.root(size), "size \(size)")
        }
        try specimen.reopen()
        try specimen.check(specimen.journal, proofs: 200)
        try specimen.journal.close()
    }

    /// Every proof of every size, with rows of three heights.
    @Test func allProofsVerify() throws {
        let specimen = try TreeSpecimen()
        let limit = Repetitions.few(70, of: 150)
        try specimen.grow(to: limit)
        try specimen.storePages()
        let reader = try specimen.reader()
        let heads = (0...limit).map { TreeHead(origin: reader.treeOrigin, size: UInt64($0), root: specimen.root($0)) }
        for at in 1...limit {
            for index in 0..<at {
                let proof = try reader.inclusionProof(of: Position(index + 1), at: Position(at))
                #expect(proof.head == heads[at])
                try proof.verify(specimen.leaves[index])
            }
            for old in 0...at {
                let growth = try reader.consistencyProof(from: Position(old), at: Position(at))
                #expect(growth.head == heads[at])
                try growth.verify(from: heads[old])
            }
        }
        try specimen.journal.close()
    }

    /// With the file, a head and a proof read the records of at most two subtrees.
    @Test func storedPagesAreNotReadFromRecords() throws {
        let specimen = try TreeSpecimen()
        try specimen.grow(to: 512)
        try specimen.storePages()
        try specimen.journal.close()
        // The records of the first subtrees no longer have the hashes of the file.
        var contents = specimen.storage.allContents()
        let first = try #require(contents.keys.filter { $0.hasSuffix(".segment") }.min())
        contents[first]?[200] ^= 1
        specimen.storage.setContents(try #require(contents[first]), of: first)
        let reader = try specimen.reader()
        #expect(try reader.treeHead().root == specimen.root(512))
        #expect(try reader.consistencyProof(from: 256, at: 512).head.root == specimen.root(512))
        #expect(journalError { _ = try reader.inclusionProof(of: 1, at: 512) }?.code == .damaged)
    }

    @Test func fileTruncatedAtAnyLengthChangesNoAnswer() throws {
        try checkWithChangedFile { bytes in Repetitions.oneIn(6, of: 0..<bytes.count).map { Array(bytes.prefix($0)) } }
    }

    @Test func fileWithAnyFlippedBitChangesNoAnswer() throws {
        try checkWithChangedFile { bytes in
            Repetitions.oneIn(42, of: 0..<8 * bytes.count).map { bit in
                var bytes = bytes
                bytes[bit / 8] ^= 1 << (bit % 8)
                return bytes
            }
        }
    }

    @Test func filesOfOtherFormsChangeNoAnswer() throws {
        try checkWithChangedFile { bytes in
            let page = TreeSpecimen.layout.pageSize
            let (header, first, second, rest) = (
                bytes.prefix(32), bytes[32..<32 + page], bytes[32 + page..<32 + 2 * page], bytes[(32 + 2 * page)...]
            )
            var newer = Array(bytes)
            newer[8] = 2
            newer.store(newer.withBytes(0..<28) { CRC32C.checksum(of: $0) }, at: 28)
            return [
                [], Array(header + second + first + rest), Array(header + first + first + second + rest),
                Array(header + second + rest),
                Array(header + rest), Array(bytes + bytes), Array(bytes + [UInt8](repeating: 0, count: 3 * page)),
                newer,
                [UInt8](repeating: 0, count: bytes.count), [UInt8](repeating: 0xFF, count: bytes.count),
            ]
        }
    }

    /// Readers, and a writer, with the changed files; after the writer the file is right again.
    private func checkWithChangedFile(_ change: ([UInt8]) -> [[UInt8]]) throws {
        let specimen = try TreeSpecimen()
        try specimen.grow(to: 55)
        try specimen.storePages()
        try specimen.journal.close()
        let right = try #require(specimen.tree)
        #expect(right.count == 32 + 3 * TreeSpecimen.layout.pageSize)
        let original = specimen.storage.copy()
        for (number, bytes) in change(right).enumerated() {
            let storage = original.copy()
            storage.setContents(bytes, of: TreeSpecimen.treePath)
            specimen.options.storage = storage
            try specimen.check(try specimen.reader(), proofs: 1, "file \(number)")
            // A reader writes nothing.
            #expect(specimen.tree == bytes)
            let writer = try Journal.open(TreeSpecimen.path, options: specimen.options)
            try specimen.check(writer, proofs: 1, "file \(number)")
            try TreeSpecimen.storePages(of: writer)
            try writer.close()
            // What follows the last page is removed when the next page is written.
            #expect(try #require(specimen.tree).starts(with: right), "file \(number)")
            try specimen.check(try specimen.reader(), proofs: 1, "file \(number)")
        }
    }

    /// The tree files of a later state, and of other histories, beside an earlier state.
    @Test func staleFileChangesNoAnswer() throws {
        let specimen = try TreeSpecimen()
        var trees: [[UInt8]] = []
        try specimen.grow(to: 40)
        try specimen.storePages()
        try specimen.journal.synchronize()
        let early = specimen.storage.copy()
        let leaves = specimen.leaves
        try specimen.grow(to: 100)
        try specimen.storePages()
        trees.append(try #require(specimen.tree))
        try specimen.journal.close()
        // Another history of the same journal, and another journal.
        let diverged = try TreeSpecimen(early.copy())
        try diverged.journal.append((0..<70).map { Entry("\($0)", "other") })
        try diverged.journal.waitUntilDurable(110)
        try diverged.storePages()
        trees.append(try #require(diverged.tree))
        try diverged.journal.close()
        let other = try TreeSpecimen()
        try other.grow(to: 100)
        try other.storePages()
        trees.append(try #require(other.tree))
        try other.journal.close()
        for (number, tree) in trees.enumerated() {
            let storage = early.copy()
            storage.setContents(tree, of: TreeSpecimen.treePath)
            specimen.options.storage = storage
            let reader = try specimen.reader()
            for size in 0...40 {
                var expected = MerkleAccumulator()
                for leaf in leaves.prefix(size) { expected.append(leaf) }
                #expect(try reader.treeHead(at: Position(size)).root == expected.root, "file \(number)")
            }
            // The earlier state grows in another way than before, beyond the pages of the file.
            let writer = try Journal.open(TreeSpecimen.path, options: specimen.options)
            try writer.append((0..<100).map { Entry("\($0)", "new") })
            try writer.waitUntilDurable(140)
            try TreeSpecimen.storePages(of: writer)
            var expected = MerkleAccumulator()
            for position in 1...140 { expected.append(try writer.disclosedRecord(at: Position(position)).leaf) }
            #expect(try writer.treeHead().root == expected.root, "file \(number)")
            try writer.close()
            let again = try specimen.reader()
            #expect(try again.treeHead().root == expected.root, "file \(number)")
            #expect(again.storedTree().size == 128, "file \(number)")
        }
    }

    /// A later history grows in the place of a lost one, while the file still has the lost one's
    /// pages.
    @Test func grownHistoryIsNotThatOfTheFile() throws {
        let specimen = try TreeSpecimen()
        try specimen.grow(to: 40)
        let early = specimen.storage.copy()
        try specimen.grow(to: 100)
        try specimen.storePages()
        let tree = try #require(specimen.tree)
        try specimen.journal.close()
        specimen.options.storage = early
        let writer = try Journal.open(TreeSpecimen.path, options: specimen.options)
        try writer.append((0..<100).map { Entry("\($0)", "new") })
        try writer.waitUntilDurable(140)
        early.setContents(tree, of: TreeSpecimen.treePath)
        var expected = MerkleAccumulator()
        for position in 1...140 { expected.append(try writer.disclosedRecord(at: Position(position)).leaf) }
        #expect(try specimen.reader().treeHead().root == expected.root)
        #expect(try writer.treeHead().root == expected.root)
        try writer.close()
    }

    /// A page has synced records only.
    @Test func unsyncedRecordsHaveNoPage() throws {
        // One segment, because a rotation syncs.
        let specimen = try TreeSpecimen(durability: .written, segmentSize: 1 << 20)
        try specimen.grow(to: 40)
        try specimen.storePages()
        #expect(specimen.tree == nil)
        try specimen.check(specimen.journal)
        try specimen.journal.synchronize()
        try specimen.storePages()
        try specimen.checkFile()
        try specimen.grow(to: 60)
        try specimen.storePages()
        #expect(try #require(specimen.tree).count == 32 + 2 * TreeSpecimen.layout.pageSize)
        try specimen.journal.close()
    }

    /// The commit of a page's last record can end after the page.
    @Test func pagesEndInsideCommits() throws {
        let specimen = try TreeSpecimen()
        for count in [15, 20, 50, 1, 16, 2] {
            try specimen.append(count)
            try specimen.storePages()
            try specimen.checkFile()
        }
        try specimen.journal.close()
    }

    @Test func readerBesideWriterUsesGrowingFile() throws {
        let specimen = try TreeSpecimen()
        try specimen.grow(to: 20)
        let reader = try specimen.reader()
        try specimen.check(reader)
        for size in stride(from: 30, through: 150, by: 30) {
            try specimen.grow(to: size)
            try specimen.storePages()
            // The file has pages beyond what this reader knows.
            #expect(try reader.treeHead().size == UInt64(size - 30 == 0 ? 20 : max(20, size - 30)))
            let late = try specimen.reader()
            try reader.refresh()
            try specimen.check(reader)
            try specimen.check(late)
        }
        try specimen.journal.close()
    }

    @Test func readerOfAnEarlierStateUsesItsPages() throws {
        let specimen = try TreeSpecimen()
        try specimen.grow(to: 40)
        let reader = try specimen.reader()
        try specimen.grow(to: 100)
        try specimen.storePages()
        #expect(reader.storedTree().size == 32)
        #expect(try reader.treeHead().root == specimen.root(40))
        try specimen.journal.close()
    }

    @Test func erasureChangesNoPage() throws {
        let specimen = try TreeSpecimen()
        try specimen.grow(to: 50)
        try specimen.journal.eraseContent(of: PositionSet([3...20]), orderedThrough: 1)
        try specimen.storePages()
        try specimen.checkFile()
        let tree = specimen.tree
        try specimen.journal.eraseContent(of: PositionSet([1...45]), orderedThrough: 2)
        #expect(specimen.tree == tree)
        try specimen.check(specimen.journal)
        try specimen.reopen()
        try specimen.storePages()
        #expect(specimen.tree == tree)
        try specimen.grow(to: 80)
        try specimen.storePages()
        try specimen.checkFile()
        try specimen.check(specimen.journal)
        try specimen.journal.close()
    }

    @Test func backupHasNoTreeFile() throws {
        let specimen = try TreeSpecimen()
        try specimen.grow(to: 50)
        try specimen.storePages()
        try specimen.journal.backup(to: "copy", upTo: nil)
        #expect(specimen.tree != nil && !specimen.storage.allContents().keys.contains("copy/tree"))
        try specimen.journal.close()
    }

    /// The last page of a copy's tree file is torn, because a writer was interrupted.
    ///
    /// Backups do not build the file again.
    @Test func copyWithATornLastPageIsSound() throws {
        let specimen = try TreeSpecimen()
        try specimen.grow(to: 50)
        try specimen.journal.backup(to: "copy", upTo: nil)
        let copy = try Journal.open("copy", options: specimen.options)
        try TreeSpecimen.storePages(of: copy)
        try copy.close()
        let whole = try #require(specimen.storage.allContents()["copy/tree"])
        let last = 32 + 2 * TreeSpecimen.layout.pageSize
        #expect(whole.count == last + TreeSpecimen.layout.pageSize)
        try specimen.grow(to: 60)
        for torn in [last..<last + 9, last + 9..<whole.count, last..<whole.count] {
            var bytes = whole
            bytes.replaceSubrange(torn, with: repeatElement(0, count: torn.count))
            specimen.storage.setContents(bytes, of: "copy/tree")
            try specimen.journal.backup(to: "copy", upTo: nil)
            let reader = try Journal.openReadOnly("copy", options: specimen.options)
            #expect(reader.storedTreeFindings() == [], "\(torn)")
            #expect(try reader.treeHead().root == specimen.root(60))
        }
        try specimen.journal.close()
    }

    /// An edited page with a right CRC gives wrong answers, which a verification finds.
    @Test func verificationFindsForgedPages() throws {
        let specimen = try TreeSpecimen()
        try specimen.grow(to: 100)
        try specimen.storePages()
        try specimen.journal.close()
        let right = try #require(specimen.tree)
        func findings(_ expected: TreeHead?) throws -> [JournalFinding] {
            let journal = try specimen.reader()
            var verification = TreeVerification(journal, expecting: expected)
            try journal.forEachLeaf(in: 1...100) { _, _, _, _, leaf in
                verification.add(leaf)
                return true
            }
            return verification.findings
        }
        let head = try specimen.reader().treeHead()
        #expect(try findings(head).isEmpty)
        // The second hash of the third page is another one.
        let storage = TreeFile(
            JournalDirectory(TreeSpecimen.path, specimen.storage), head.origin.journal, TreeSpecimen.layout)
        var pages = storage.pages(through: 100)
        pages[2].hashes[1] = .emptyTree
        var (bytes, checksum) = (Array(right.prefix(32)), TreePage.storedChecksum(of: Array(right.prefix(32))))
        for page in pages {
            bytes += page.encoded(after: checksum)
            checksum = TreePage.storedChecksum(of: bytes)
        }
        specimen.storage.setContents(bytes, of: TreeSpecimen.treePath)
        #expect(try specimen.reader().treeHead() != head)
        #expect(try findings(head).map(\.problem) == ["treeDiffers"])
        let finding = try #require(try findings(nil).first)
        #expect(finding.positions == 33...48 && finding.segment == "tree")
        // The root is that of the records.
        let forged = try specimen.reader().treeHead()
        #expect(try findings(forged).map(\.problem).sorted() == ["headMismatch", "treeDiffers"])
    }
}

extension String {
    /// The journal id of the origin of a head.
    fileprivate var journal: JournalID { JournalID(dropFirst("chat-journal/".count).description) ?? JournalID(bits: 0) }
}
