import Primitives

/// The emoji of a reaction: a sequence of Unicode, such as `👍🏽`, or a name, such as `:shipit:`.
///
/// A sequence is one that `emoji-test.txt` of version ``unicodeVersion`` lists as fully-qualified.
/// It is also accepted without some or all of its U+FE0F VARIATION SELECTOR-16 (minimally-qualified
/// or unqualified), which are then added, so that each emoji has one text. After an emoji whose
/// default is the form with colours, alone or joined with others, a selector is left out: some
/// keyboards add it. A name is 1 to 32 of `a` to `z`, `0` to `9`, `_`, `+` and `-`, between two
/// colons; what it shows is a matter of the client.
///
/// Skin tones and hair alone (components), text and more than one emoji are not accepted.
///
/// Emoji that a later version recorded stay valid in the journals that hold them.
public struct Emoji: Hashable, Sendable {
    /// The maximum length, in bytes of UTF-8.
    public static let maximumByteCount = 35
    /// The maximum length of a text to examine, in bytes: selectors that are left out count.
    package static let maximumInputByteCount = 64

    /// The fully-qualified sequence, or the name with its colons.
    public let text: String

    /// Creates an emoji from its text, or nil if it is none.
    ///
    /// - Complexity: O(1), the first use apart; for a text that is too long, if it is native to
    ///   Swift.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumInputByteCount else { return nil }
        if Self.isName(text) {
            self.text = text
        } else if let sequence = EmojiSequences.qualified(text) {
            self.text = sequence
        } else {
            return nil
        }
    }

    /// Creates an emoji from an event's recorded text, unchecked.
    ///
    /// The text can be one of a later version of Unicode, and the event must not change.
    package init(recorded text: String) { self.text = text }

    /// Whether the emoji is a name, such as `:shipit:`, and no sequence of Unicode.
    public var isName: Bool { text.utf8.first == UInt8(ascii: ":") }

    /// Whether a version of Unicode can have the emoji, or it is a name.
    ///
    /// A reader of a journal must not reject the emoji of a later version.
    var isPossible: Bool {
        if Emoji(text)?.text == text { return true }
        guard (1...Self.maximumInputByteCount).contains(text.utf8.count) else { return false }
        return text.unicodeScalars.allSatisfy { !$0.isASCII && $0.canBeInEmoji }
    }
    private static func isName(_ text: String) -> Bool {
        let colon = UInt8(ascii: ":")
        let bytes = text.utf8
        guard (3...34).contains(bytes.count), bytes.first == colon, bytes.last == colon else { return false }
        return bytes.dropFirst().dropLast().allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "+"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
    }
}

extension Emoji: TextValue {
    package static let decodingFailure = "not an emoji, such as 👍 or :shipit:"

    /// The fully-qualified sequence, or the name with its colons.
    public var description: String { text }
}

extension Unicode.Scalar {
    /// Whether the general category is one of the scalars of emoji, or the scalar is unassigned.
    fileprivate var canBeInEmoji: Bool {
        switch properties.generalCategory {
        case .otherSymbol, .modifierSymbol, .mathSymbol, .otherPunctuation, .dashPunctuation, .nonspacingMark,
            .enclosingMark, .format,
            .unassigned:
            true
        default: false
        }
    }
}

/// The look-up of sequences in the table, which has one sequence for all that differ in skin tones.
enum EmojiSequences {
    /// Returns the fully-qualified sequence of a text, or nil if the text is no emoji.
    ///
    /// The caller bounds the text.
    static func qualified(_ text: String) -> String? {
        guard let expected = byKey[key(of: text)] else { return nil }
        var given = text.unicodeScalars[...]
        var sequence = String.UnicodeScalarView()
        for scalar in expected.unicodeScalars {
            if scalar == joiner { skipSelector(in: &given, after: sequence.last) }
            if given.first == scalar || (isTone(scalar) && given.first.map(isTone) == true) {
                sequence.append(given.removeFirst())
            } else if scalar == selector {
                sequence.append(selector)
            } else {
                return nil
            }
        }
        skipSelector(in: &given, after: sequence.last)
        return given.isEmpty ? String(sequence) : nil
    }

    /// Removes a selector at the beginning that asks for what is the default of the scalar before.
    private static func skipSelector(in given: inout Substring.UnicodeScalarView, after last: Unicode.Scalar?) {
        if given.first == selector, last?.properties.isEmojiPresentation == true { given.removeFirst() }
    }

    /// The sequences of the table, each by its key.
    private static let byKey: [String: String] = {
        var sequences: [String: String] = [:]
        for text in Emoji.table.unicodeScalars.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            sequences[key(of: String(text))] = String(text)
        }
        return sequences
    }()

    /// Returns the text without selectors, with the first skin tone as 🏻, and every other one as 🏼.
    private static func key(of text: String) -> String {
        var key = String.UnicodeScalarView()
        var firstTone: Unicode.Scalar?
        for scalar in text.unicodeScalars where scalar != selector {
            guard isTone(scalar) else {
                key.append(scalar)
                continue
            }
            key.append(firstTone == nil || firstTone == scalar ? "\u{1F3FB}" : "\u{1F3FC}")
            firstTone = firstTone ?? scalar
        }
        return String(key)
    }

    private static func isTone(_ scalar: Unicode.Scalar) -> Bool { (0x1F3FB...0x1F3FF).contains(scalar.value) }

    /// VARIATION SELECTOR-16, which asks for the form with colours.
    private static let selector: Unicode.Scalar = "\u{FE0F}"
    /// ZERO WIDTH JOINER, between the emoji of one that is joined of several.
    private static let joiner: Unicode.Scalar = "\u{200D}"
}

extension Emoji {
    /// A valid name, in the place of an emoji that was erased.
    static var placeholder: String { ":erased:" }
}
