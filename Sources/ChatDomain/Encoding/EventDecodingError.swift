/// Bytes that are no event, and where.
public struct EventDecodingError: Error, Hashable, Sendable {
    /// The part of the record.
    public var part: Part
    /// The byte within the part, from 0.
    public var offset: Int
    /// What is wrong there.
    public var problem: Problem

    /// The two parts of a record.
    public enum Part: String, Hashable, Sendable {
        case kept
        case erasable
    }

    /// What can be wrong.
    public enum Problem: String, Hashable, Sendable {
        /// The part ends inside a field.
        case tooShort
        /// Not the shortest LEB128 of a 64-bit number.
        case malformedNumber
        case invalidUTF8
        /// The postcode is none.
        case invalidPostcode
        /// The kind 0 is none.
        case invalidKind
    }
}

extension EventDecodingError: CustomStringConvertible {
    /// A sentence for people.
    public var description: String { "\(problem.rawValue) at byte \(offset) of the \(part.rawValue) part" }
}
