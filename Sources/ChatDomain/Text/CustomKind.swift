import Primitives

/// The kind of a custom event, such as `org.example.poll-closed`.
///
/// A kind is a reverse-DNS name, so that the custom events of two programs do not clash: two or
/// more labels separated by dots, and at most ``maximumByteCount`` bytes. A label is 1 to 63 ASCII
/// letters, digits and hyphens, with no hyphen at either end. Letters in upper and lower case are
/// different.
///
///     extension CustomKind {
///         static let pollClosed: CustomKind = "org.example.poll-closed"
///     }
public struct CustomKind: Hashable, Sendable {
    /// The maximum length of a kind, in bytes.
    public static let maximumByteCount = 128

    /// The name.
    public let text: String

    /// Creates a kind, or nil if the text is not a valid one.
    ///
    /// It takes text of the running program: Swift reads `CustomKind("...")` with a literal as
    /// ``init(stringLiteral:)``.
    ///
    /// - Complexity: O(1) for a text that is too long and native to Swift.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumByteCount else { return nil }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count >= 2, labels.allSatisfy(Self.isLabel) else { return nil }
        self.text = text
    }

    /// Creates a kind that the rules check.
    package init(unchecked text: String) { self.text = text }

    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        let hyphen = UInt8(ascii: "-")
        guard (1...63).contains(label.count), label.first != hyphen, label.last != hyphen else { return false }
        return label.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"),
                hyphen:
                true
            default: false
            }
        }
    }
}

extension CustomKind: ExpressibleByStringLiteral {
    /// Creates a kind from a literal.
    ///
    /// - Precondition: The literal is a valid kind.
    public init(stringLiteral text: String) {
        guard let kind = CustomKind(text) else {
            preconditionFailure("\(text) is no reverse-DNS name, such as com.example.poll")
        }
        self = kind
    }
}

extension CustomKind: TextValue {
    package static let decodingFailure = "not a reverse-DNS name, such as com.example.poll"

    /// The name.
    public var description: String { text }
}

extension CustomKind: Comparable {
    /// Orders kinds by their bytes.
    public static func < (first: CustomKind, second: CustomKind) -> Bool { first.text < second.text }
}
