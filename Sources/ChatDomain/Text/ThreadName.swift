/// The name of a thread that does not belong to an outward code.
///
/// A thread name is 1 to 80 characters (grapheme clusters) after trimming white space, and at most
/// 320 bytes of UTF-8. Its scalars are those that a ``Username`` allows. No form that
/// ``OutwardCode/init(_:)`` accepts is a thread name, so `sw1a` always means the thread of `SW1A`.
/// Names need not be unique.
///
/// Equality is that of Swift strings, which treat a letter and its canonical decomposition as
/// equal.
public struct ThreadName: Hashable, Sendable {
    /// The maximum length, in characters.
    static var maximumCharacterCount: Int { 80 }
    /// The maximum length, in bytes of UTF-8.
    static var maximumByteCount: Int { 320 }

    /// The name as written, without surrounding white space.
    public let text: String

    /// Creates a thread name from a text, or nil if it breaks a rule.
    ///
    /// - Parameter text: The name. Surrounding white space (the property `White_Space`) is removed.
    ///   A text over 4,096 bytes including white space is not examined and yields nil.
    public init?(_ text: String) { self.init(text, allowsBlankScalars: false) }

    /// Creates a thread name under the wider rule of earlier versions, which allows blank
    /// scalars.
    ///
    /// An import derives a valid name from it. It never names a thread itself.
    package init?(former text: String) { self.init(text, allowsBlankScalars: true) }

    private init?(_ text: String, allowsBlankScalars: Bool) {
        guard let name = NameRules.trimmed(text),
            NameRules.isValid(
                name, maximumCharacters: Self.maximumCharacterCount, maximumBytes: Self.maximumByteCount,
                allowsBlankScalars: allowsBlankScalars),
            OutwardCode(name) == nil
        else { return nil }
        self.text = name
    }

    /// Creates a thread name from an event's recorded name, unchecked: later rules do not change
    /// events.
    package init(recorded: String) {
        self.text = recorded
    }
}
