/// The name of a thread that does not belong to an outward code.
///
/// A thread name is 1 to 120 Unicode scalars and at most 480 bytes of UTF-8. Its scalars and its
/// white space are those of a ``Username``. No form that ``OutwardCode/init(_:)`` accepts is a
/// thread name, with or without ignorable scalars, so `sw1a` always means the thread of `SW1A`.
/// Names need not be unique.
///
/// Equality is that of Swift strings, which treat a letter and its canonical decomposition as
/// equal.
public struct ThreadName: Hashable, Sendable {
    /// The maximum length, in Unicode scalars.
    package static var maximumScalarCount: Int { 120 }
    /// The maximum length, in bytes of UTF-8.
    static var maximumByteCount: Int { 480 }

    /// The name as written, with normalized white space.
    public let text: String

    /// Creates a thread name from a text, or nil if it breaks a rule.
    ///
    /// - Parameter text: The name. A text over 4,096 bytes including white space is not examined
    ///   and yields nil.
    public init?(_ text: String) {
        guard let name = NameRules.normalized(text),
            NameRules.isValid(name, maximumScalars: Self.maximumScalarCount, maximumBytes: Self.maximumByteCount),
            OutwardCode(NameRules.visible(name)) == nil
        else { return nil }
        self.text = name
    }

    /// Creates a thread name from an event's recorded name, unchecked: later rules do not change
    /// events.
    package init(recorded: String) {
        self.text = recorded
    }
}
