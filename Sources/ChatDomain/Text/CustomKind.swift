/// The rule for the kind of a custom event, such as `org.example.poll-closed`.
///
/// A kind is a reverse-DNS name, so that the custom events of two programs do not clash.
public enum CustomKind {
    /// The maximum length of a kind, in bytes.
    public static let maximumByteCount = 128

    /// Whether a text is a valid kind.
    ///
    /// A valid kind is two or more labels separated by dots, and at most ``maximumByteCount``
    /// bytes. A label is 1 to 63 ASCII letters, digits and hyphens, with no hyphen at either end.
    /// Letters in upper and lower case are different.
    ///
    /// - Complexity: O(1) for a text that is too long and native to Swift.
    public static func isValid(_ text: String) -> Bool {
        guard text.utf8.count <= maximumByteCount else { return false }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.count >= 2 && labels.allSatisfy(isLabel)
    }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        let hyphen = UInt8(ascii: "-")
        guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen else { return false }
        return label.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                hyphen:
                true
            default: false
            }
        }
    }
}
