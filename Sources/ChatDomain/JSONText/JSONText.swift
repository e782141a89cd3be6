/// JSON as bytes, appended to a line.
package enum JSONText {
    /// Appends a string in quotes.
    ///
    /// A quote and a backslash get a backslash; backspace, tab, newline, form feed and carriage
    /// return have their short forms; every other scalar that may act on a terminal
    /// (`altersTerminal`) is `\uXXXX`, beyond the basic plane a surrogate pair. All others stay as
    /// UTF-8; `/` is not escaped. Complexity: linear in the length of the string.
    package static func append(_ string: String, to line: inout [UInt8]) {
        line.append(UInt8(ascii: "\""))
        if isPlain(string.utf8.span) {
            line.append(contentsOf: string.utf8)
        } else {
            for scalar in string.unicodeScalars { append(scalar, to: &line) }
        }
        line.append(UInt8(ascii: "\""))
    }

    /// Appends an integer in decimal.
    package static func append(_ value: UInt64, to line: inout [UInt8]) {
        if value >= 10 { append(value / 10, to: &line) }
        line.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10))
    }

    /// Whether every byte is printable ASCII that needs no escape.
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

    private static func append(_ scalar: Unicode.Scalar, to line: inout [UInt8]) {
        switch scalar {
        case "\"", "\\": appendEscape(UInt8(truncatingIfNeeded: scalar.value), to: &line)
        case "\u{8}": appendEscape(UInt8(ascii: "b"), to: &line)
        case "\t": appendEscape(UInt8(ascii: "t"), to: &line)
        case "\n": appendEscape(UInt8(ascii: "n"), to: &line)
        case "\u{C}": appendEscape(UInt8(ascii: "f"), to: &line)
        case "\r": appendEscape(UInt8(ascii: "r"), to: &line)
        default: appendTerminalSafe(scalar, to: &line)
        }
    }

    /// Appends a scalar as UTF-8, or as `\uXXXX` if it may act on a terminal (`altersTerminal`).
    ///
    /// Beyond the basic plane the escape is a surrogate pair. Hexadecimal digits are in lower case.
    static func appendTerminalSafe(_ scalar: Unicode.Scalar, to line: inout [UInt8]) {
        switch scalar {
        case " "..."~": line.append(UInt8(truncatingIfNeeded: scalar.value))
        case _ where scalar.altersTerminal:
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

extension Unicode.Scalar {
    /// Whether the scalar has no glyph and may change how a terminal shows the rest.
    ///
    /// Controls (Cc), format characters such as bidi controls and zero-width joiners (Cf), and line
    /// and paragraph separators (Zl, Zp), by the Unicode version of the running Swift. They are
    /// escaped wherever text from users is printed, and in JSON (`JSONText`).
    package var altersTerminal: Bool {
        if value < 0x7F { return value < 0x20 }
        if value < 0xAD { return value <= 0x9F }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
