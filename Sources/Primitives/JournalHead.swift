/// A token that identifies a journal and its history up to a position.
///
/// Keep a head outside the journal and pass it to `Journal.open` later
/// (`JournalOptions.expectedHead`). Opening then rejects a journal without exactly this history,
/// for example a restored old copy, or a replaced or shortened journal. The chain value is a
/// checksum, not a signature: it protects against accidents, not against malice.
///
/// The text form is `cj1-ID-POSITION-CHAIN-CHECK`: the journal's id as 32 hexadecimal digits, the
/// position in decimal, the chain value as 16 hexadecimal digits, and the CRC32C of the text before
/// the last hyphen as 8 hexadecimal digits, all in lower case. The CRC detects mistyped tokens.
public struct JournalHead: Hashable, Sendable, Codable, LosslessStringConvertible, TextValue {
    /// The id of the journal.
    public var journal: JournalID
    /// The last position that the token covers; 0 for an empty journal.
    public var position: Position
    /// The chain value after the record at ``position``.
    public var chain: UInt64

    /// Creates a token from its three parts.
    public init(journal: JournalID, position: Position, chain: UInt64) {
        self.journal = journal
        self.position = position
        self.chain = chain
    }

    /// Parses the text form.
    ///
    /// Returns nil for other text or if the check digits do not match.
    public init?(_ text: String) {
        guard text.utf8.count <= 100 else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "cj1", let id = Hexadecimal.parse(parts[1], digits: 32),
            let position = Position(parts[2]), let chain = Hexadecimal.parse(parts[3], digits: 16)
        else { return nil }
        self.init(journal: JournalID(bits: id), position: position, chain: UInt64(truncatingIfNeeded: chain))
        // The comparison with the canonical text rejects leading zeros, signs and wrong check
        // digits.
        guard description == text else { return nil }
    }

    /// The text form `cj1-ID-POSITION-CHAIN-CHECK`.
    public var description: String {
        // A follower may write one for each event.
        var text = Array("cj1-".utf8)
        Hexadecimal.append(UInt64(truncatingIfNeeded: journal.bits >> 64), to: &text)
        Hexadecimal.append(UInt64(truncatingIfNeeded: journal.bits), to: &text)
        text += "-\(position)-".utf8
        Hexadecimal.append(chain, to: &text)
        return String(decoding: text, as: UTF8.self) + "-" + Hexadecimal.text(of: CRC32C.checksum(of: text), digits: 8)
    }

    package static var decodingFailure: String { "not a journal head" }
}
