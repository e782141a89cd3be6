/// The rules shared by usernames and thread names.
package enum NameRules {
    /// The maximum length of a text to examine, in bytes.
    ///
    /// It bounds the cost of normalizing and counting, and is far longer than any valid name.
    package static let maximumInputByteCount = 4096

    /// Returns a text with each run of white space as one U+0020, and none at its ends; nil if it
    /// is too long to examine.
    ///
    /// - Complexity: O(*n*); O(1) for a text that is too long and native to Swift.
    static func normalized(_ text: String) -> String? {
        text.utf8.count <= maximumInputByteCount ? normalizingWhiteSpace(text.unicodeScalars) : nil
    }

    /// Whether a normalized text is within the bounds, has only allowed scalars, and is not
    /// invisible.
    static func isValid(_ name: String, maximumScalars: Int, maximumBytes: Int) -> Bool {
        let scalars = name.unicodeScalars
        return name.utf8.count <= maximumBytes && scalars.count <= maximumScalars && scalars.allSatisfy(isAllowed)
            && !visible(name).isEmpty
    }

    /// Whether a recorded text can be a name by the rules of any version.
    static func isPossible(_ name: String, maximumBytes: Int) -> Bool {
        (1...maximumBytes).contains(name.utf8.count)
            && !name.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }

    /// Returns a text without the scalars that no name has, its white space normalized.
    package static func cleaned(_ text: String) -> String {
        normalizingWhiteSpace(text.unicodeScalars.lazy.filter { $0.isWhiteSpace || isAllowed($0) })
    }

    /// Returns a text without ignorable scalars, its white space normalized.
    package static func visible(_ text: String) -> String {
        normalizingWhiteSpace(text.unicodeScalars.lazy.filter { !isIgnorable($0) })
    }

    /// Returns the key by which names are equal.
    static func key(of text: String) -> String { CaseFolding.key(of: visible(text)) }

    /// Whether a recorded key has no ignorable scalar and no white space that a normalized name
    /// lacks.
    static func isCurrentKey(_ key: String) -> Bool {
        var isAfterSpace = true
        for scalar in key.unicodeScalars {
            if scalar == " " {
                if isAfterSpace { return false }
                isAfterSpace = true
            } else {
                if scalar.isWhiteSpace || isIgnorable(scalar) { return false }
                isAfterSpace = false
            }
        }
        return !isAfterSpace
    }

    /// Returns a text without surrounding white space; a text that is too long to examine
    /// unchanged.
    package static func trimmed(_ text: String) -> String {
        guard text.utf8.count <= maximumInputByteCount else { return text }
        let scalars = text.unicodeScalars
        let isNotWhiteSpace = { (scalar: Unicode.Scalar) in !scalar.isWhiteSpace }
        guard let first = scalars.firstIndex(where: isNotWhiteSpace),
            let last = scalars.lastIndex(where: isNotWhiteSpace)
        else {
            return ""
        }
        return String(scalars[first...last])
    }

    private static func normalizingWhiteSpace(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var result = String.UnicodeScalarView()
        var awaitsSpace = false
        for scalar in scalars {
            if scalar.isWhiteSpace {
                awaitsSpace = !result.isEmpty
            } else {
                if awaitsSpace { result.append(" ") }
                awaitsSpace = false
                result.append(scalar)
            }
        }
        return String(result)
    }

    /// Whether a normalized name may have a scalar.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .unassigned: false
        case .format: joiners.contains(scalar)
        default: !blanks.contains(scalar)
        }
    }

    /// Whether a scalar draws nothing itself, so that keys leave it out.
    static func isIgnorable(_ scalar: Unicode.Scalar) -> Bool {
        scalar.value >= 0x80 && (scalar.properties.isDefaultIgnorableCodePoint || otherIgnorables.contains(scalar))
    }

    /// ZERO WIDTH NON-JOINER and ZERO WIDTH JOINER, which change the form of the letters around
    /// them.
    private static let joiners: [Unicode.Scalar] = ["\u{200C}", "\u{200D}"]

    /// TIFINAGH CONSONANT JOINER and BRAHMI NUMBER JOINER: they change the form of the letters
    /// around them, and are not default ignorable.
    private static let otherIgnorables: [Unicode.Scalar] = ["\u{2D7F}", "\u{1107F}"]

    /// The scalars that are drawn as an empty space, or not at all, and are neither white space nor
    /// needed by a language.
    ///
    /// Hangul fillers, BRAILLE PATTERN BLANK, OBJECT REPLACEMENT CHARACTER, Egyptian blanks, KHITAN
    /// SMALL SCRIPT FILLER, MUSICAL SYMBOL NULL NOTEHEAD. `UnicodeData.txt` has no property that
    /// lists them.
    private static let blanks: Set<Unicode.Scalar> = [
        "\u{115F}", "\u{1160}", "\u{3164}", "\u{FFA0}", "\u{2800}", "\u{FFFC}", "\u{13441}", "\u{13442}", "\u{16FE4}",
        "\u{1D159}",
    ]
}
