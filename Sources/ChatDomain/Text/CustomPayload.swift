#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The payload of a custom event: the text of one JSON value, without insignificant white space.
///
/// The order of fields, the digits of numbers and the escapes in strings stay as they are written:
/// `{"b":1.50,"a":"\u00e9"}` is kept byte for byte. Scalars in strings that have no glyph and may
/// act on a terminal (general categories Cc, Cf, Zl and Zp, by the Unicode version of the running
/// Swift) are replaced by their `\uxxxx` escapes. The text can therefore be printed as it is, and
/// an export holds the same bytes.
///
/// Objects and arrays are nested at most 62 levels deep, so that an event with its payload is
/// within the 64 levels of a line of an import.
///
/// Payloads are equal if their texts have equal bytes: `1.0` and `1` are different, and so are a
/// letter and its canonical decomposition.
public struct CustomPayload: Hashable, Sendable, LosslessStringConvertible {
    /// The maximum length of the payload of a custom event, in bytes of UTF-8.
    public static let maximumByteCount = 16_384

    /// The path of a payload in the JSON of a command and of an event.
    package static let path = ["custom", "payload"]

    /// The deepest nesting: a payload is two levels below the top of a line.
    static let maximumDepth = JSONScanner.maximumDepth - 2

    /// The JSON text.
    public let text: String

    /// Creates a payload from JSON text, or nil if the text is not one JSON value by RFC 8259.
    ///
    /// A text with a field twice in one object, with an unpaired surrogate or nested too deeply
    /// yields nil. A text of any length is accepted; see ``isWithinLimit``.
    ///
    /// - Complexity: O(*n*).
    public init?(_ text: String) {
        guard (try? JSONScanner.validate(Array(text.utf8), maximumDepth: Self.maximumDepth)) != nil else { return nil }
        self.text = Self.compact(text)
    }

    /// Creates the payload that a value is encoded as.
    ///
    /// The fields of an object are sorted. A `Date` is its seconds since 2001, as Foundation's
    /// encoder writes it; a ``Timestamp`` is a text that other programs read. The length is not
    /// limited here; see ``isWithinLimit``.
    ///
    /// - Throws: `EncodingError` if the value cannot be encoded as JSON, or is nested too deeply.
    public init(encoding value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let text = String(decoding: try encoder.encode(value), as: UTF8.self)
        guard let payload = CustomPayload(text) else {
            throw EncodingError.invalidValue(
                value, .init(codingPath: [], debugDescription: "nested deeper than \(Self.maximumDepth) levels"))
        }
        self = payload
    }

    /// Decodes a value of a type from the payload.
    ///
    /// - Throws: `DecodingError` if the payload is not such a value.
    public func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try JSONDecoder().decode(type, from: Data(text.utf8))
    }

    /// Creates a payload from text that the caller has checked, or will not print.
    package init(unchecked text: String) {
        self.text = text
    }

    /// Whether the text is at most ``maximumByteCount`` bytes of UTF-8.
    public var isWithinLimit: Bool { text.utf8.count <= Self.maximumByteCount }

    /// The JSON text.
    public var description: String { text }

    /// Whether two payloads have equal bytes.
    public static func == (first: CustomPayload, second: CustomPayload) -> Bool {
        first.text.utf8.elementsEqual(second.text.utf8)
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }

    /// Removes the white space outside strings of valid JSON, and escapes the invisible scalars
    /// inside.
    private static func compact(_ text: String) -> String {
        var compact: [UInt8] = []
        compact.reserveCapacity(text.utf8.count)
        var isInString = false
        var isEscaped = false
        for scalar in text.unicodeScalars {
            switch scalar {
            case " " where !isInString, "\t", "\n", "\r": continue  // No string contains the last three.
            case "\"" where !isEscaped: isInString.toggle()
            default: break
            }
            isEscaped = scalar == "\\" && !isEscaped
            JSONText.appendTerminalSafe(scalar, to: &compact)
        }
        return String(decoding: compact, as: UTF8.self)
    }
}

/// The JSON of a payload: the value that the text denotes.
///
/// An encoder for JSON receives numbers as `Int64`, `UInt64`, `Decimal` or `Double`, so a number
/// can lose digits, and `1.50` becomes `1.5`. Foundation's `JSONEncoder` also changes the order of
/// fields. A number beyond `Double`, such as `1e999`, is an `EncodingError`.
extension CustomPayload: Codable {
    /// The key of the payload's JSON text in a decoder's `userInfo`, a `String`.
    ///
    /// If it is set, every payload that the decoder decodes is that text, and the decoder's own
    /// value is not read. Set it for a decoder of one line that holds one payload.
    package static let sourceKey: CodingUserInfoKey = {
        guard let key = CodingUserInfoKey(rawValue: "ChatDomain.CustomPayload.source") else {
            preconditionFailure("every text is a key")
        }
        return key
    }()

