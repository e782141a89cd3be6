/// A United Kingdom postcode: `SW1A 1AA`, an outward code and an inward code.
///
/// A postcode is accepted by its form alone; whether anyone lives there only Royal Mail's Postcode Address File can tell,
/// and it changes. The form is that of the Cabinet Office's BS 7666 schema, version 2.0, with the letter P added that the
/// real codes of `N1P` have in the third place:
///
///     ^(?:[A-PR-UWYZ][0-9]{1,2}|[A-PR-UWYZ][0-9][A-HJKPSTUW]|[A-PR-UWYZ][A-HK-Y][0-9]{1,2}|[A-PR-UWYZ][A-HK-Y][0-9][ABEHMNPRVWXY])
///      [0-9][ABD-HJLNP-UW-Z]{2}$
///
/// Accepted with it: the crown dependencies (`JE`, `GY`, `IM`), Gibraltar's `GX11 1AA`, the forces' `BF1` codes, and the
/// codes of single large users and of no place at all (`BX1 1LT`), for all of these are in the form that residents write.
///
/// Not accepted beyond it, though each is met in lists of postcodes:
///
/// - `GIR 0AA`, which the schema names beside the pattern: the withdrawn code of a bank; nobody lives there.
/// - `BFPO 15` and its like: numbers of the forces' post and not postcodes; each has a `BF1` code, which is accepted.
/// - `ASCN 1ZZ`, `FIQQ 1ZZ` and the other codes of overseas territories: foreign mail, with no districts to be a neighbour in.
/// - `ZZ99 3VZ` and other pseudo codes, and Santa's `XM4 5HQ`: they stand for the lack of an address.
///
/// Postcodes are ordered as their texts are.
public struct Postcode: Hashable, Comparable, Sendable {
    /// The letters and digits of the postcode in big-endian order: four bytes of outward code as in `OutwardCode.ascii`, three of inward code, a zero byte.
    ///
    /// `SW1A 1AA` is `0x5357_3141_3141_4100`, and `M1 1AE` is `0x4D31_0000_3141_4500`.
    package let ascii: UInt64

    /// Makes a postcode from its packed form, or nothing if that is not a postcode.
    ///
    /// - Parameter ascii: what ``ascii`` returned.
    package init?(ascii: UInt64) {
        guard OutwardCode(ascii: UInt32(truncatingIfNeeded: ascii >> 32)) != nil,
            PostcodeCharacters.isDigit(UInt8(truncatingIfNeeded: ascii >> 24)),
            PostcodeCharacters.inward.contains(UInt8(truncatingIfNeeded: ascii >> 16)),
            PostcodeCharacters.inward.contains(UInt8(truncatingIfNeeded: ascii >> 8)),
            UInt8(truncatingIfNeeded: ascii) == 0
        else { return nil }
        self.ascii = ascii
    }

    /// Reads a postcode as people write it.
    ///
    /// ASCII letters may be of either case; any number of ASCII spaces may stand before, after and between the two halves,
    /// and none need stand between them, for the inward code is always the last three characters. Nothing else is
    /// tolerated: no space elsewhere, no other white space, no punctuation, no letter or digit that only looks like one.
    /// The whole text may be 64 bytes long.
    ///
    /// - Parameter text: the written postcode, such as `SW1A 1AA` or `sw1a1aa`.
    public init?(_ text: String) {
        guard let written = PostcodeCharacters(text), written.count >= 5 else { return nil }
        let outwardCount = written.count - 3
        guard written.gap == nil || written.gap == outwardCount else { return nil }
        let outwardBits = UInt64(8 * outwardCount)
        let outward = written.packed & (UInt64.max << (64 - outwardBits))
        let inward = (written.packed << outwardBits) >> 32
        self.init(ascii: outward | inward)
    }

    /// The half that names the district: `SW1A` of `SW1A 1AA`.
    public var outwardCode: OutwardCode {
        OutwardCode(checked: UInt32(truncatingIfNeeded: ascii >> 32))
    }

    /// The half that names the street or building within the district, three characters: `1AA` of `SW1A 1AA`.
    public var inwardCode: String {
        String(decoding: ascii.bigEndianBytes(count: 7).dropFirst(4), as: UTF8.self)
    }

    /// Whether the text of one postcode comes before that of another, byte by byte.
    public static func < (first: Postcode, second: Postcode) -> Bool {
        first.ascii < second.ascii
    }
}

extension Postcode: LosslessStringConvertible {
    /// The postcode as it is officially written: in capitals, with one space between its halves.
    public var description: String {
        "\(outwardCode) \(inwardCode)"
    }
}

extension Postcode: Codable {
    /// Decodes a postcode from a string, as tolerantly as ``init(_:)`` reads it.
    ///
    /// - Throws: `DecodingError.dataCorrupted` where the string is not a postcode.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let postcode = Postcode(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not a postcode, such as SW1A 1AA")
        }
        self = postcode
    }

    /// Encodes the postcode as the string it is officially written as.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
