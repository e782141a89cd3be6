/// Text in which nothing is hidden and nothing acts on a terminal, for printing what users have written.
///
/// A backslash is doubled, so that what is printed can be read back in one way only; then
/// - newline, carriage return and tab become `\n`, `\r` and `\t`;
/// - every other control (C0, DEL, C1), every format character (category Cf: bidi controls, zero-width joiners, tags, soft hyphens)
///   and the line and paragraph separators become `\u{1b}`, in the notation of Swift: lower-case hexadecimal without leading zeros.
///
/// Everything else is kept. Complexity: linear in the length of the text.
func visible(_ text: String) -> String {
    let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }
    if isPlain { return text }
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\\": result.append(contentsOf: #"\\"#.unicodeScalars)
        case "\n": result.append(contentsOf: #"\n"#.unicodeScalars)
        case "\r": result.append(contentsOf: #"\r"#.unicodeScalars)
        case "\t": result.append(contentsOf: #"\t"#.unicodeScalars)
        case _ where scalar.isInvisible:
            result.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".unicodeScalars)
        default: result.append(scalar)
        }
    }
    return String(result)
}

extension Unicode.Scalar {
    /// Whether the scalar has no shape of its own and may change how a terminal shows the rest: Cc, Cf, Zl and Zp.
    ///
    /// These are what `visible` and `JSONLineEncoder` escape; the categories are those of the running Swift's Unicode version.
    var isInvisible: Bool {
        if value < 0x7F { return value < 0x20 }
        if value < 0xAD { return value <= 0x9F }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false
        }
    }
}
