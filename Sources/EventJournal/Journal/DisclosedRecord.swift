public import MerkleLog
internal import Primitives

/// The parts of one record that its leaf in the tree covers, for a reader without the journal.
///
/// Together with an inclusion proof they show that the journal contains this record. With the
/// content they also show its erasable part; without it they show the kept part only, and that the
/// content has this digest.
///
/// The text form has a title and two or three lines. Each has a name, a space and standard base64;
/// only the name if there are no bytes:
///
///     chat-journal/record@v1          chat-journal/record@v1
///     kept BASE64                     kept BASE64
///     salt BASE64                     digest BASE64
///     erasable BASE64
public struct DisclosedRecord: Hashable, Sendable {
    /// What is disclosed of the erasable part.
    public enum Content: Hashable, Sendable {
        /// The 16 bytes of salt and the erasable part.
        case whole(salt: [UInt8], erasable: [UInt8])
        /// The SHA-256 of salt and erasable part, for a stub or if the content is withheld.
        case digest(MerkleHash)
    }

    /// The kept part.
    public let kept: [UInt8]
    /// The salt and the erasable part, or their digest.
    public let content: Content

    /// Creates a record from its parts.
    public init(kept: [UInt8], content: Content) {
        self.kept = kept
        self.content = content
    }

    /// Creates the record from its bytes in a journal.
    init(_ state: RecordContentState, kept: RawSpan, content: RawSpan) {
        self.kept = kept.toArray()
        if state == .whole {
            let saltEnd = JournalLimits.recordSaltByteCount
            self.content = .whole(
                salt: content.extracting(0..<saltEnd).toArray(), erasable: content.extracting(saltEnd...).toArray())
        } else {
            self.content = .digest(MerkleHash(content, at: 0))
        }
    }

    /// The SHA-256 of salt and erasable part.
    public var digest: MerkleHash {
        switch content {
        case .whole(let salt, let erasable): (salt + erasable).withBytes { MerkleHash(digestOf: $0) }
        case .digest(let digest): digest
        }
    }

    /// The erasable part, if it is disclosed.
    public var erasable: [UInt8]? { if case .whole(_, let erasable) = content { erasable } else { nil } }

    /// The entry of the log: the byte `01`, the kept part and the digest.
    public var entry: [UInt8] { [Self.entryVersion] + kept + digest.bytes }

    /// The hash of the leaf of the entry.
    public var leaf: MerkleHash { .leaf(of: entry) }

    /// Returns the record with the digest instead of the content.
    public func withholdingContent() -> DisclosedRecord { DisclosedRecord(kept: kept, content: .digest(digest)) }

    /// The first byte of an entry.
    static let entryVersion: UInt8 = 1
}

// MARK: Text

extension DisclosedRecord {
    /// The text form.
    public var text: String {
        func line(_ name: String, _ bytes: [UInt8]) -> String {
            bytes.isEmpty ? "\(name)\n" : "\(name) \(Base64.text(of: bytes))\n"
        }
        let text = "\(Self.title)\n" + line("kept", kept)
        switch content {
        case .whole(let salt, let erasable): return text + line("salt", salt) + line("erasable", erasable)
        case .digest(let digest): return text + line("digest", digest.bytes)
        }
    }

    /// Parses the text form.
    ///
    /// - Throws: `ProofTextError` with the line that is not as the format requires.
    public init(parsing text: String) throws(ProofTextError) {
        var lines = try ProofText(text, byteLimit: Self.textByteLimit)
        guard try lines.next("the title") == Self.title else {
            throw lines.error("the title '\(Self.title)' is expected")
        }
        kept = try lines.bytes(after: "kept")
        guard kept.count <= JournalLimits.keptBytes else { throw lines.error("the kept part is too long") }
        if lines.nextWord == "digest" {
            guard let digest = MerkleHash(try lines.bytes(after: "digest")) else {
                throw lines.error("the digest has not 32 bytes")
            }
            content = .digest(digest)
        } else {
            let salt = try lines.bytes(after: "salt")
            guard salt.count == JournalLimits.recordSaltByteCount else {
                throw lines.error("the salt has not \(JournalLimits.recordSaltByteCount) bytes")
            }
            let erasable = try lines.bytes(after: "erasable")
            guard erasable.count <= JournalLimits.erasableBytes else {
                throw lines.error("the erasable part is too long")
            }
            content = .whole(salt: salt, erasable: erasable)
        }
        if lines.nextIfAny() != nil { throw lines.error("text after the record") }
    }

    private static let title = "chat-journal/record@v1"
    /// The maximum length of a text: the longest parts in base64, and the names.
    package static let textByteLimit = (JournalLimits.keptBytes + JournalLimits.erasableBytes) / 3 * 4 + 256
}

// MARK: Hashing

extension MerkleHash {
    /// Creates the SHA-256 of bytes.
    fileprivate init(digestOf bytes: RawSpan) {
        var hasher = SHA256()
        hasher.update(bytes)
        self.init(hasher.digest())
    }

    /// Computes the leaf of a record without an allocation.
    ///
    /// - Parameter content: The salt and the erasable part of a whole record, or the digest of a
    ///   stub.
    init(leafOf state: RecordContentState, kept: RawSpan, content: RawSpan) {
        var hasher = SHA256()
        hasher.update(0)
        hasher.update(DisclosedRecord.entryVersion)
        hasher.update(kept)
        if state == .whole {
            MerkleHash(digestOf: content).append(to: &hasher)
        } else {
            hasher.update(content)
        }
        self.init(hasher.digest())
    }
}