    /// The longest text that is read from a decoder's own value, in bytes.
    ///
    /// It bounds the cost, and is far longer than any valid payload.
    static let maximumDecodedByteCount = 65_536

    /// Decodes any JSON value.
    ///
    /// The command-line tool keeps the text as it is written. Other decoders do not have the text:
    /// fields are sorted by name, and numbers are read as `Decimal`, with at most 38 digits, or as
    /// `Double` beyond its range. ``init(_:)`` keeps the text.
    ///
    /// - Throws: `DecodingError` with the path of the value if a number does not fit `Double`, the
    ///   value is nested too deeply, or its text is over 65,536 bytes.
    public init(from decoder: any Decoder) throws {
        if let source = decoder.userInfo[Self.sourceKey] as? String {
            guard let payload = CustomPayload(source) else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "not a JSON value"))
            }
            self = payload
            return
        }
        var text: [UInt8] = []
        try Self.append(decoder, depth: 0, to: &text)
        self.init(unchecked: String(decoding: text, as: UTF8.self))
    }

    /// Encodes the value that the text denotes.
    public func encode(to encoder: any Encoder) throws {
        do {
            try JSONScanner.encode(Array(text.utf8), maximumDepth: Self.maximumDepth, to: encoder)
        } catch let error as JSONScanError {
            throw EncodingError.invalidValue(
                text, .init(codingPath: encoder.codingPath, debugDescription: error.message, underlyingError: error))
        }
    }

    /// Appends the text of a decoder's value.
    private static func append(_ decoder: any Decoder, depth: Int, to text: inout [UInt8]) throws {
        func error(_ message: String) -> DecodingError {
            .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: message))
        }
        // A decoder does not tell the type of its value: each attempt fails for other types.
        if let scalar = try scalar(of: decoder) {
            text += scalar
        } else if let object = try? decoder.container(keyedBy: JSONFieldName.self) {
            guard depth < maximumDepth else { throw error("nested deeper than \(maximumDepth) levels") }
            text.append(UInt8(ascii: "{"))
            for (index, key) in object.allKeys.sorted(by: { $0.stringValue < $1.stringValue }).enumerated() {
                if index > 0 { text.append(UInt8(ascii: ",")) }
                JSONText.append(key.stringValue, to: &text)
                text.append(UInt8(ascii: ":"))
                try append(object.superDecoder(forKey: key), depth: depth + 1, to: &text)
            }
            text.append(UInt8(ascii: "}"))
        } else if var array = try? decoder.unkeyedContainer() {
            guard depth < maximumDepth else { throw error("nested deeper than \(maximumDepth) levels") }
            text.append(UInt8(ascii: "["))
            while !array.isAtEnd {
                if array.currentIndex > 0 { text.append(UInt8(ascii: ",")) }
                try append(array.superDecoder(), depth: depth + 1, to: &text)
            }
            text.append(UInt8(ascii: "]"))
        } else {
            throw error("not a JSON value, or a number beyond Double")
        }
        guard text.count <= maximumDecodedByteCount else {
            throw error("the payload is over \(maximumDecodedByteCount) bytes")
        }
    }

    /// Returns the text of a value that is not an object or array, or nil.
    private static func scalar(of decoder: any Decoder) throws -> [UInt8]? {
        let value = try decoder.singleValueContainer()
        if value.decodeNil() { return Array("null".utf8) }
        if let string = try? value.decode(String.self) {
            var text: [UInt8] = []
            JSONText.append(string, to: &text)
            return text
        }
        // Before the integers, because Foundation reads 3.9999999999999999 as the integer 4.
        if let number = try? value.decode(Decimal.self), number.isFinite { return Array(shortText(of: number).utf8) }
        if let flag = try? value.decode(Bool.self) { return Array((flag ? "true" : "false").utf8) }
        if let number = try? value.decode(Int64.self) { return Array(number.description.utf8) }
        if let number = try? value.decode(UInt64.self) { return Array(number.description.utf8) }
        if let number = try? value.decode(Double.self), number.isFinite { return Array(number.description.utf8) }
        return nil
    }

    /// Returns a number in plain notation, or in exponent notation if that is shorter and the plain
    /// one has over 20 characters, as that of 1e100.
    private static func shortText(of number: Decimal) -> String {
        let plain = number.description
        guard plain.utf8.count > 20 else { return plain }
        let exponential = "\(number.isSignMinus ? "-" : "")\(number.significand.magnitude)e\(number.exponent)"
        return exponential.utf8.count < plain.utf8.count ? exponential : plain
    }
}
