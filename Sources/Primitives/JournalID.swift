/// The identity of a journal: 16 random bytes in every segment and slot.
///
/// The bytes are chosen when the journal is created. A copy of a journal's files keeps the id; a
/// repair, which creates a journal from another one's records, chooses a new id. The text form is
/// that of a UUID (RFC 9562) in lower case.
public struct JournalID: Hashable, Sendable, Codable, LosslessStringConvertible, TextValue {
    @usableFromInline let uuid: UUIDBits
    /// The 128 bits of the UUID; its first byte is the most significant one.
    @inlinable public var bits: UInt128 { uuid.number }

    /// Creates the id with the given bits.
    @inlinable public init(bits: UInt128) { uuid = UUIDBits(bits) }

    /// Parses the text of a UUID; nil for any other text.
    ///
    /// The text has 32 hexadecimal digits of either case in groups of 8, 4, 4, 4 and 12, joined by
    /// hyphens.
    public init?(_ text: String) {
        guard let bits = UUIDText.parse(text) else { return nil }
        self.init(bits: bits)
    }

    /// The UUID text in lower case.
    public var description: String { UUIDText.format(bits) }

    package static var decodingFailure: String { "not a UUID" }
}
