public import MerkleLog
internal import Primitives

/// A part of a journal's tree for a reader without the journal: a record, or the hash of others.
///
/// The parts of a tree, from left to right, show some records whole and the others as hashes only.
/// They lead to the root of the tree's head. The text form is one line, with standard base64 and a
/// hyphen for no bytes:
///
///     record POSITION KEPT SALT ERASABLE
///     stub POSITION KEPT DIGEST
///     hash FIRST LAST HASH
public enum TreePart: Hashable, Sendable {
    /// The record at a position; without its content in the line `stub`.
    case record(Position, DisclosedRecord)
    /// The hash of the subtree of the records at these positions.
    case subtree(ClosedRange<Position>, MerkleHash)

    /// The text form, without a line feed.
    public var text: String {
        switch self {
        case .record(let position, let record):
            switch record.content {
            case .whole(let salt, let erasable):
                "record \(position) \(Self.word(record.kept)) \(Self.word(salt)) \(Self.word(erasable))"
            case .digest(let digest): "stub \(position) \(Self.word(record.kept)) \(digest.base64)"
            }
        case .subtree(let positions, let hash): "hash \(positions.lowerBound) \(positions.upperBound) \(hash.base64)"
        }
    }

    /// Parses a line.
    ///
    /// - Parameters:
    ///   - text: The line, without a line feed.
    ///   - line: The number of the line, for the error.
    /// - Throws: `ProofTextError` if the line is not as the format requires: each number and each
    ///   base64 has one form only.
    public init(parsing text: String, line: Int) throws(ProofTextError) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        let reader = WordReader(words: words, line: line)
        switch (words[0], words.count) {
        case ("record", 5):
            let salt = try reader.bytes(3, "the salt", atMost: JournalLimits.recordSaltByteCount)
            guard salt.count == JournalLimits.recordSaltByteCount else {
                throw reader.error("the salt has \(salt.count) bytes")
            }
            let erasable = try reader.bytes(4, "the erasable part", atMost: JournalLimits.erasableBytes)
            self = .record(
                try reader.position(1, "the position"),
                DisclosedRecord(kept: try reader.kept(), content: .whole(salt: salt, erasable: erasable)))
        case ("stub", 4):
            self = .record(
                try reader.position(1, "the position"),
                DisclosedRecord(kept: try reader.kept(), content: .digest(try reader.hash("the digest"))))
        case ("hash", 4):
            let (first, last) = (
                try reader.position(1, "the first position"), try reader.position(2, "the last position")
            )
            guard first <= last else {
                throw reader.error("the last position, \(last), is less than the first one, \(first)")
            }
            self = .subtree(first...last, try reader.hash("the hash"))
        default: throw reader.error("neither 'record' and four words, nor 'stub' or 'hash' and three words")
        }
    }

    /// The maximum length of a line in bytes.
    package static let textByteLimit = DisclosedRecord.textByteLimit

    private static func word(_ bytes: [UInt8]) -> String { bytes.isEmpty ? "-" : Base64.text(of: bytes) }
}

/// Reads the words of a line by their index.
private struct WordReader {
    let words: [Substring]
    let line: Int

    func error(_ reason: String) -> ProofTextError { ProofTextError(line: line, reason) }

    func position(_ index: Int, _ what: String) throws(ProofTextError) -> Position {
        // The comparison with the canonical text rejects signs and leading zeros.
        guard let position = Position(words[index]), position > 0, "\(position)" == words[index] else {
            throw error("\(what) is not a number from 1 to 2^64 - 1 in decimal digits without leading zeros")
        }
        return position
    }

    func bytes(_ index: Int, _ what: String, atMost limit: Int) throws(ProofTextError) -> [UInt8] {
        if words[index] == "-" { return [] }
        guard let bytes = Base64.bytes(of: words[index]), !bytes.isEmpty else {
            throw error("\(what) is not canonical base64")
        }
        guard bytes.count <= limit else { throw error("\(what) has more than \(limit) bytes") }
        return bytes
    }

    func kept() throws(ProofTextError) -> [UInt8] { try bytes(2, "the kept part", atMost: JournalLimits.keptBytes) }

    func hash(_ what: String) throws(ProofTextError) -> MerkleHash {
        guard let hash = MerkleHash(base64: words[words.count - 1]) else {
            throw error("\(what) is not 32 bytes in canonical base64")
        }
        return hash
    }
}
