/// The rule for the text of messages and replies.
///
/// A body is stored exactly as sent; it has no type of its own because nothing trims or normalizes
/// it. Every scalar is allowed, including control characters, which are escaped wherever a body is
/// printed.
public enum MessageBody {
    /// The maximum length of a body, in bytes of UTF-8.
    public static let maximumByteCount = 16_384

    /// The maximum number of users whom a post mentions.
    public static let maximumMentionCount = 50

    /// Whether a text is a valid body.
    ///
    /// A valid body is at most ``maximumByteCount`` bytes and has a scalar that is not white space
    /// (the property `White_Space`).
    ///
    /// - Complexity: O(*n*) in the leading white space. Does not allocate.
    public static func isValid(_ text: String) -> Bool {
        text.utf8.count <= maximumByteCount && text.unicodeScalars.contains { !$0.isWhiteSpace }
    }
}
