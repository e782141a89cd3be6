package import Primitives

/// The 32 bytes of a SHA-256 digest: the hash of a leaf, of a subtree or of a whole tree.
///
/// Leaves and inner nodes are hashed as in RFC 6962 section 2.1, with different first bytes, so
/// that no entry has the hash of a node.
public struct MerkleHash: Hashable, Sendable {
    /// The number of bytes.
    public static let byteCount = 32

    // Words instead of an array: a tree has one hash for each record.
    private var words: (UInt64, UInt64, UInt64, UInt64)

    /// Creates a hash from its 32 bytes; nil for another number of bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == Self.byteCount else { return nil }
        func word(_ index: Int) -> UInt64 { bytes[8 * index..<8 * index + 8].reduce(0) { $0 << 8 | UInt64($1) } }
        words = (word(0), word(1), word(2), word(3))
    }

    /// Parses the canonical standard base64 of 32 bytes; nil for any other text.
    public init?(base64 text: some StringProtocol) {
        guard let bytes = Base64.bytes(of: text) else { return nil }
        self.init(bytes)
    }

    /// Creates a hash from the 32 bytes at an offset.
    ///
    /// Traps if they are not inside the span.
    package init(_ bytes: RawSpan, at offset: Int) {
        func word(_ index: Int) -> UInt64 { bytes.integer(at: offset + 8 * index, as: UInt64.self).byteSwapped }
        words = (word(0), word(1), word(2), word(3))
    }

    package init(_ digest: [8 of UInt32]) {
        func word(_ index: Int) -> UInt64 { UInt64(digest[2 * index]) << 32 | UInt64(digest[2 * index + 1]) }
        words = (word(0), word(1), word(2), word(3))
    }

    /// The hash of the empty tree: SHA-256 of no bytes.
    public static let emptyTree = MerkleHash(SHA256().digest())

    /// Returns the hash of the leaf of an entry: SHA-256 of `00` and the entry.
    public static func leaf(of entry: [UInt8]) -> MerkleHash {
        var hasher = SHA256()
        hasher.update(0)
        hasher.update(entry)
        return MerkleHash(hasher.digest())
    }

    /// Returns the hash of the node above two subtrees: SHA-256 of `01`, the left and the right
    /// hash.
    public static func node(_ left: MerkleHash, _ right: MerkleHash) -> MerkleHash {
        var hasher = SHA256()
        hasher.update(1)
        left.append(to: &hasher)
        right.append(to: &hasher)
        return MerkleHash(hasher.digest())
    }

    /// The 32 bytes.
    public var bytes: [UInt8] {
        [words.0, words.1, words.2, words.3].flatMap { word in
            (0..<8).map { UInt8(truncatingIfNeeded: word >> UInt64(56 - 8 * $0)) }
        }
    }

    /// The canonical standard base64 (RFC 4648 section 4), 44 characters.
    public var base64: String { Base64.text(of: bytes) }

    /// Stores the 32 bytes at an offset of an array.
    package func store(in array: inout [UInt8], at offset: Int) {
        array.store(words.0.byteSwapped, at: offset)
        array.store(words.1.byteSwapped, at: offset + 8)
        array.store(words.2.byteSwapped, at: offset + 16)
        array.store(words.3.byteSwapped, at: offset + 24)
    }

    /// Appends the 32 bytes to a message.
    package func append(to hasher: inout SHA256) { hasher.update(bigEndian: [words.0, words.1, words.2, words.3]) }

    /// Whether the bytes are equal.
    public static func == (first: MerkleHash, second: MerkleHash) -> Bool { first.words == second.words }

    /// Adds the bytes to a hash value of the standard library.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
        hasher.combine(words.2)
        hasher.combine(words.3)
    }
}

extension MerkleHash: CustomStringConvertible {
    /// The base64 text.
    public var description: String { base64 }
}
