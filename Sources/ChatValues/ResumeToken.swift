public import Primitives

/// A portable position: continues a follower, after a restart or in another store of the same
/// journal.
///
/// The token names the history of the journal, not only a position in it. A token of another
/// journal, from beyond the end, or of a journal that was since restored from an older copy and
/// written to, causes an error, never a gap. The token grants no rights: the viewer of the filter
/// decides what is delivered. Its checksum is not a signature.
///
/// The text form is `ct1-POSITION-HEAD-CHECK`: the position in decimal, a
/// `JournalHead` in its own text form, and the CRC32C of everything before the last
/// hyphen as 8 lowercase hexadecimal digits.
public struct ResumeToken: Hashable, Sendable {
    /// The position up to which every event has been seen.
    public let position: Position
    /// The head that identifies the history of the position.
    ///
    /// For a journal: the head at the end of the position's commit. For another log: the durable
    /// head when the token was made.
    public let head: JournalHead

    /// The id of the journal that the token belongs to.
    public var journal: JournalID { head.journal }

    /// Creates a token from its parts; nil if the position lies beyond the head.
    public init?(position: Position, head: JournalHead) {
        guard position <= head.position else { return nil }
        self.position = position
        self.head = head
    }

    /// Creates the token of a record in a commit.
    ///
    /// - Parameter commit: A head at or beyond the position.
    package init(after position: Position, in commit: JournalHead) {
        self.position = position
        head = commit
    }
}

extension ResumeToken: LosslessStringConvertible, Codable, TextValue {
    package static var decodingFailure: String { "not a resume token" }

    /// The text form: letters, digits and hyphens.
    public var description: String {
        let payload = "ct1-\(position)-\(head)"
        let check = String(CRC32C.checksum(of: Array(payload.utf8)), radix: 16)
        return "\(payload)-\(String(repeating: "0", count: 8 - check.utf8.count))\(check)"
    }

    /// Parses the text form; nil if it is malformed or its checksum is wrong.
    public init?(_ text: String) {
        // The longest valid token has 117 bytes.
        guard text.utf8.count <= 128 else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 8, parts[0] == "ct1", let position = Position(parts[1]),
            let head = JournalHead(parts[2...6].joined(separator: "-"))
        else { return nil }
        self.init(position: position, head: head)
        // Only the canonical text is valid; this comparison rejects leading zeros, signs and wrong
        // checksums.
        guard description == text else { return nil }
    }
}
