package import ChatDomain

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Decodes a value from one line of JSON, strictly.
///
/// The bytes must be UTF-8 and one JSON value without duplicate fields (`JSONScanner`).
/// Foundation's decoder reads it. The types reject unknown fields. They have no numbers with a
/// fraction: any such number is an error, except in the payload of a custom event, which is read
/// from the text as it is written (`CustomPayload`).
///
/// - Throws: `LineError` with a stable code, the path of the field or the offset of the byte, and a
///   message.
/// - Parameters:
///   - type: The type of the value.
///   - bytes: The text.
///   - actor: The user who acts in a command whose acting field is left out.
/// - Complexity: linear in the number of bytes, which the caller bounds.
package func decodeLine<T: Decodable>(
    _ type: T.Type, from bytes: [UInt8], actor: UserID? = nil, userInfo: [CodingUserInfoKey: any Sendable] = [:]
) throws(LineError) -> T {
    do {
        _ = try UTF8Span(validating: bytes.span)
    } catch {
        throw LineError(.invalidUTF8, "not UTF-8", byteOffset: error.byteOffsets.lowerBound)
    }
    let facts: JSONScanner.Facts
    do {
        facts = try JSONScanner.validate(bytes, exemptPath: CustomPayload.path)
    } catch {
        throw LineError(error)
    }
    let decoder = JSONDecoder()
    decoder.userInfo = userInfo
    if let actor { decoder.userInfo[ChatCommand.actorKey] = actor }
    if let payload = facts.exemptValue {
        decoder.userInfo[CustomPayload.sourceKey] = String(decoding: bytes[payload], as: UTF8.self)
    }
    let value: T
    do {
        value = try decoder.decode(type, from: Data(bytes))
    } catch let error as DecodingError {
        throw LineError(error)
    } catch {
        throw LineError(.invalidValue, LineError.excerpt("\(error)", longest: LineError.longestMessage))
    }
    if let inexactNumber = facts.inexactNumber { throw LineError(inexactNumber) }
    return value
}

/// The error of a line of input: a stable code for programs and a message for people.
package struct LineError: Error, Equatable, CustomStringConvertible {
    /// The stable codes, printed as they are spelt here.
    package enum Code: String, Equatable {
        /// The line is longer than the limit.
        case tooLong
        /// The bytes are not UTF-8.
        case invalidUTF8
        /// The text is not one JSON value.
        case notJSON
        /// Objects and arrays are nested deeper than the limit.
        case tooDeep
        /// An array has more elements than the limit.
        case tooMany
        /// An object has a field twice.
        case duplicateField
        /// A required field is missing.
        case missingField
        /// An object has a field that its type does not have.
        case unknownField
        /// A value is of another JSON type than its field, or null where null is not allowed.
        case wrongType
        /// A value has the right JSON type, but not a value that its field allows.
        case invalidValue
    }

    /// The longest part of the input that a message repeats, in scalars.
    package static let maximumExcerptLength = 64
    /// The longest message taken from another error, in scalars.
    package static let longestMessage = 256

    /// The kind of error.
    package let code: Code
    /// The description of the error, without the place.
    ///
    /// Quoted input is shortened, but not made visible.
    package let message: String
    /// The path of the field, such as `postMessage.body` or `items[3]`; nil for the line as a
    /// whole.
    package let field: String?
    /// The offset of the first wrong byte in the line, from 0, where it is known.
    package let byteOffset: Int?

    /// An error at a field, at a byte or, with neither, of the line as a whole.
    package init(_ code: Code, _ message: String, field: String? = nil, byteOffset: Int? = nil) {
        self.code = code
        self.message = message
        self.field = field
        self.byteOffset = byteOffset
    }

    /// The field or the byte, and the error there.
    package var description: String {
        if let field { return "\(field): \(message)" }
        if let byteOffset { return "\(message) at byte \(byteOffset)" }
        return message
    }

    /// An error for a line over the limit of its reader.
    package static func tooLong(byteCount: Int, limit: Int) -> LineError {
        LineError(.tooLong, "the line has \(byteCount) bytes, more than \(limit)")
    }

    /// Part of the input for a message; what exceeds the limit is replaced by `...`.
    package static func excerpt(_ text: String, longest: Int = maximumExcerptLength) -> String {
        // Cut by scalars, not by characters: one character may have any number of them.
        guard let end = text.unicodeScalars.index(text.startIndex, offsetBy: longest, limitedBy: text.endIndex),
            end < text.endIndex
        else { return text }
        return text[..<end] + "..."
    }

    /// A path as text, such as `items[3].name`, from field names and indexes in brackets; nil at
    /// the top.
    package static func path(_ steps: [String]) -> String? {
        var text = ""
        for step in steps { text += (text.isEmpty || step.hasPrefix("[") ? "" : ".") + excerpt(step) }
        return text.isEmpty ? nil : text
    }
}

extension LineError {
    /// The error of a line for an error of the scanner.
    init(_ error: JSONScanError) {
        switch error.problem {
        case .notJSON: self.init(.notJSON, error.message, byteOffset: error.byteOffset)
        case .tooDeep: self.init(.tooDeep, error.message, byteOffset: error.byteOffset)
        case .tooMany: self.init(.tooMany, error.message, byteOffset: error.byteOffset)
        case .duplicateField:
            self.init(
                .duplicateField, "\(error.message) '\(Self.excerpt(error.path.last ?? ""))'",
                byteOffset: error.byteOffset)
        case .inexactNumber: self.init(.invalidValue, error.message, field: Self.path(error.path))
        }
    }

    /// The error of a line for an error of the decoder.
    init(_ error: DecodingError) {
        switch error {
        case .keyNotFound(let key, let context):
            self.init(.missingField, "the field is missing", field: Self.path(context.codingPath + [key]))
        case .typeMismatch(let type, let context):
            self.init(.wrongType, "the value is not \(Self.kind(of: type))", field: Self.path(context.codingPath))
        case .valueNotFound(let type, let context):
            self.init(.wrongType, "the value is null, not \(Self.kind(of: type))", field: Self.path(context.codingPath))
        case .dataCorrupted(let context) where context.underlyingError is UnknownFieldError:
            self.init(.unknownField, "there is no such field", field: Self.path(context.codingPath))
        case .dataCorrupted(let context):
            self.init(
                .invalidValue, Self.excerpt(context.debugDescription, longest: Self.longestMessage),
                field: Self.path(context.codingPath))
        @unknown default:
            self.init(.invalidValue, Self.excerpt("\(error)", longest: Self.longestMessage))
        }
    }

    private static func path(_ keys: [any CodingKey]) -> String? {
        path(keys.map { key in key.intValue.map { "[\($0)]" } ?? key.stringValue })
    }

    /// The JSON type that a Swift type is read from.
    private static func kind(of type: any Any.Type) -> String {
        switch type {
        case is String.Type: "a string"
        case is Bool.Type: "true or false"
        case is any FixedWidthInteger.Type: "a whole number"
        case is any BinaryFloatingPoint.Type: "a number"
        case is [String: Any].Type: "an object"
        case is [Any].Type: "an array"
        default: "\(type)"
        }
    }
}
