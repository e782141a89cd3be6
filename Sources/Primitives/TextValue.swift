/// A value whose JSON is a string with its text form.
///
/// A public type conforms to this protocol beside `Codable` and `LosslessStringConvertible`. It
/// gets both halves of `Codable` from here; callers see them as those of `Codable`.
package protocol TextValue: Codable, LosslessStringConvertible {
    /// The message of a decoding error, such as `not a postcode, such as SW1A 1AA`.
    static var decodingFailure: String { get }

    /// Creates a value from text that was encoded, or nil. By default the same as `init(_:)`.
    init?(printed text: String)
}

extension TextValue {
    package init?(printed text: String) { self.init(text) }

    /// Decodes the text form.
    ///
    /// - Throws: `DecodingError.dataCorrupted` if the string is not such a text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let value = Self(printed: try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: Self.decodingFailure)
        }
        self = value
    }

    /// Encodes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
