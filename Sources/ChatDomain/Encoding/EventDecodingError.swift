/// An error for bytes that are not an event.
public struct EventDecodingError: Error, Hashable, Sendable {
    /// The part of the record.
    public var part: Part
    /// The offset within the part, from 0.
    public var offset: Int
    /// The kind of error.
    public var problem: Problem

    /// The two parts of a record.
    public enum Part: String, Hashable, Sendable {
        /// The kept part.
        case kept
        /// The erasable part.
        case erasable
    }

    /// The kinds of error.
    public enum Problem: String, Hashable, Sendable {
        /// The part ends inside a field.
        case tooShort
        /// Not the shortest LEB128 of a 64-bit number.
        case malformedNumber
        /// The number is not one that its field allows.
        case invalidNumber
        /// The text is not UTF-8.
        case invalidUTF8
        /// The bytes are not a postcode.
        case invalidPostcode
        /// The payload of a custom event is not a JSON value.
        case invalidPayload
        /// The kind is 0, which no event has.
        case invalidKind
    }
}

extension EventDecodingError: CustomStringConvertible {
    /// A description for people.
    public var description: String { "\(problem.rawValue) at byte \(offset) of the \(part.rawValue) part" }
}
