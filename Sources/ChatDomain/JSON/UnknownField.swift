/// A field of a JSON object that its type does not have.
///
/// It is the `underlyingError` of the `DecodingError.dataCorrupted` that `rejectUnknownFields` throws, so that whoever reports the
/// error can tell it from a value that is not allowed.
package struct UnknownFieldError: Error, Equatable {
    /// The name of the field, as it stands in the input: of any length and with any characters.
    package let field: String

    /// An error for a field name.
    package init(field: String) {
        self.field = field
    }
}

/// Throws if the object that a decoder stands on has a field that is not a case of `allowed`.
///
/// `Codable` passes over fields that it does not know; a misspelt optional field would then be lost without a word. Of several unknown
/// fields the first by the order of their UTF-8 is named, so that the same input always gives the same error.
///
/// - Throws: `DecodingError.dataCorrupted` with an `UnknownFieldError` and the path of the field; `DecodingError.typeMismatch` if
///   there is no object.
/// - Complexity: linear in the number of fields.
package func rejectUnknownFields<K: CodingKey & CaseIterable>(in decoder: any Decoder, allowed: K.Type) throws {
    let names = Set(allowed.allCases.map(\.stringValue))
    let container = try decoder.container(keyedBy: AnyField.self)
    let unknown = container.allKeys.filter { !names.contains($0.stringValue) }
    guard let first = unknown.min(by: { $0.stringValue.utf8.lexicographicallyPrecedes($1.stringValue.utf8) }) else { return }
    throw DecodingError.dataCorrupted(
        DecodingError.Context(
            codingPath: container.codingPath + [first], debugDescription: "unknown field",
            underlyingError: UnknownFieldError(field: first.stringValue)))
}

/// A key of any name.
private struct AnyField: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
