/// The head of a log's Merkle tree: its origin, its size and the hash of its root.
///
/// A reader who holds a head can verify later that an entry is in the log (``InclusionProof``), and
/// that a later head has the same entries up to this one (``ConsistencyProof``). A head is a claim,
/// not a signature: sign ``text`` with an outside tool.
///
/// The text form is a *tlog-checkpoint* of C2SP: three lines with the origin, the size in decimal
/// and the root in standard base64, each ended by a line feed.
public struct TreeHead: Hashable, Sendable {
    /// The name of the log: `chat-journal/` and the id of the journal.
    public let origin: String
    /// The number of entries, which is the position of the last one.
    public let size: UInt64
    /// The hash of the tree of these entries.
    public let root: MerkleHash

    /// Creates a head from its parts.
    ///
    /// - Precondition: `origin` is not empty and has no control characters.
    public init(origin: String, size: UInt64, root: MerkleHash) {
        precondition(ProofText.isOrigin(origin), "The origin is empty or has control characters.")
        self.origin = origin
        self.size = size
        self.root = root
    }

    /// The checkpoint, without signatures.
    public var text: String { "\(origin)\n\(size)\n\(root.base64)\n" }

    /// Parses a checkpoint, with or without signatures.
    ///
    /// Extension lines after the third line, and signature lines after an empty line, are checked
    /// for their form and otherwise ignored. Outside tools verify signatures.
    ///
    /// - Throws: ``ProofTextError`` with the line that is not as the format requires: each number
    ///   and each base64 has one form only.
    public init(parsing text: String) throws(ProofTextError) {
        var lines = try ProofText(text)
        try self.init(parsing: &lines)
    }

    /// Parses the rest of a text as a checkpoint.
    init(parsing lines: inout ProofText) throws(ProofTextError) {
        origin = try lines.next("the origin")
        guard ProofText.isOrigin(origin) else { throw lines.error("the origin is empty") }
        size = try lines.number("the size")
        root = try lines.hash("the root")
        guard size > 0 || root == .emptyTree else {
            throw lines.error("the root of size 0 is not that of the empty tree")
        }
        while let line = lines.nextIfAny(), !line.isEmpty {
            guard !line.hasPrefix("\u{2014} ") else { throw lines.error("no empty line precedes the signatures") }
        }
        guard lines.endedWithEmptyLine else { return }
        repeat { try lines.signature() } while !lines.isAtEnd
    }
}
