internal import Primitives

/// A proof that an entry is in a log: the hashes that lead from its leaf to the root of a head.
///
/// The text form is a *tlog-proof* of C2SP, version 1:
///
///     c2sp.org/tlog-proof@v1
///     extra LEAF
///     index 11
///     HASH
///     ...
///
///     chat-journal/ID
///     40
///     ROOT
///
/// The line `extra` is optional; a journal writes the hash of the leaf there. The hashes begin with
/// the sibling of the leaf and end with the child of the root. The text of the tree head, which C2SP
/// calls a checkpoint, ends it; signature lines may follow it.
public struct InclusionProof: Hashable, Sendable {
    /// The index of the entry, from 0: its position less 1.
    public let index: UInt64
    /// The hashes of RFC 6962 section 2.1.1, from the leaf's sibling to the root's child.
    public let hashes: [MerkleHash]
    /// The head of the tree that the entry is in.
    public let head: TreeHead

    /// Data beside the proof, which ``verify(_:)`` ignores; empty if the proof has none.
    ///
    /// In a proof of a journal it is the hash of the leaf.
    public let extra: [UInt8]

    /// Creates a proof from its parts; ``verify(_:)`` checks them.
    public init(index: UInt64, hashes: [MerkleHash], head: TreeHead, extra: [UInt8] = []) {
        self.index = index
        self.hashes = hashes
        self.head = head
        self.extra = extra
    }

    /// The position of the entry in the journal; 0 for an index that no journal has.
    public var position: UInt64 { index &+ 1 }

    /// Verifies that the tree of ``head`` has a leaf at ``index``.
    ///
    /// Also compare ``head`` with one that you trust: a proof with a head of its own proves nothing
    /// about your log.
    ///
    /// - Throws: ``ProofError``.
    /// - Complexity: O(log *n*) in the size of the tree.
    public func verify(_ leaf: MerkleHash) throws(ProofError) {
        guard index < head.size else { throw ProofError("The index \(index) is not less than the size \(head.size).") }
        guard let root = Self.root(leaf, at: index, in: head.size, hashes) else {
            throw ProofError(
                "The number of hashes, \(hashes.count), is not that for the index \(index) and the size \(head.size).")
        }
        guard root == head.root else {
            throw ProofError("The leaf is not in the tree: the hashes lead to another root.")
        }
    }

    /// Returns the root that a leaf and a path lead to (RFC 9162 section 2.1.3.2).
    ///
    /// Returns nil if the path does not have the length for the index and the size.
    package static func root(_ leaf: MerkleHash, at index: UInt64, in size: UInt64, _ path: [MerkleHash]) -> MerkleHash?
    {
        guard index < size else { return nil }
        // The numbers of the node and of the last node on the present level.
        var (node, last, root) = (index, size - 1, leaf)
        for hash in path {
            guard last > 0 else { return nil }
            if node & 1 == 1 || node == last {
                root = .node(hash, root)
                // A last node without a sibling is also the node of the levels above.
                while node & 1 == 0 && node > 0 { (node, last) = (node >> 1, last >> 1) }
            } else {
                root = .node(root, hash)
            }
            (node, last) = (node >> 1, last >> 1)
        }
        return last == 0 ? root : nil
    }

    /// The tlog-proof, with the checkpoint without signatures.
    public var text: String {
        let first = extra.isEmpty ? "" : "extra \(Base64.text(of: extra))\n"
        return "\(Self.title)\n\(first)index \(index)\n" + hashes.map { "\($0.base64)\n" }.joined() + "\n" + head.text
    }

    /// Parses a tlog-proof.
    ///
    /// The form of signatures is checked, and they are otherwise ignored.
    ///
    /// - Throws: ``ProofTextError`` with the line that is not as the format requires.
    public init(parsing text: String) throws(ProofTextError) {
        var lines = try ProofText(text)
        guard try lines.next("the title") == Self.title else {
            throw lines.error("the title '\(Self.title)' is expected")
        }
        if lines.nextWord == "extra" {
            extra = try lines.bytes(after: "extra")
            guard !extra.isEmpty else { throw lines.error("the data after 'extra' is missing") }
        } else {
            extra = []
        }
        index = try lines.number(after: "index", "the index")
        hashes = try lines.hashes()
        head = try TreeHead(parsing: &lines)
    }

    /// The first line of the text form.
    package static let title = "c2sp.org/tlog-proof@v1"
}
