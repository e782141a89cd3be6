package import MerkleLog

/// Compares the tree of a log's records with an expected head and with the tree file.
///
/// The tree is computed from the records alone: a file that someone has written cannot hide a
/// record that differs.
package struct TreeVerification {
    /// The faults, in journal order.
    package private(set) var findings: [JournalFinding] = []
    /// The expected head, until the root of its size was compared.
    private var expected: TreeHead?
    private let stored: [MerkleHash]
    private let layout: TreeLayout
    private var tree = MerkleAccumulator()
    private var subtree = MerkleAccumulator()

    /// Reads the stored hashes, and compares the expected head as far as no record is needed.
    ///
    /// - Parameter expected: The head that the tree must have at its size, if any.
    package init(_ log: some RecordTreeLog, expecting expected: TreeHead?) {
        (stored, layout) = (log.storedTree().lowest, log.tree.layout)
        guard let expected else { return }
        let (origin, last) = (log.treeOrigin, log.durablePosition)
        if expected.origin != origin {
            addHeadMismatch("The checkpoint is of another log: '\(expected.origin)', not '\(origin)'.")
        } else if expected.size > last {
            addHeadMismatch(
                "The journal ends at position \(last), before the size of the checkpoint, \(expected.size).",
                last + 1...expected.size)
        } else {
            self.expected = expected
            compareRoot()
        }
    }

    /// Adds the leaf of the next record.
    package mutating func add(_ leaf: MerkleHash) {
        tree.append(leaf)
        compareRoot()
        subtree.append(leaf)
        guard subtree.size == layout.recordsPerSubtree else { return }
        let index = Int(tree.size / layout.recordsPerSubtree) - 1
        if index < stored.count, stored[index] != subtree.root { addDifference(atSubtree: index) }
        subtree = MerkleAccumulator()
    }

    private mutating func compareRoot() {
        guard let expected, expected.size == tree.size else { return }
        if expected.root != tree.root {
            addHeadMismatch("The events are not those of the checkpoint.", min(1, expected.size)...expected.size)
        }
    }

    private mutating func addHeadMismatch(_ message: String, _ positions: ClosedRange<Position>? = nil) {
        findings.append(JournalFinding(JournalError.Code.headMismatch.rawValue, message, positions: positions))
    }

    /// Adds a finding for the page of a subtree, unless it has one.
    private mutating func addDifference(atSubtree index: Int) {
        let page = Position(index / layout.hashesPerPage)
        let positions = page * layout.recordsPerPage + 1...(page + 1) * layout.recordsPerPage
        if findings.last?.positions == positions { return }
        findings.append(
            JournalFinding(
                "treeDiffers",
                "the tree file and the records differ, so proofs of this journal do not verify; remove the file, and the next writer builds it "
                    + "again",
                segment: JournalFileName.tree, positions: positions))
    }
}
