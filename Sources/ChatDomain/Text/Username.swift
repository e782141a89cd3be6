/// The name by which a user is shown and found.
///
/// A username is 1 to 32 characters (grapheme clusters) after trimming white space, at most 128 bytes of UTF-8, and has no
/// control (`Cc`), format (`Cf`) or unassigned (`Cn`) scalar: such a scalar cannot be seen, can turn the rest of a line
/// around, or will mean something else in a later Unicode version. Nor has it a scalar that is shown as nothing or as a
/// blank: one with the property `Default_Ignorable_Code_Point`, such as the variation selectors and the Hangul fillers, or
/// U+2800 BRAILLE PATTERN BLANK. With one, a name would look like another user's and be another. Emoji that are written
/// with U+200D ZERO WIDTH JOINER or U+FE0F VARIATION SELECTOR-16 are therefore refused.
///
/// Names that an earlier version accepted under a wider rule stay what they are in the journals that hold them.
///
/// Two usernames clash where their fold keys are equal. Equality of the values themselves compares both parts as strings
/// of Swift, to which a letter and its canonical decomposition are the same.
public struct Username: Hashable, Sendable {
    /// The name as it was written, without the white space around it.
    public let text: String

    /// The key by which usernames are unique: the name's full case folding in Normalization Form D, at most 384 bytes.
    ///
    /// Names that are one in everything but case and composition have one key (canonical caseless matching). The standard
    /// defines that match in form D; form C would decide no pair of names otherwise.
    public let foldKey: String

    /// Makes a username of what someone typed, or nothing if it breaks a rule.
    ///
    /// - Parameter text: the name; white space (the property `White_Space`) around it is left out. With that white space it
    ///   may be 4,096 bytes long; more is refused unread.
    public init?(_ text: String) {
        guard let name = NameText.trimmed(text), NameText.isValid(name, maximumCharacters: 32, maximumBytes: 128) else { return nil }
        self.text = name
        self.foldKey = CaseFolding.key(of: name)
    }

    /// Makes a username of what an import names, by the rule of earlier versions: invisible scalars are accepted.
    ///
    /// No user is registered with it; its key says whom an earlier version imported under the name.
    package init?(former text: String) {
        guard let name = NameText.trimmed(text),
            NameText.isValid(name, maximumCharacters: 32, maximumBytes: 128, allowsInvisibleScalars: true)
        else { return nil }
        self.text = name
        self.foldKey = CaseFolding.key(of: name)
    }

    /// Makes a username of what an event recorded.
    ///
    /// Neither part is checked, and the key is not computed again: an event stays what it was under later versions of
    /// Unicode, by which its name might be invalid or have another key.
    package init(text: String, foldKey: String) {
        self.text = text
        self.foldKey = foldKey
    }

    /// Returns the key by which a user of this name would be found, whether or not the name is valid.
    ///
    /// - Parameter text: the name, in any case and with white space around it. A text of more than 4,096 bytes is returned
    ///   as it is; no username has so long a key.
    public static func foldKey(_ text: String) -> String {
        guard let name = NameText.trimmed(text) else { return text }
        return CaseFolding.key(of: name)
    }
}

/// What usernames and thread names have in common.
package enum NameText {
    /// The longest text that is looked at, in bytes: many times a name, so that trimming and counting stay cheap.
    static let maximumInputByteCount = 4096

    /// Returns a text without the white space around it, or nothing if it is too long to be looked at.
    ///
    /// - Complexity: O(1) for a text that is too long and native to Swift.
    static func trimmed(_ text: String) -> String? {
        guard text.utf8.count <= maximumInputByteCount else { return nil }
        let scalars = text.unicodeScalars
        let isInk = { (scalar: Unicode.Scalar) in !scalar.properties.isWhitespace }
        guard let first = scalars.firstIndex(where: isInk), let last = scalars.lastIndex(where: isInk) else { return "" }
        return String(scalars[first...last])
    }

    /// Whether a trimmed text is within its bounds and has no control, format or unassigned scalar, and no invisible one.
    static func isValid(
        _ name: String, maximumCharacters: Int, maximumBytes: Int, allowsInvisibleScalars: Bool = false
    ) -> Bool {
        // Bytes first: counting characters costs by the byte.
        guard !name.isEmpty, name.utf8.count <= maximumBytes, name.count <= maximumCharacters else { return false }
        return name.unicodeScalars.allSatisfy { scalar in
            switch scalar.properties.generalCategory {
            case .control, .format, .unassigned: false
            default: allowsInvisibleScalars || !isInvisible(scalar)
            }
        }
    }

    /// Returns a text without the scalars that are shown as nothing or as a blank.
    package static func withoutInvisibleScalars(_ text: String) -> String { String(text.unicodeScalars.filter { !isInvisible($0) }) }

    /// Whether a scalar is shown as nothing or as a blank, though its category is that of a letter, a mark or a symbol.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        // U+2800 is the only blank that is neither white space nor ignored by default.
        scalar.value >= 0x80 && (scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}")
    }
}
