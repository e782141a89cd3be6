/// A unique name by which a user is displayed and found.
///
/// A username is 1 to 64 Unicode scalars and at most 256 bytes of UTF-8. Each run of white space
/// (the property `White_Space`) becomes one U+0020 SPACE, and none is left at the ends.
///
/// It has no control (`Cc`), unassigned (`Cn`) or blank scalar, and of the format scalars (`Cf`)
/// only U+200C ZERO WIDTH NON-JOINER and U+200D ZERO WIDTH JOINER: another one can reverse the rest
/// of a line, and an unassigned one can change its meaning in a later Unicode version. A *blank*
/// scalar is drawn as an empty space although it is no white space, such as U+2800 BRAILLE PATTERN
/// BLANK and the Hangul fillers.
///
/// Two usernames clash if their fold keys are equal. The key leaves out the *ignorable* scalars,
/// which draw nothing themselves (the property `Default_Ignorable_Code_Point`): the two joiners,
/// which Persian, Sinhala and emoji need, and the variation selectors. So no two names differ only
/// in what nobody sees. A name of ignorable scalars alone is not valid.
///
/// Names that an earlier version accepted under other rules stay valid in the journals that hold
/// them. Equality of the values compares both parts as Swift strings, which treat a letter and its
/// canonical decomposition as equal.
public struct Username: Hashable, Sendable, CustomStringConvertible {
    /// The maximum length, in Unicode scalars.
    static var maximumScalarCount: Int { 64 }
    /// The maximum length, in bytes of UTF-8.
    static var maximumByteCount: Int { 256 }

    /// The name as written, with normalized white space.
    public let text: String

    /// The name as written.
    public var description: String { text }

    /// The key that makes usernames unique: the full case folding in Normalization Form D, without
    /// ignorable scalars.
    ///
    /// It is at most 768 bytes. Names that differ only in case and composition have the same key
    /// (canonical caseless matching). The standard defines this match in form D; form C would give
    /// the same result for every pair of names. The key of an event is the recorded one.
    public let foldKey: String

    /// Creates a username from a text, or nil if it breaks a rule.
    ///
    /// - Parameter text: The name. A text over 4,096 bytes including white space is not examined
    ///   and yields nil.
    public init?(_ text: String) {
        guard let name = NameRules.normalized(text),
            NameRules.isValid(name, maximumScalars: Self.maximumScalarCount, maximumBytes: Self.maximumByteCount)
        else { return nil }
        self.text = name
        self.foldKey = NameRules.key(of: name)
    }

    /// Creates a username from an event's recorded parts, unchecked.
    ///
    /// The key is not recomputed: under a later version of Unicode the name could be invalid or
    /// have another key, but the event must not change.
    package init(text: String, foldKey: String) {
        self.text = text
        self.foldKey = foldKey
    }

    /// The key by which the rules compare the name: ``foldKey``, and for a name that an earlier
    /// version recorded, this key with normalized white space and without ignorable scalars.
    ///
    /// Only such a key is computed again, so that a later version of Unicode changes no other name.
    package var currentFoldKey: String { NameRules.isCurrentKey(foldKey) ? foldKey : Self.foldKey(foldKey) }

    /// Returns the key by which to look up a username, whether or not the name is valid.
    ///
    /// - Parameter text: The name, in any case and with any white space. A text over 4,096 bytes is
    ///   returned unchanged; no username has so long a key.
    public static func foldKey(_ text: String) -> String {
        text.utf8.count > NameRules.maximumInputByteCount ? text : NameRules.key(of: text)
    }

    /// Returns the key by which versions before 0.1.0 compared a nickname: with its white space,
    /// except at the ends, and its ignorable scalars.
    ///
    /// An import derives the id of a nickname's user from it. Nil for a text over 4,096 bytes.
    package static func formerFoldKey(_ text: String) -> String? {
        guard text.utf8.count <= NameRules.maximumInputByteCount else { return nil }
        return CaseFolding.key(of: NameRules.trimmed(text))
    }
}
