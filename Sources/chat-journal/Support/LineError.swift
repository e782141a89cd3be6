/// What is wrong with a line of input: a stable code for programs and a sentence for people.
struct LineError: Error, Equatable, CustomStringConvertible {
    /// The stable codes, printed as they are spelt here.
    enum Code: String, Equatable {
        /// The line is over the limit.
        case tooLong
        /// The bytes are not UTF-8.
        case invalidUTF8
        /// The text is not one JSON value.
        case notJSON
        /// Objects and arrays are nested beyond the limit.
        case tooDeep
        /// An object has a field twice.
        case duplicateField
        /// A field that must be there is not.
        case missingField
        /// An object has a field that its type does not have.
        case unknownField
        /// A value is of another JSON type than its field, or null where that is not allowed.
        case wrongType
        /// A value is of the right JSON type and still not one that its field can have.
        case invalidValue
    }

    /// The kind of fault.
    let code: Code
    /// What is wrong, without the place; parts of the input in it are shortened but not made visible.
    let message: String
    /// The path of the field, such as `postMessage.body` or `items[3]`; nil for the line as a whole.
    let field: String?
    /// The offset of the first byte at fault within the line, from 0, where it is known.
    let byteOffset: Int?

    /// An error at a field or at a byte or, with neither, of the line as a whole.
    init(_ code: Code, _ message: String, field: String? = nil, byteOffset: Int? = nil) {
        self.code = code
        self.message = message
        self.field = field
        self.byteOffset = byteOffset
    }

    /// An error for a line that `LineReader` has passed over.
    static func tooLong(byteCount: Int, limit: Int = LineReader.defaultLimit) -> LineError {
        LineError(.tooLong, "the line has \(byteCount) bytes, more than \(limit)")
    }

    /// One sentence: the field or the byte, and what is wrong there.
    var description: String {
        if let field { return "\(field): \(message)" }
        if let byteOffset { return "\(message) at byte \(byteOffset)" }
        return message
    }
}

extension LineError {
    /// The longest piece of the input that a message repeats, in scalars.
    static let longestQuote = 64
    /// The longest sentence that is taken over from another error, in scalars.
    static let longestSentence = 256

    /// A piece of the input for a message, with `...` in place of what is too much.
    static func quote(_ text: String, longest: Int = longestQuote) -> String {
        // Cut by scalars, not by characters: one character may have any number of them.
        guard let end = text.unicodeScalars.index(text.startIndex, offsetBy: longest, limitedBy: text.endIndex), end < text.endIndex
        else { return text }
        return text[..<end] + "..."
    }
}
