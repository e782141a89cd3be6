import Primitives

/// The first half of a United Kingdom postcode: `SW1A` of `SW1A 1AA`.
///
/// Royal Mail calls this half the *outward code*, and the places that share one a *postcode
/// district*. Some chat tutorials call it a *postcode area*, which officially is only its letters
/// (``area``, `SW`).
///
/// A code is validated by its form: `A9`, `A99`, `A9A`, `AA9`, `AA99` or `AA9A`, with the letters
/// that Royal Mail uses in each position (BS 7666 with the `P` of `N1P` added). The form does not
/// prove that a district exists: `S01` is valid, and so are codes without a place, such as `BX1`.
/// ``Postcode`` lists the codes that the form excludes.
///
/// Codes compare by their texts: `B1`, `B11`, `B2`.
public struct OutwardCode: Hashable, Comparable, Sendable {
    /// The packed form: ASCII capitals and digits, left-justified in big-endian order, padded with
    /// zeros.
    ///
    /// `SW1A` is `0x5357_3141`, and `M1` is `0x4D31_0000`.
    package let ascii: UInt32

    /// Creates a code from its packed form, or nil if the number is not one.
    ///
    /// - Parameter ascii: A value of ``ascii``.
    package init?(ascii: UInt32) {
        guard Self.isWellFormed(ascii) else { return nil }
        self.ascii = ascii
    }

    /// Creates a code from checked bytes: the outward half of a valid postcode.
    init(checked ascii: UInt32) {
        assert(Self.isWellFormed(ascii))
        self.ascii = ascii
    }

    /// Creates a code from its written form, or nil if the text is not one.
    ///
    /// ASCII letters can be of either case, and ASCII spaces are allowed before and after the code.
    /// All other characters are invalid. The text is at most 64 bytes.
    ///
    /// - Parameter text: The code, such as `SW1A` or `sw1a `.
    public init?(_ text: String) {
        guard let written = PostcodeCharacters(text, isSeparator: { $0 == " " }), written.gap == nil, written.count <= 4
        else { return nil }
        self.init(ascii: UInt32(truncatingIfNeeded: written.packed >> 32))
    }

    /// The letters at the start, officially the *postcode area*: `SW` of `SW1A`, one or two
    /// capitals.
    public var area: String {
        let letters = ascii.bigEndianBytes(count: 4).prefix { PostcodeCharacters.letters.contains($0) }
        return String(decoding: letters, as: UTF8.self)
    }

    /// Compares the texts of two codes, byte by byte.
    public static func < (first: OutwardCode, second: OutwardCode) -> Bool {
        first.ascii < second.ascii
    }

    /// Checks the outward half of the pattern in `Postcode`.
    private static func isWellFormed(_ ascii: UInt32) -> Bool {
        let first = UInt8(truncatingIfNeeded: ascii >> 24)
        let second = UInt8(truncatingIfNeeded: ascii >> 16)
        let third = UInt8(truncatingIfNeeded: ascii >> 8)
        let fourth = UInt8(truncatingIfNeeded: ascii)
        guard PostcodeCharacters.first.contains(first) else { return false }
        if PostcodeCharacters.isDigit(second) {
            let ends = third == 0 || PostcodeCharacters.isDigit(third) || PostcodeCharacters.third.contains(third)
            return ends && fourth == 0
        }
        guard PostcodeCharacters.second.contains(second), PostcodeCharacters.isDigit(third) else { return false }
        return fourth == 0 || PostcodeCharacters.isDigit(fourth) || PostcodeCharacters.fourth.contains(fourth)
    }
}

extension OutwardCode: LosslessStringConvertible, Codable, TextValue {
    package static var decodingFailure: String { "not an outward code, such as SW1A" }

    /// The official form, such as `SW1A`.
    public var description: String {
        String(decoding: ascii.bigEndianBytes(count: 4).prefix { $0 != 0 }, as: UTF8.self)
    }
}

/// The letters and digits of a written postcode or outward code, before validation of its form.
///
/// Works on bytes: only the ten ASCII digits are digits and only ASCII letters have two cases.
/// U+212A KELVIN SIGN, Arabic digits and the locale therefore cannot produce a code.
struct PostcodeCharacters {
    /// The characters as ASCII capitals, left-justified in big-endian order, padded with zeros.
    private(set) var packed: UInt64 = 0

    /// The number of characters, 0 to 7.
    private(set) var count = 0

    /// The number of characters before the inner spaces, or nil without inner spaces.
    private(set) var gap: Int?

    /// Collects the letters and digits of a text.
    ///
    /// Returns nil if the text has other characters, separators in two inner places, separators
    /// other than white space at its ends, more than 7 characters, or more than 64 bytes.
    init?(_ text: String, isSeparator: (Unicode.Scalar) -> Bool) {
        guard text.utf8.count <= Self.maximumByteCount else { return nil }
        var (afterSpace, afterDash) = (false, false)
        for scalar in text.unicodeScalars {
            if isSeparator(scalar) {
                afterSpace = true
                if !scalar.properties.isWhitespace { afterDash = true }
                if afterDash, count == 0 { return nil }
                continue
            }
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            let capital = Self.lowercaseLetters.contains(byte) ? byte - 0x20 : byte
            guard count < 7, Self.isDigit(capital) || Self.letters.contains(capital) else { return nil }
            if afterSpace, count > 0 {
                guard gap == nil else { return nil }
                gap = count
            }
            (afterSpace, afterDash) = (false, false)
            packed |= UInt64(capital) << UInt64(56 - 8 * count)
            count += 1
        }
        if afterDash { return nil }
    }

    /// The maximum length of a text, in bytes: a code and some extra spaces.
    static let maximumByteCount = 64

    private static let lowercaseLetters = UInt8(ascii: "a")...UInt8(ascii: "z")

    static let letters = LetterSet("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    /// The letters of the first position: all except Q, V and X.
    static let first = LetterSet("ABCDEFGHIJKLMNOPRSTUWYZ")
    /// The letters of the second position: all except I, J and Z.
    static let second = LetterSet("ABCDEFGHKLMNOPQRSTUVWXY")
    /// The last letters of an `A9A` code; BS 7666 lacks the P of `N1P`.
    static let third = LetterSet("ABCDEFGHJKPSTUW")
    /// The last letters of an `AA9A` code.
    static let fourth = LetterSet("ABEHMNPRVWXY")
    /// The letters of an inward code: all except C, I, K, M, O and V.
    static let inward = LetterSet("ABDEFGHJLNPQRSTUWXYZ")

    static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// A set of ASCII capitals, one bit each.
struct LetterSet {
    private var bits: UInt32 = 0

    init(_ capitals: String) {
        for byte in capitals.utf8 { bits |= 1 << UInt32(byte - UInt8(ascii: "A")) }
    }

    func contains(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) && bits & (1 << UInt32(byte - UInt8(ascii: "A"))) != 0
    }
}

extension FixedWidthInteger where Self: UnsignedInteger {
    /// Returns the most significant bytes, in big-endian order.
    func bigEndianBytes(count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: self >> Self(Self.bitWidth - 8 - 8 * $0)) }
    }
}
