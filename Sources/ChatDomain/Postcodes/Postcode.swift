import Primitives

/// A United Kingdom postcode, such as `SW1A 1AA`: an outward code and an inward code.
///
/// A postcode is validated by its form alone. Only Royal Mail's Postcode Address File lists the
/// postcodes in use, and it changes. The form is that of the Cabinet Office's BS 7666 schema,
/// version 2.0, with P added as the third letter that the codes of `N1P` have:
///
/// ```
/// ^(?:[A-PR-UWYZ][0-9]{1,2}|[A-PR-UWYZ][0-9][A-HJKPSTUW]|[A-PR-UWYZ][A-HK-Y][0-9]{1,2}
/// |[A-PR-UWYZ][A-HK-Y][0-9][ABEHMNPRVWXY]) [0-9][ABD-HJLNP-UW-Z]{2}$
/// ```
///
/// The form includes the crown dependencies (`JE`, `GY`, `IM`), Gibraltar's `GX11 1AA`, the forces'
/// `BF1` codes, the codes of single large users, and codes without a place (`BX1 1LT`).
///
/// The form excludes the following codes, which occur in lists of postcodes:
///
/// - `GIR 0AA`, which the schema lists beside the pattern: the withdrawn code of a bank, without
///   residents.
/// - `BFPO 15` and similar numbers of the forces' post: they are not postcodes, and each has a
///   `BF1` code.
/// - `ASCN 1ZZ`, `FIQQ 1ZZ` and the other codes of overseas territories: foreign mail, without
///   districts.
/// - `ZZ99 3VZ` and other pseudo codes, and Santa's `XM4 5HQ`: they replace a missing address.
///
/// Postcodes compare by their texts.
public struct Postcode: Hashable, Comparable, Sendable {
    /// The packed form: seven ASCII bytes in big-endian order, then a zero byte.
    ///
    /// The first four bytes are the outward code as in `OutwardCode.ascii`, the next three the
    /// inward code. `SW1A 1AA` is `0x5357_3141_3141_4100`, and `M1 1AE` is `0x4D31_0000_3141_4500`.
    package let ascii: UInt64

    /// Creates a postcode from its packed form, or nil if the number is not one.
    ///
    /// - Parameter ascii: A value of ``ascii``.
    package init?(ascii: UInt64) {
        guard OutwardCode(ascii: UInt32(truncatingIfNeeded: ascii >> 32)) != nil,
            PostcodeCharacters.isDigit(UInt8(truncatingIfNeeded: ascii >> 24)),
            PostcodeCharacters.inward.contains(UInt8(truncatingIfNeeded: ascii >> 16)),
            PostcodeCharacters.inward.contains(UInt8(truncatingIfNeeded: ascii >> 8)),
            UInt8(truncatingIfNeeded: ascii) == 0
        else { return nil }
        self.ascii = ascii
    }

    /// Creates a postcode from its written form, or nil if the text is not one.
    ///
    /// ASCII letters can be of either case. White space (the property `White_Space`) is allowed
    /// before, after and between the two halves, and hyphens between them; both are optional,
    /// because the inward code is always the last three characters. All other characters are
    /// invalid: other punctuation, and characters that look like ASCII letters or digits. The text
    /// is at most 64 bytes.
    ///
    /// - Parameter text: The postcode, such as `SW1A 1AA` or `sw1a1aa`.
    public init?(_ text: String) {
        guard let written = PostcodeCharacters(text, isSeparator: Self.isSeparator), written.count >= 5 else {
            return nil
        }
        let outwardCount = written.count - 3
        guard written.gap == nil || written.gap == outwardCount else { return nil }
        let outwardBits = UInt64(8 * outwardCount)
        let outward = written.packed & (UInt64.max << (64 - outwardBits))
        let inward = (written.packed << outwardBits) >> 32
        self.init(ascii: outward | inward)
    }

    /// Whether a character can be between the two halves: as people and their programs write it,
    /// also with a hyphen, a tab, a line end or a space that does not break.
    private static func isSeparator(_ scalar: Unicode.Scalar) -> Bool {
        scalar.properties.isWhitespace || hyphens.contains(scalar)
    }

    /// HYPHEN-MINUS, HYPHEN, NON-BREAKING HYPHEN and EN DASH.
    private static let hyphens: [Unicode.Scalar] = ["-", "\u{2010}", "\u{2011}", "\u{2013}"]

    /// Whether a text is a number of the forces' post, such as `BFPO 15`, which has a `BF1` code.
    static func isForcesNumber(_ text: String) -> Bool {
        text.utf8.count <= PostcodeCharacters.maximumByteCount
            && text.trimmingPrefix { $0.isWhitespace }.uppercased().hasPrefix("BFPO")
    }

    /// The first half, which identifies the district: `SW1A` of `SW1A 1AA`.
    public var outwardCode: OutwardCode {
        OutwardCode(checked: UInt32(truncatingIfNeeded: ascii >> 32))
    }

    /// The second half, three characters that identify a street or building: `1AA` of `SW1A 1AA`.
    public var inwardCode: String {
        String(decoding: ascii.bigEndianBytes(count: 7).dropFirst(4), as: UTF8.self)
    }

    /// Compares the texts of two postcodes, byte by byte.
    public static func < (first: Postcode, second: Postcode) -> Bool {
        first.ascii < second.ascii
    }
}

extension Postcode: LosslessStringConvertible, Codable, TextValue {
    package static var decodingFailure: String { "not a postcode, such as SW1A 1AA" }

    /// The official form: in capitals, with one space between the halves.
    public var description: String {
        "\(outwardCode) \(inwardCode)"
    }
}
