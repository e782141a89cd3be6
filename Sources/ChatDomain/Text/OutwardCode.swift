/// The first half of a United Kingdom postcode: `SW1A` of `SW1A 1AA`.
///
/// Royal Mail calls this half the *outward code*, and the places that share one a *postcode district*; the tutorial apps
/// say "postcode area" for it, which officially means its letters alone (``area``, `SW`).
///
/// A code is accepted by its form: one of `A9`, `A99`, `A9A`, `AA9`, `AA99`, `AA9A`, with the letters that Royal Mail uses
/// in each position (BS 7666 with the `P` of `N1P` added). No form proves that a district exists: `S01` passes, for
/// example, and so do the codes that name no place (`BX1`). ``Postcode`` lists what is not accepted, and why.
///
/// Codes are ordered as their texts are: `B1`, `B11`, `B2`.
public struct OutwardCode: Hashable, Comparable, Sendable {
    /// The letters and digits of the code: ASCII capitals, left-justified in big-endian order, padded with zero bytes.
    ///
    /// `SW1A` is `0x5357_3141`, and `M1` is `0x4D31_0000`.
    package let ascii: UInt32

    /// Makes a code from its packed form, or nothing if that is not an outward code.
    ///
    /// - Parameter ascii: what ``ascii`` returned.
    package init?(ascii: UInt32) {
        guard Self.isWellFormed(ascii) else { return nil }
        self.ascii = ascii
    }

    /// Makes a code of bytes that are known to be one: the outward half of a postcode that was checked.
    init(checked ascii: UInt32) {
        assert(Self.isWellFormed(ascii))
        self.ascii = ascii
    }

    /// Reads an outward code as people write it.
    ///
    /// ASCII letters may be of either case and ASCII spaces may stand before and after the code; nothing else is tolerated.
    /// The whole text may be 64 bytes long.
    ///
    /// - Parameter text: the written code, such as `SW1A` or `sw1a `.
    public init?(_ text: String) {
        guard let written = PostcodeCharacters(text), written.gap == nil, written.count <= 4 else { return nil }
        self.init(ascii: UInt32(truncatingIfNeeded: written.packed >> 32))
    }

    /// The letters the code begins with, officially the *postcode area*: `SW` of `SW1A`, one or two capitals.
    public var area: String {
        let letters = ascii.bigEndianBytes(count: 4).prefix { PostcodeCharacters.letters.contains($0) }
        return String(decoding: letters, as: UTF8.self)
    }

    /// Whether the text of one code comes before that of another, byte by byte.
    public static func < (first: OutwardCode, second: OutwardCode) -> Bool {
        first.ascii < second.ascii
    }

    /// Checks the outward half of the pattern of `Postcode`.
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

extension OutwardCode: LosslessStringConvertible {
    /// The code as it is officially written: `SW1A`.
    public var description: String {
        String(decoding: ascii.bigEndianBytes(count: 4).prefix { $0 != 0 }, as: UTF8.self)
    }
}

extension OutwardCode: Codable {
    /// Decodes a code from a string, as tolerantly as ``init(_:)`` reads it.
    ///
    /// - Throws: `DecodingError.dataCorrupted` where the string is not an outward code.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let code = OutwardCode(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not an outward code, such as SW1A")
        }
        self = code
    }

    /// Encodes the code as the string it is officially written as.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The letters and digits of a written postcode or outward code, before its form is checked.
///
/// Works on bytes: a digit is one of ten bytes and not one of any script, and only ASCII letters have two cases, so that
/// neither U+212A KELVIN SIGN, nor an Arabic digit, nor the machine's language can make a code of what is none.
struct PostcodeCharacters {
    /// The characters as ASCII capitals, left-justified in big-endian order and padded with zero bytes.
    private(set) var packed: UInt64 = 0

    /// How many characters there are, 0 to 7.
    private(set) var count = 0

    /// The number of characters before the spaces that stand between them, if any do.
    private(set) var gap: Int?

    /// Collects letters and digits, or returns nothing if there is anything else but spaces, spaces in two places, or too much of it.
    init?(_ text: String) {
        guard text.utf8.count <= Self.maximumByteCount else { return nil }
        var afterSpace = false
        for byte in text.utf8 {
            if byte == UInt8(ascii: " ") {
                afterSpace = true
                continue
            }
            let capital = Self.lowercaseLetters.contains(byte) ? byte - 0x20 : byte
            guard count < 7, Self.isDigit(capital) || Self.letters.contains(capital) else { return nil }
            if afterSpace, count > 0 {
                guard gap == nil else { return nil }
                gap = count
            }
            afterSpace = false
            packed |= UInt64(capital) << UInt64(56 - 8 * count)
            count += 1
        }
    }

    /// The longest text that is looked at, in bytes: a written code with room for stray spaces.
    private static let maximumByteCount = 64

    private static let lowercaseLetters = UInt8(ascii: "a")...UInt8(ascii: "z")

    static let letters = LetterSet("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    /// The letters of the first position: all but Q, V, X.
    static let first = LetterSet("ABCDEFGHIJKLMNOPRSTUWYZ")
    /// The letters of the second position: all but I, J, Z.
    static let second = LetterSet("ABCDEFGHKLMNOPQRSTUVWXY")
    /// The letters that end an `A9A` code; BS 7666 leaves out the P, which `N1P` has.
    static let third = LetterSet("ABCDEFGHJKPSTUW")
    /// The letters that end an `AA9A` code.
    static let fourth = LetterSet("ABEHMNPRVWXY")
    /// The letters of an inward code: all but C, I, K, M, O, V.
    static let inward = LetterSet("ABDEFGHJLNPQRSTUWXYZ")

    static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}

/// A set of ASCII capitals, one bit for each.
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
    /// The most significant bytes, the first of them first.
    func bigEndianBytes(count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: self >> Self(Self.bitWidth - 8 - 8 * $0)) }
    }
}
