/// The rule for the text of messages and replies.
///
/// A body is kept exactly as it was sent, so there is no type for it that could trim or normalize it: only this check.
/// Any scalar is allowed, control characters too; they are made visible where a body is printed.
public enum MessageBody {
    /// The longest body, in bytes of UTF-8.
    public static let maximumByteCount = 16_384

    /// Whether a text can be a body: at most ``maximumByteCount`` bytes, and something besides white space (the property
    /// `White_Space`).
    ///
    /// - Complexity: O(1) for a text that begins with an ASCII character other than white space; else up to the first
    ///   scalar that is not white space. Does not allocate.
    public static func isValid(_ text: String) -> Bool {
        guard text.utf8.count <= maximumByteCount, let first = text.utf8.first else { return false }
        // Nearly every body ends the check here: of ASCII, the space and U+0009 to U+000D are white space.
        if first < 0x80, first != 0x20, !(0x09...0x0D).contains(first) { return true }
        return text.unicodeScalars.contains { !$0.properties.isWhitespace }
    }
}
