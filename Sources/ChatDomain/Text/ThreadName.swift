/// The name of a thread that does not belong to an outward code.
///
/// A thread name is 1 to 80 characters (grapheme clusters) after trimming white space, at most 320 bytes of UTF-8, of the
/// scalars that a ``Username`` may have. It is not an outward code in any writing that ``OutwardCode/init(_:)`` tolerates,
/// so that `sw1a` always means the thread of `SW1A`. Names need not be unique.
///
/// Equality is that of Swift strings, to which a letter and its canonical decomposition are the same.
public struct ThreadName: Hashable, Sendable {
    /// The name as it was written, without the white space around it.
    public let text: String

    /// Makes a thread name of what someone typed, or nothing if it breaks a rule.
    ///
    /// - Parameter text: the name; white space (the property `White_Space`) around it is left out. With that white space it
    ///   may be 4,096 bytes long; more is refused unread.
    public init?(_ text: String) { self.init(text, allowsInvisibleScalars: false) }

    /// Makes a thread name of what an import names, by the rule of earlier versions: invisible scalars are accepted.
    ///
    /// No thread is opened with it.
    package init?(former text: String) { self.init(text, allowsInvisibleScalars: true) }

    private init?(_ text: String, allowsInvisibleScalars: Bool) {
        guard let name = NameText.trimmed(text),
            NameText.isValid(name, maximumCharacters: 80, maximumBytes: 320, allowsInvisibleScalars: allowsInvisibleScalars),
            OutwardCode(name) == nil
        else { return nil }
        self.text = name
    }

    /// Makes a thread name of what an event recorded, unchecked: an event stays what it was under later rules.
    package init(recorded: String) {
        self.text = recorded
    }
}
