package import MerkleLog

/// Compares the tree of a journal's records with an expected head and with the tree file.
///
/// The tree is computed from the records alone: a file that someone has written cannot hide a record
/// that differs.
package struct TreeVerification {
    /// The faults, in journal order.
    package private(set) var findings: [JournalFinding] = []
    /// The expected head, until the root of its size was compared.
    private var expected: TreeHead?
    private let stored: [MerkleHash]
    private let layout: TreeLayout
    private var tree = MerkleAccumulator()
    private var subtree = MerkleAccumulator()

    /// Reads the tree file, and compares the expected head as far as no record is needed.
    ///
    /// - Parameter expected: The head that the tree must have at its size, if any.
    package init(_ journal: Journal, expecting expected: TreeHead?) {
        (stored, layout) = (journal.storedTree().lowest, journal.treeLayout)
        guard let expected else { return }
        let (origin, last) = (journal.treeOrigin, journal.durablePosition)
        if expected.origin != origin {
            addHeadMismatch("The checkpoint is of another log: '\(expected.origin)', not '\(origin)'.")
        } else if expected.size > last {
            addHeadMismatch(
                "The journal ends at position \(last), before the size of the checkpoint, \(expected.size).", last + 1...expected.size)
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
                segment: DirectoryListing.treeName, positions: positions))
    }
}

extension Journal {
    /// Calls a closure with each record in a range of positions and its leaf in the tree.
    ///
    /// Otherwise the same as ``forEachRecord(in:_:)``, for a caller that does not change
    /// ``hiddenContent`` meanwhile.
    package func forEachLeaf(
        in positions: ClosedRange<Position>,
        _ body: (_ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan, _ leaf: MerkleHash) -> Bool
    ) throws(JournalError) {
        let hidden = hiddenContent
        try forEachRecordContent(in: positions) { position, state, kept, content in
            let leaf = MerkleHash(leafOf: state, kept: kept, content: content)
            guard state == .whole else { return body(position, state, kept, content.extracting(0..<0), leaf) }
            let erasable = content.extracting(JournalLimits.recordSaltByteCount...)
            // As in a file, a record without content has nothing to erase.
            let isHidden = !erasable.isEmpty && hidden.contains(position)
            return body(position, isHidden ? .erased : .whole, kept, isHidden ? erasable.extracting(0..<0) : erasable, leaf)
        }
    }
}
