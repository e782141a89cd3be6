/// A unique name by which a user is displayed and found.
///
/// A username is 1 to 32 characters (grapheme clusters) after trimming white space, and at most 128
/// bytes of UTF-8.
///
/// It has no control (`Cc`), format (`Cf`) or unassigned (`Cn`) scalar: such a scalar is invisible,
/// can reverse the rest of a line, or can change its meaning in a later Unicode version.
///
/// It also has no *blank* scalar, which is displayed as nothing or as a blank, so that no two
/// different names look the same. The blank scalars are U+2800 BRAILLE PATTERN BLANK and those with
/// the property `Default_Ignorable_Code_Point`, such as the variation selectors and the Hangul
/// fillers. Emoji that contain U+200D ZERO WIDTH JOINER or U+FE0F VARIATION SELECTOR-16 are therefore
/// not valid.
///
/// Names that an earlier version accepted under wider rules stay valid in the journals that hold
/// them.
///
/// Two usernames clash if their fold keys are equal. Equality of the values compares both parts as
/// Swift strings, which treat a letter and its canonical decomposition as equal.
public struct Username: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length, in characters.
    static var maximumCharacterCount: Int { 32 }
    /// The maximum length, in bytes of UTF-8.
    static var maximumByteCount: Int { 128 }

    /// The name as written, without surrounding white space.
    public let text: String

    /// The name as written.
    public var description: String { text }

    /// The key that makes usernames unique: the full case folding in Normalization Form D.
    ///
    /// It is at most 384 bytes. Names that differ only in case and composition have the same key
    /// (canonical caseless matching). The standard defines this match in form D; form C would give
    /// the same result for every pair of names.
    public let foldKey: String

    /// Creates a username from a text, or nil if it breaks a rule.
    ///
    /// - Parameter text: The name. Surrounding white space (the property `White_Space`) is removed.
    ///   A text over 4,096 bytes including white space is not examined and yields nil.
    public init?(_ text: String) {
        self.init(text, allowsBlankScalars: false)
    }

    /// Creates a username under the wider rule of earlier versions, which allows blank scalars.
    ///
    /// An import uses its key to find a user whom an earlier version imported under the name. It
    /// never registers a user.
    package init?(former text: String) {
        self.init(text, allowsBlankScalars: true)
    }

    private init?(_ text: String, allowsBlankScalars: Bool) {
        guard let name = NameRules.trimmed(text),
            NameRules.isValid(
                name, maximumCharacters: Self.maximumCharacterCount, maximumBytes: Self.maximumByteCount,
                allowsBlankScalars: allowsBlankScalars)
        else { return nil }
        self.text = name
        self.foldKey = CaseFolding.key(of: name)
    }

    /// Creates a username from an event's recorded parts, unchecked.
    ///
    /// The key is not recomputed: under a later version of Unicode the name could be invalid or
    /// have another key, but the event must not change.
    package init(text: String, foldKey: String) {
        self.text = text
        self.foldKey = foldKey
    }

    /// Returns the key by which to look up a username, whether or not the name is valid.
    ///
    /// - Parameter text: The name, in any case, with or without surrounding white space. A text
    ///   over 4,096 bytes is returned unchanged; no username has so long a key.
    public static func foldKey(_ text: String) -> String {
        guard let name = NameRules.trimmed(text) else { return text }
        return CaseFolding.key(of: name)
    }
}

/// The rules shared by usernames and thread names.
package enum NameRules {
    /// The maximum length of a text to examine, in bytes.
    ///
    /// It bounds the cost of trimming and counting, and is far longer than any valid name.
    static let maximumInputByteCount = 4096

    /// Returns a text without surrounding white space, or nil if it is too long to examine.
    ///
    /// - Complexity: O(1) for a text that is too long and native to Swift.
    static func trimmed(_ text: String) -> String? {
        guard text.utf8.count <= maximumInputByteCount else { return nil }
        let scalars = text.unicodeScalars
        let isNotWhiteSpace = { (scalar: Unicode.Scalar) in !scalar.properties.isWhitespace }
        guard let first = scalars.firstIndex(where: isNotWhiteSpace), let last = scalars.lastIndex(where: isNotWhiteSpace) else {
            return ""
        }
        return String(scalars[first...last])
    }

    /// Whether a trimmed text is within the bounds and has only allowed scalars.
    ///
    /// Control, format and unassigned scalars are never allowed.
    static func isValid(
        _ name: String, maximumCharacters: Int, maximumBytes: Int, allowsBlankScalars: Bool
    ) -> Bool {
        // Bytes first: counting characters takes time proportional to the bytes.
        guard !name.isEmpty, name.utf8.count <= maximumBytes, name.count <= maximumCharacters else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .unassigned: false
            default: allowsBlankScalars || !isBlank(scalar)
            }
        }
    }

    /// Returns a text without its blank scalars: those that are displayed as nothing or as a blank.
    package static func withoutBlankScalars(_ text: String) -> String { String(text.unicodeScalars.filter { !isBlank($0) }) }

    /// Whether a letter, mark or symbol is displayed as nothing or as a blank.
    private static func isBlank(_ scalar: Unicode.Scalar) -> Bool {
        // U+2800 is the only blank that is neither white space nor default ignorable.
        scalar.value >= 0x80 && (scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}")
    }
}
