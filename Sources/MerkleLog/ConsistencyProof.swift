/// A proof that a log only grew between two heads: the later tree begins with the earlier one.
///
/// The text form is the body of the request *add-checkpoint* of C2SP *tlog-witness*:
///
///     old 20
///     HASH
///     ...
///
///     chat-journal/ID
///     40
///     ROOT
///
/// The checkpoint is that of the later head; signature lines may follow it. The earlier head is the
/// one that the verifier holds.
public struct ConsistencyProof: Hashable, Sendable {
    /// The size of the earlier tree.
    public let oldSize: UInt64
    /// The hashes of RFC 6962 section 2.1.2.
    public let hashes: [MerkleHash]
    /// The head of the later tree.
    public let head: TreeHead

    /// Creates a proof from its parts; ``verify(from:)`` checks them.
    public init(oldSize: UInt64, hashes: [MerkleHash], head: TreeHead) {
        self.oldSize = oldSize
        self.hashes = hashes
        self.head = head
    }

    /// Verifies that the tree of ``head`` begins with the tree of an earlier head.
    ///
    /// A consistency proof binds the roots, and the size of the earlier head. It does not bind the
    /// size of the later one: trees of several sizes can have proofs of the same form. Take
    /// ``head`` from a source that you trust, or compare it with a head that you trust.
    ///
    /// - Throws: ``ProofError``.
    /// - Complexity: O(log *n*) in the size of the tree.
    public func verify(from old: TreeHead) throws(ProofError) {
        guard old.origin == head.origin else {
            throw ProofError("The proof is about another log: '\(head.origin)', not '\(old.origin)'.")
        }
        guard old.size == oldSize else {
            throw ProofError("The proof is from size \(oldSize), and the earlier head has size \(old.size).")
        }
        guard oldSize <= head.size else {
            throw ProofError("The earlier size \(oldSize) exceeds the later size \(head.size).")
        }
        guard oldSize > 0 || old.root == .emptyTree else {
            throw ProofError("The earlier head of size 0 has a wrong root.")
        }
        if oldSize == 0 || oldSize == head.size {
            guard hashes.isEmpty else {
                throw ProofError("The proof from size \(oldSize) to size \(head.size) has hashes.")
            }
            guard oldSize < head.size || old.root == head.root else {
                throw ProofError("The two heads of size \(oldSize) have different roots.")
            }
            return
        }
        guard let roots = Self.roots(old.root, oldSize, head.size, hashes) else {
            throw ProofError(
                "The number of hashes, \(hashes.count), is not that for the sizes \(oldSize) and \(head.size).")
        }
        guard roots.old == old.root else { throw ProofError("The hashes do not lead to the root of the earlier head.") }
        guard roots.new == head.root else { throw ProofError("The hashes do not lead to the root of the later head.") }
    }

    /// Returns the roots that a path leads to (RFC 9162 section 2.1.4.2).
    ///
    /// Returns nil if the path does not have the length for the sizes.
    ///
    /// - Parameter first: The root of the earlier tree, with which the path of a power of two
    ///   begins.
    /// - Precondition: `oldSize` is at least 1 and less than `size`.
    package static func roots(
        _ first: MerkleHash, _ oldSize: UInt64, _ size: UInt64, _ path: [MerkleHash]
    ) -> (old: MerkleHash, new: MerkleHash)? {
        precondition(1 <= oldSize && oldSize < size)
        let path = oldSize & (oldSize - 1) == 0 ? [first] + path : path
        guard let seed = path.first else { return nil }
        // The numbers of the earlier tree's last node and of the later tree's last node on the
        // present level.
        var (node, last) = (oldSize - 1, size - 1)
        while node & 1 == 1 { (node, last) = (node >> 1, last >> 1) }
        var (old, new) = (seed, seed)
        for hash in path.dropFirst() {
            guard last > 0 else { return nil }
            if node & 1 == 1 || node == last {
                old = .node(hash, old)
                new = .node(hash, new)
                while node & 1 == 0 && node > 0 { (node, last) = (node >> 1, last >> 1) }
            } else {
                new = .node(new, hash)
            }
            (node, last) = (node >> 1, last >> 1)
        }
        return last == 0 ? (old, new) : nil
    }

    /// The body of add-checkpoint, with the checkpoint without signatures.
    public var text: String { "old \(oldSize)\n" + hashes.map { "\($0.base64)\n" }.joined() + "\n" + head.text }

    /// Parses the body of add-checkpoint.
    ///
    /// - Throws: ``ProofTextError`` with the line that is not as the format requires.
    public init(parsing text: String) throws(ProofTextError) {
        var lines = try ProofText(text)
        oldSize = try lines.number(after: "old", "the earlier size")
        hashes = try lines.hashes()
        head = try TreeHead(parsing: &lines)
    }
}
