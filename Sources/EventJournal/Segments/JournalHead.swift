/// A small token that names a journal and everything in it up to a position.
///
/// Keep one outside the journal and give it to `Journal.open` later (``JournalOptions/expectedHead``): a journal that does not contain
/// exactly this history is refused, be it an old copy restored, a swapped or a shortened one. The chain value is a checksum, not a
/// signature: it protects against accidents, not against malice.
///
/// The text form is `cj1-ID-POSITION-CHAIN-CHECK`: the journal's id as 32 hexadecimal digits, the position in decimal, the chain value
/// as 16 hexadecimal digits, and the CRC32C of the text before the last hyphen as 8 hexadecimal digits, all in lower case. A token that
/// was mistyped is thus refused as text.
public struct JournalHead: Hashable, Sendable, Codable, LosslessStringConvertible {
    /// The journal that the token was taken from.
    public var journal: JournalID
    /// The last position that the token covers; 0 for an empty journal.
    public var position: Position
    /// The chain value after the record at ``position``.
    public var chain: UInt64

    /// Makes a token of its three parts.
    public init(journal: JournalID, position: Position, chain: UInt64) {
        self.journal = journal
        self.position = position
        self.chain = chain
    }

    /// Reads the text form; nil when it is anything else or its check digits do not fit.
    public init?(_ text: String) {
        guard text.utf8.count <= 100 else { return nil }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 5, parts[0] == "cj1", let id = Hexadecimal.parse(parts[1], digits: 32),
            let position = Position(parts[2]), let chain = Hexadecimal.parse(parts[3], digits: 16)
        else { return nil }
        self.init(journal: JournalID(bits: id), position: position, chain: UInt64(truncatingIfNeeded: chain))
        // The one canonical text is compared whole, so that leading zeros, signs and wrong check digits all fall here.
        guard description == text else { return nil }
    }

    /// The text form, as described above.
    public var description: String {
        let id = Hexadecimal.text(of: journal.bits, digits: 32)
        let payload = "cj1-\(id)-\(position)-\(Hexadecimal.text(of: chain, digits: 16))"
        return payload + "-" + Hexadecimal.text(of: CRC32C.checksum(of: Array(payload.utf8)), digits: 8)
    }

    /// Decodes the text form; any other string is a decoding error.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let head = JournalHead(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a journal head")
        }
        self = head
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
