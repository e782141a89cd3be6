/// The scalars of JSON as bytes, appended to a line.
enum JSONText {
    /// Appends a string in quotes.
    ///
    /// Quote and backslash get a backslash; backspace, tab, newline, form feed and carriage return their short forms; every other
    /// scalar that could act on a terminal (`isInvisible`) is written as `\uXXXX`, beyond the basic plane as a surrogate pair. All
    /// else stays as UTF-8, and `/` is not escaped. Complexity: linear in the length of the string.
    static func append(_ string: String, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        if isPlain(string.utf8.span) {
            line.append(contentsOf: string.utf8)
        } else {
            for scalar in string.unicodeScalars { append(scalar, to: &line) }
        }
        line.append(UInt8(ascii: "\""))
    }

    private static func isPlain(_ text: Span<UInt8>) -> Bool {
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): return false
            case UInt8(ascii: " ")...UInt8(ascii: "~"): break
            default: return false
            }
        }
        return true
    }

    /// Appends `null`.
    static func appendNull(to line: inout [UInt8]) { line.append(contentsOf: "null".utf8) }

    /// Appends `true` or `false`.
    static func append(_ value: Bool, to line: inout [UInt8]) { line.append(contentsOf: (value ? "true" : "false").utf8) }

    /// Appends an integer in decimal.
    static func append(_ value: some BinaryInteger, to line: inout [UInt8]) {
        if value < 0 { line.append(UInt8(ascii: "-")) }
        append(magnitude: value.magnitude, to: &line)
    }

    private static func append(magnitude value: some BinaryInteger, to line: inout [UInt8]) {
        if value >= 10 { append(magnitude: value / 10, to: &line) }
        line.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }

    /// Appends a finite number in its shortest form that reads back as the same value; a whole number has no fraction.
    ///
    /// `text` is the number's own description, `1.5`, `12.0` or `1e-07`; each of these is JSON.
    static func append(finite text: String, to line: inout [UInt8]) {
        line.append(contentsOf: text.hasSuffix(".0") ? text.utf8.dropLast(2) : text.utf8[...])
    }

    private static func append(_ scalar: Unicode.Scalar, to line: inout [UInt8]) {
        switch scalar {
        case "\"", "\\": appendEscape(UInt8(truncatingIfNeeded: scalar.value), to: &line)
        case "\u{8}": appendEscape(UInt8(ascii: "b"), to: &line)
        case "\t": appendEscape(UInt8(ascii: "t"), to: &line)
        case "\n": appendEscape(UInt8(ascii: "n"), to: &line)
        case "\u{C}": appendEscape(UInt8(ascii: "f"), to: &line)
        case "\r": appendEscape(UInt8(ascii: "r"), to: &line)
        case " "..."~": line.append(UInt8(truncatingIfNeeded: scalar.value))
        case _ where scalar.isInvisible:
            for unit in UTF16.encode(scalar) ?? .init() { appendEscape(unit: unit, to: &line) }
        default: line.append(contentsOf: UTF8.encode(scalar) ?? .init())
        }
    }

    private static func appendEscape(_ letter: UInt8, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\\"))
        line.append(letter)
    }

    private static func appendEscape(unit: UInt16, to line: inout [UInt8]) {
        appendEscape(UInt8(ascii: "u"), to: &line)
        for shift in [12, 8, 4, 0] {
            let digit = UInt8(truncatingIfNeeded: unit >> UInt16(shift)) & 0xF
            line.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + (digit - 10))
        }
    }
}
