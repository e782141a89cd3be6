/// Every field name of the JSON of commands and events, and the kinds of both, in one place.
package struct FieldKey: CodingKey, Hashable {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { nil }
    package init(_ name: String) { stringValue = name }

    package static let position = FieldKey("position")
    package static let recordedAt = FieldKey("recordedAt")
    package static let sentAt = FieldKey("sentAt")
    package static let imported = FieldKey("imported")
    package static let erased = FieldKey("erased")
    package static let redacted = FieldKey("redacted")
    package static let correlation = FieldKey("correlation")

    package static let user = FieldKey("user")
    package static let thread = FieldKey("thread")
    package static let number = FieldKey("number")
    package static let message = FieldKey("message")
    package static let reply = FieldKey("reply")
    package static let session = FieldKey("session")
    package static let author = FieldKey("author")
    package static let by = FieldKey("by")
    package static let upTo = FieldKey("upTo")

    package static let username = FieldKey("username")
    package static let foldKey = FieldKey("foldKey")
    package static let commitEnd = FieldKey("commitEnd")
    package static let subject = FieldKey("subject")
    package static let postcode = FieldKey("postcode")
    package static let outwardCode = FieldKey("outwardCode")
    package static let name = FieldKey("name")
    package static let body = FieldKey("body")
    package static let device = FieldKey("device")

    package static let unknown = FieldKey("unknown")
    package static let kind = FieldKey("kind")
    package static let kept = FieldKey("kept")
    package static let erasable = FieldKey("erasable")
}

typealias FieldContainer = KeyedDecodingContainer<FieldKey>

extension KeyedDecodingContainer where K == FieldKey {
    /// Refuses a field that nobody knows: a misspelt optional field would otherwise be lost in silence.
    ///
    /// - Throws: `DecodingError.dataCorrupted` whose underlying error is an ``UnknownFieldError``.
    package func rejectFields(otherThan allowed: [FieldKey]) throws {
        for key in allKeys.sorted(by: { $0.stringValue < $1.stringValue }) where !allowed.contains(key) {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: codingPath + [key], debugDescription: "unknown field",
                    underlyingError: UnknownFieldError(field: key.stringValue)))
        }
    }

    /// Decodes a whole number.
    ///
    /// - Throws: `DecodingError` with the path of the field, also for a number that does not fit its type: Foundation's decoder
    ///   reports such a number as "not valid JSON", without the field.
    package func number<Number: FixedWidthInteger & Decodable>(_ key: FieldKey) throws -> Number {
        do {
            return try decode(Number.self, forKey: key)
        } catch let error as DecodingError {
            throw error
        } catch {
            throw DecodingError.dataCorrupted(
                .init(codingPath: codingPath + [key], debugDescription: "the number does not fit its field", underlyingError: error))
        }
    }
}

/// A field of a JSON object that its type does not have.
///
/// It is the `underlyingError` of the `DecodingError.dataCorrupted` that ``FieldKey`` containers throw for it, so that whoever reports the
/// error can tell it from a value that is not allowed.
package struct UnknownFieldError: Error, Equatable {
    /// The name of the field, as it stands in the input: of any length and with any characters.
    package let field: String

    /// An error for a field name.
    package init(field: String) {
        self.field = field
    }
}
