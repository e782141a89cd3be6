import Primitives

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// Scans JSON text by RFC 8259: validates a line before Foundation decodes it, finds the elements
/// of an array and the fields of an object.
///
/// Foundation's decoder alone does not meet the guarantees of the command-line tool
/// (`FoundationJSONTests` shows each):
/// - A field given twice is an error. Foundation silently takes one of the two.
/// - An error names its byte. Foundation reports invalid JSON without the place.
/// - Trailing commas, byte order marks and UTF-16 are errors. Foundation accepts them.
/// - A whole number is read as it is written, or not at all. Foundation reads 3.9999999999999999 as
///   4.
/// - Nesting is bounded. Foundation recurses up to a limit of its own.
///
/// The bytes must be valid UTF-8. Beyond the input, memory is bounded by the names of the open
/// objects. Complexity: linear in the number of bytes.
package struct JSONScanner {
    /// The deepest nesting of objects and arrays that is accepted.
    package static let maximumDepth = 64

    /// Facts about a valid line that its decoder needs.
    package struct Facts {
        /// The error for the first number that Foundation would read as another whole number, nil
        /// if there is none.
        ///
        /// It applies once the line is decoded: what the decoder itself rejects has an error of its
        /// own. Numbers in the exempt value do not count.
        package let inexactNumber: JSONScanError?
        /// The bytes of the exempt value, nil if the line has none.
        package let exemptValue: Range<Int>?
    }

    let bytes: [UInt8]
    let maximumDepth: Int
    /// The path of the value whose numbers are kept as text; empty if there is none.
    private var exemptPath: [String] = []
    var offset = 0
    /// The path of the current value: field names, and array indexes in brackets.
    var path: [String] = []
    private var inexactNumber: JSONScanError?
    private var exemptValue: Range<Int>?

    /// Scans a whole line.
    ///
    /// - Parameters:
    ///   - maximumDepth: The deepest nesting of objects and arrays that is accepted.
    ///   - exemptPath: The path of the value whose numbers are kept as text, so that none is
    ///     inexact; empty for no value.
    /// - Throws: `JSONScanError` for the first problem other than an inexact number.
    @discardableResult
    package static func validate(
        _ bytes: [UInt8], maximumDepth: Int = Self.maximumDepth, exemptPath: [String] = []
    ) throws(JSONScanError) -> Facts {
        var scanner = JSONScanner(bytes, maximumDepth: maximumDepth)
        scanner.exemptPath = exemptPath
        scanner.skipSpace()
        guard !scanner.isAtEnd else { throw JSONScanError(.notJSON, "the line is empty") }
        try scanner.scanValue()
        scanner.skipSpace()
        if !scanner.isAtEnd { throw scanner.syntaxError("more than one value") }
        return Facts(inexactNumber: scanner.inexactNumber, exemptValue: scanner.exemptValue)
    }

    /// Returns the bytes of each element if the text is an array; nil for any other value.
    ///
    /// - Throws: `JSONScanError` for the first problem in the array, and `tooMany` for an element
    ///   beyond the limit, before it is scanned.
    package static func elements(of bytes: [UInt8], limit: Int) throws(JSONScanError) -> [Range<Int>]? {
        var scanner = JSONScanner(bytes, maximumDepth: maximumDepth)
        scanner.skipSpace()
        guard scanner.next == UInt8(ascii: "[") else { return nil }
        var elements: [Range<Int>] = []
        try scanner.beginContainer()
        if !scanner.consume("]") {
            repeat {
                scanner.skipSpace()
                guard elements.count < limit else {
                    throw JSONScanError(.tooMany, "more than \(limit) elements", byteOffset: scanner.offset)
                }
                let start = scanner.offset
                do throws(JSONScanError) { try scanner.scanValue() } catch {
                    var error = error
                    error.element = elements.count
                    throw error
                }
                elements.append(start..<scanner.offset)
                scanner.skipSpace()
            } while scanner.consume(",")
            guard scanner.consume("]") else { throw scanner.syntaxError("a comma or a closing bracket is expected") }
        }
        scanner.skipSpace()
        if !scanner.isAtEnd { throw scanner.syntaxError("more than one value") }
        return elements
    }

    /// A field of an object: its name, and the bytes of its value.
    package struct Field {
        package let name: String
        package let value: Range<Int>
    }

    /// Returns the fields if the text is an object; nil for any other value.
    ///
    /// - Throws: `JSONScanError` for the first problem in the object.
    package static func fields(of bytes: [UInt8]) throws(JSONScanError) -> [Field]? {
        try validate(bytes)
        var scanner = JSONScanner(bytes, maximumDepth: maximumDepth)
        scanner.skipSpace()
        guard scanner.next == UInt8(ascii: "{") else { return nil }
        var fields: [Field] = []
        try scanner.beginContainer()
        if scanner.consume("}") { return fields }
        repeat {
            scanner.skipSpace()
            let name = try scanner.scanName()
            scanner.skipSpace()
            _ = scanner.consume(":")
            scanner.skipSpace()
            let start = scanner.offset
            try scanner.scanValue()
            fields.append(Field(name: name, value: start..<scanner.offset))
            scanner.skipSpace()
        } while scanner.consume(",")
        return fields
    }

    init(_ bytes: [UInt8], maximumDepth: Int) {
        self.bytes = bytes
        self.maximumDepth = maximumDepth
    }

    var isAtEnd: Bool { offset == bytes.count }
    var next: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    func syntaxError(_ problem: String) -> JSONScanError {
        JSONScanError(.notJSON, "not JSON: \(isAtEnd ? "the line ends too early" : problem)", byteOffset: offset)
    }

    mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D { offset += 1 }
    }

    /// Consumes a byte if it is the next one.
    mutating func consume(_ scalar: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: scalar) else { return false }
        offset += 1
        return true
    }

    // MARK: Values

    mutating func scanValue() throws(JSONScanError) {
        switch next {
        case UInt8(ascii: "{"): try scanObject()
        case UInt8(ascii: "["): try scanArray()
        case UInt8(ascii: "\""): try scanString()
        case UInt8(ascii: "t"): try word("true")
        case UInt8(ascii: "f"): try word("false")
        case UInt8(ascii: "n"): try word("null")
        case .some(UInt8(ascii: "-")), .some(UInt8(ascii: "0")...UInt8(ascii: "9")): try scanNumber()
        default: throw syntaxError("a value is expected")
        }
    }

    /// Begins an object or an array, whose depth is the length of the path.
    mutating func beginContainer() throws(JSONScanError) {
        guard path.count < maximumDepth else {
            throw JSONScanError(.tooDeep, "nested deeper than \(maximumDepth) levels", byteOffset: offset)
        }
        offset += 1
        skipSpace()
    }

    private mutating func scanObject() throws(JSONScanError) {
        try beginContainer()
        if consume("}") { return }
        var names: Set<String> = []
        repeat {
            skipSpace()
            let start = offset
            guard next == UInt8(ascii: "\"") else { throw syntaxError("a field name is expected") }
            let name = try scanName()
            // Compared as `String` compares, as the decoder does.
            guard names.insert(name).inserted else {
                throw JSONScanError(.duplicateField, "duplicate field", byteOffset: start, path: path + [name])
            }
            skipSpace()
            guard consume(":") else { throw syntaxError("a colon is expected") }
            skipSpace()
            path.append(name)
            if path == exemptPath { try scanExemptValue() } else { try scanValue() }
            path.removeLast()
            skipSpace()
        } while consume(",")
        guard consume("}") else { throw syntaxError("a comma or a closing brace is expected") }
    }

    /// Scans the exempt value, in which no number is inexact.
    private mutating func scanExemptValue() throws(JSONScanError) {
        let start = offset
        let earlier = inexactNumber
        try scanValue()
        inexactNumber = earlier
        exemptValue = start..<offset
    }

    private mutating func scanArray() throws(JSONScanError) {
        try beginContainer()
        if consume("]") { return }
        var index = 0
        repeat {
            skipSpace()
            path.append("[\(index)]")
            try scanValue()
            path.removeLast()
            index += 1
            skipSpace()
        } while consume(",")
        guard consume("]") else { throw syntaxError("a comma or a closing bracket is expected") }
    }

    private mutating func word(_ word: StaticString) throws(JSONScanError) {
        for byte in String(describing: word).utf8 {
            guard next == byte else { throw syntaxError("a value is expected") }
            offset += 1
        }
    }

    // MARK: Numbers

    private mutating func scanNumber() throws(JSONScanError) {
        _ = consume("-")
        let start = offset
        if !consume("0") { try scanDigits() }
        let end = offset
        if consume(".") { try scanDigits() }
        if consume("e") || consume("E") {
            if !consume("+") { _ = consume("-") }
            try scanDigits()
        }
        if offset > end, inexactNumber == nil, !Self.isExactInteger(bytes[start..<offset]) {
            inexactNumber = JSONScanError(
                .inexactNumber, "the number does not fit its field", byteOffset: start, path: path)
        }
    }

    private mutating func scanDigits() throws(JSONScanError) {
        let start = offset
        while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { offset += 1 }
        if offset == start { throw syntaxError("a digit is expected") }
    }

    /// Whether an unsigned number is exactly a whole number that `Double` and `UInt64` represent.
    private static func isExactInteger(_ number: ArraySlice<UInt8>) -> Bool {
        // `Decimal` is exact for 38 digits.
        guard number.count <= 38 else { return false }
        let text = String(decoding: number, as: UTF8.self)
        guard let whole = Double(text).flatMap(UInt64.init(exactly:)) else { return false }
        return Decimal(string: text) == Decimal(whole)
    }

    // MARK: Strings

    private mutating func scanString() throws(JSONScanError) {
        offset += 1
        while let byte = next {
            if byte < 0x20 { throw syntaxError("a control character in a string") }
            offset += 1
            if byte == UInt8(ascii: "\"") { return }
            if byte == UInt8(ascii: "\\") { _ = try scanEscape() }
        }
        throw syntaxError("an open string")
    }

    /// A string with its text.
    mutating func scanName() throws(JSONScanError) -> String {
        let start = offset + 1
        try scanString()
        let end = offset
        let content = bytes[start..<end - 1]
        guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) }
        offset = start
        defer { offset = end }
        var text: [UInt8] = []
        while offset < end - 1 {
            let byte = bytes[offset]
            offset += 1
            if byte == UInt8(ascii: "\\") {
                text.append(contentsOf: UTF8.encode(try scanEscape()) ?? .init())
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The rest of an escape, after its backslash.
    private mutating func scanEscape() throws(JSONScanError) -> Unicode.Scalar {
        let start = offset - 1
        guard let letter = next else { throw syntaxError("an incomplete escape") }
        guard letter == UInt8(ascii: "u") else {
            guard let scalar = Self.shortEscapes[letter] else { throw syntaxError("an unknown escape") }
            offset += 1
            return scalar
        }
        offset += 1
        let unit = try scanHexadecimal()
        if let scalar = Unicode.Scalar(unit) { return scalar }
        if unit < 0xDC00, consume("\\"), consume("u") {
            let low = try scanHexadecimal()
            if (0xDC00...0xDFFF).contains(low),
                let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
            {
                return scalar
            }
        }
        throw JSONScanError(.notJSON, "not JSON: an unpaired surrogate", byteOffset: start)
    }

    private static let shortEscapes: [UInt8: Unicode.Scalar] = [
        UInt8(ascii: "\""): "\"", UInt8(ascii: "\\"): "\\", UInt8(ascii: "/"): "/", UInt8(ascii: "b"): "\u{8}",
        UInt8(ascii: "f"): "\u{C}", UInt8(ascii: "n"): "\n", UInt8(ascii: "r"): "\r", UInt8(ascii: "t"): "\t",
    ]

    private mutating func scanHexadecimal() throws(JSONScanError) -> UInt16 {
        var unit: UInt16 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Hexadecimal.value(of: byte) else {
                throw syntaxError("a hexadecimal digit is expected")
            }
            unit = unit << 4 | UInt16(digit)
            offset += 1
        }
        return unit
    }
}
