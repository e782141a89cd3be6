#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension JSONScanner {
    /// Encodes a text as the value that it denotes, with the fields in their order.
    ///
    /// A number is encoded as the first of these types that accepts its text: `Int64`, `UInt64`,
    /// `Decimal`, `Double`. A `Decimal` keeps at most 38 digits.
    ///
    /// - Throws: `JSONScanError` for text that is not valid, `EncodingError` for a number beyond
    ///   `Double`, and what the encoder throws.
    static func encode(_ text: [UInt8], maximumDepth: Int, to encoder: any Encoder) throws {
        var scanner = JSONScanner(text, maximumDepth: maximumDepth)
        scanner.skipSpace()
        try scanner.encodeValue(to: encoder)
        scanner.skipSpace()
        if !scanner.isAtEnd { throw scanner.syntaxError("more than one value") }
    }

    private mutating func encodeValue(to encoder: any Encoder) throws {
        switch next {
        case UInt8(ascii: "{"): try encodeObject(to: encoder)
        case UInt8(ascii: "["): try encodeArray(to: encoder)
        default:
            var container = encoder.singleValueContainer()
            try encodeScalar(to: &container, encoder.codingPath)
        }
    }

    private mutating func encodeObject(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONFieldName.self)
        try beginContainer()
        if consume("}") { return }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw syntaxError("a field name is expected") }
            let name = try scanName()
            skipSpace()
            guard consume(":") else { throw syntaxError("a colon is expected") }
            skipSpace()
            path.append(name)
            try encodeValue(to: object.superEncoder(forKey: JSONFieldName(stringValue: name)))
            path.removeLast()
            skipSpace()
        } while consume(",")
        guard consume("}") else { throw syntaxError("a comma or a closing brace is expected") }
    }

    private mutating func encodeArray(to encoder: any Encoder) throws {
        var array = encoder.unkeyedContainer()
        try beginContainer()
        if consume("]") { return }
        repeat {
            skipSpace()
            path.append("[\(array.count)]")
            try encodeValue(to: array.superEncoder())
            path.removeLast()
            skipSpace()
        } while consume(",")
        guard consume("]") else { throw syntaxError("a comma or a closing bracket is expected") }
    }

    private mutating func encodeScalar(
        to container: inout any SingleValueEncodingContainer, _ codingPath: [any CodingKey]
    ) throws {
        let start = offset
        switch next {
        case UInt8(ascii: "\""): try container.encode(try scanName())
        case UInt8(ascii: "t"), UInt8(ascii: "f"):
            try scanValue()
            try container.encode(bytes[start] == UInt8(ascii: "t"))
        case UInt8(ascii: "n"):
            try scanValue()
            try container.encodeNil()
        default:
            try scanValue()
            let text = String(decoding: bytes[start..<offset], as: UTF8.self)
            if let number = Int64(text) {
                try container.encode(number)
            } else if let number = UInt64(text) {
                try container.encode(number)
            } else if let number = Decimal(string: text) {
                try container.encode(number)
            } else if let number = Double(text), number.isFinite {
                try container.encode(number)
            } else {
                throw EncodingError.invalidValue(
                    text, .init(codingPath: codingPath, debugDescription: "the number is beyond Double"))
            }
        }
    }
}

/// A field name of any JSON object.
struct JSONFieldName: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
