/// The field names in the JSON of commands and events, including the kinds of both.
package struct FieldKey: CodingKey, Hashable {
    /// The field name.
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(stringValue: String) { self.stringValue = stringValue }
    package init?(intValue: Int) { nil }
    /// Creates the key with a field name.
    package init(_ name: String) { stringValue = name }

    package static let position = FieldKey("position")
    package static let recordedAt = FieldKey("recordedAt")
    package static let sentAt = FieldKey("sentAt")
    package static let imported = FieldKey("imported")
    package static let erased = FieldKey("erased")
    package static let redacted = FieldKey("redacted")
    package static let blocked = FieldKey("blocked")
    package static let inbox = FieldKey("inbox")
    package static let correlation = FieldKey("correlation")
    package static let once = FieldKey("once")

    package static let user = FieldKey("user")
    package static let thread = FieldKey("thread")
    package static let number = FieldKey("number")
    package static let message = FieldKey("message")
    package static let reply = FieldKey("reply")
    package static let edit = FieldKey("edit")
    package static let replaces = FieldKey("replaces")
    package static let seen = FieldKey("seen")
    package static let session = FieldKey("session")
    package static let author = FieldKey("author")
    package static let by = FieldKey("by")
    package static let upTo = FieldKey("upTo")
    package static let from = FieldKey("from")
    package static let level = FieldKey("level")

    package static let username = FieldKey("username")
    package static let foldKey = FieldKey("foldKey")
    package static let commitEnd = FieldKey("commitEnd")
    package static let subject = FieldKey("subject")
    package static let postcode = FieldKey("postcode")
    package static let outwardCode = FieldKey("outwardCode")
    package static let name = FieldKey("name")
    package static let body = FieldKey("body")
    package static let mentions = FieldKey("mentions")
    package static let findMentions = FieldKey("findMentions")
    package static let people = FieldKey("people")
    package static let with = FieldKey("with")
    package static let device = FieldKey("device")

    package static let unknown = FieldKey("unknown")
    package static let kind = FieldKey("kind")
    package static let policy = FieldKey("policy")
    package static let history = FieldKey("history")
    package static let role = FieldKey("role")
    package static let reason = FieldKey("reason")
    package static let emoji = FieldKey("emoji")
    package static let about = FieldKey("about")
    package static let until = FieldKey("until")
    package static let id = FieldKey("id")
    package static let payload = FieldKey("payload")
    package static let ranges = FieldKey("ranges")
    package static let kept = FieldKey("kept")
    package static let erasable = FieldKey("erasable")
}

typealias FieldContainer = KeyedDecodingContainer<FieldKey>

extension KeyedDecodingContainer where K == FieldKey {
    /// Throws if the object has unknown fields: a misspelt optional field must not be ignored.
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

    /// Returns the time of a field's text, which must be a date-time of RFC 3339; nil if there is
    /// no text.
    ///
    /// Narrower than the decoder of `Timestamp`, which also accepts years of more than four digits.
    package func dateTime(_ text: String?, forKey key: FieldKey) throws -> Timestamp? {
        guard let text else { return nil }
        guard let time = Timestamp(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "not a date-time of RFC 3339, such as 2026-11-21T05:03:12.123Z"
            )
        }
        return time
    }

    /// Decodes an integer.
    ///
    /// - Throws: `DecodingError` with the path of the field, also if the number does not fit its
    ///   type. Foundation's decoder reports that case as invalid JSON, without the field.
    package func decodeInteger<Number: FixedWidthInteger & Decodable>(_ key: FieldKey) throws -> Number {
        do {
            return try decode(Number.self, forKey: key)
        } catch let error as DecodingError {
            throw error
        } catch {
            throw DecodingError.dataCorrupted(
                .init(
                    codingPath: codingPath + [key], debugDescription: "the number does not fit its field",
                    underlyingError: error))
        }
    }
}

/// An unknown field of a JSON object.
///
/// The `underlyingError` of a `DecodingError.dataCorrupted`: it distinguishes an unknown field from
/// an invalid value.
package struct UnknownFieldError: Error, Equatable {
    /// The field name as in the input, of any length and with any characters.
    package let field: String

    /// Creates the error for a field name.
    package init(field: String) {
        self.field = field
    }
}
