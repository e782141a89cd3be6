import ChatDomain
import ChatTesting
import Foundation
import TestSupport
import Testing

/// Notation, order, packed form and encoding of postcodes.
@Suite struct PostcodeWritingTests {
    @Test(arguments: [
        "SW1A 1AA", "sw1a 1aa", "Sw1A1aA", "  SW1A   1AA ", "SW1A1AA   ", " sw1a1aa", "SW1A-1AA", "sw1a\u{2011}1aa",
        "SW1A \u{2013} 1AA",
        "SW1A\t1AA", "SW1A\u{A0}1AA", "SW1A\u{2003}1AA", "SW1A 1AA\n", "SW1A 1AA\r\n", "\nSW1A 1AA", "SW1A 1AA\u{2028}",
    ])
    func postcodeVariantsAreAccepted(_ text: String) {
        #expect(Postcode(text)?.description == "SW1A 1AA")
    }

    @Test(arguments: ["SW1A", "sw1a", " sW1a  "])
    func outwardCodeVariantsAreAccepted(_ text: String) {
        #expect(OutwardCode(text)?.description == "SW1A")
    }

    @Test(arguments: [
        "SW 1A1AA", "SW1 A1AA", "SW1A1 AA", "SW1A 1 AA", "SW1A 1A A", "S W1A 1AA", "-SW1A 1AA", "SW1A 1AA-",
        "SW1A-1-AA",
        "S-W1A1AA", "- SW1A 1AA", "SW1A 1AA -", "SW1A\u{2212}1AA", "SW1A 1AA.", "SW1A 1AA\0", "SW1A 1AA\u{200B}",
        "SW1A 1AA\u{301}",
        "SW1A\u{301} 1AA", "\u{FEFF}SW1A 1AA", "SW1A 1A\u{C4}", "\"SW1A 1AA\"", "SW1A,1AA", "SW1A_1AA",
    ])
    func otherVariantsAreRejected(_ text: String) {
        #expect(Postcode(text) == nil)
    }

    /// Scalars that look like a letter or digit, or become one by naive upper-casing.
    @Test(arguments: [
        "\u{212A}T1 1AA",  // KELVIN SIGN
        "\u{131}P1 1AA", "\u{130}P1 1AA", "L\u{131}1 1AA",  // the Turkish i's
        "SW\u{661}A 1AA", "SW1A \u{661}AA",  // ARABIC-INDIC DIGIT ONE
        "SW\u{967}A 1AA",  // DEVANAGARI DIGIT ONE
        "\u{FF33}W1A 1AA", "SW\u{FF11}A 1AA",  // full width
        "\u{17F}W1A 1AA",  // LATIN SMALL LETTER LONG S, whose upper case is S
        "SW1\u{391} 1AA", "SW1\u{410} 1AA",  // Greek and Cyrillic capital A
        "SW1\u{1D400} 1AA",  // MATHEMATICAL BOLD CAPITAL A
        "SW1A 1\u{DF}",  // sharp s, whose upper case is SS
    ])
    func lookalikesAreRejected(_ text: String) {
        #expect(Postcode(text) == nil)
        #expect(OutwardCode(String(text.prefix { $0 != " " })) == nil || text.hasPrefix("SW1A "))
    }

    @Test func inputLengthIsBounded() {
        let spaces = String(repeating: " ", count: 57)
        #expect(Postcode("SW1A\(spaces)1AA")?.description == "SW1A 1AA")
        #expect(Postcode("\(spaces)SW1A1AA")?.description == "SW1A 1AA")
        #expect(Postcode("SW1A\(spaces) 1AA") == nil)
        #expect(OutwardCode("\(spaces)SW1A   ")?.description == "SW1A")
        #expect(OutwardCode("\(spaces)SW1A    ") == nil)
        #expect(Postcode(String(repeating: "A", count: 10_000_000)) == nil)
    }

    @Test func packedFormsMatch() throws {
        #expect(OutwardCode("SW1A")?.ascii == 0x5357_3141)
        #expect(OutwardCode("M1")?.ascii == 0x4D31_0000)
        #expect(Postcode("SW1A 1AA")?.ascii == 0x5357_3141_3141_4100)
        #expect(Postcode("M1 1AE")?.ascii == 0x4D31_0000_3141_4500)
        #expect(OutwardCode(ascii: 0x4D31_0000)?.description == "M1")
        #expect(Postcode(ascii: 0x4D31_0000_3141_4500)?.description == "M1 1AE")
    }

    @Test(
        arguments: [0, 0x5357_3161, 0x5357_0041, 0x0053_5731, 0x4D31_0031, 0x4D31_0041, 0x4D31_2000, 0xFFFF_FFFF]
            as [UInt32])
    func invalidPackedOutwardCodesAreRejected(_ ascii: UInt32) {
        #expect(OutwardCode(ascii: ascii) == nil)
        #expect(Postcode(ascii: UInt64(ascii) << 32 | 0x3141_4100) == nil)
    }

    @Test(arguments: [
        0, 0x5357_3141_3141_4101, 0x5357_3141_3141_0000, 0x5357_3141_4141_4100, 0x5357_3141_3143_4100,
        0x5357_3141_3141_6100,
    ])
    func invalidPackedPostcodesAreRejected(_ ascii: UInt64) {
        #expect(Postcode(ascii: ascii) == nil)
    }

    @Test func acceptedPackedFormsRoundTrip() {
        var random = SeededRandom(seed: Repetitions.seed)
        let scalars = Array("ABCEHIJKMNOPQVXZ0123456789".unicodeScalars)
        for _ in 0..<20_000 {
            let text = random.text(of: scalars, count: 2...4)
            let ascii = text.utf8.enumerated().reduce(0 as UInt32) {
                $0 | UInt32($1.element) << UInt32(24 - 8 * $1.offset)
            }
            let code = OutwardCode(ascii: ascii)
            #expect(code == OutwardCode(text), "\(text), seed \(Repetitions.seed)")
            #expect(code == nil || code?.description == text, "\(text), seed \(Repetitions.seed)")
        }
    }

    @Test func orderEqualsOrderOfTexts() {
        let texts = ["B1 1AA", "B1 1AB", "B1 9ZZ", "B11 1AA", "B1A 1AA", "B2 1AA", "BA1 1AA", "SW1A 1AA", "W1 1AA"]
        let postcodes = texts.compactMap { Postcode($0) }
        #expect(postcodes.sorted().map(\.description) == texts.sorted())
        #expect(postcodes.reversed().sorted() == postcodes)
        let codes = Set(postcodes.map(\.outwardCode))
        #expect(codes.sorted().map(\.description) == codes.map(\.description).sorted())
    }

    @Test(arguments: [("SW1A", "SW"), ("M1", "M"), ("W1A", "W"), ("DN55", "DN"), ("B33", "B")])
    func areaIsLeadingLetters(_ code: String, _ area: String) {
        #expect(OutwardCode(code)?.area == area)
    }

    @Test func codable() throws {
        struct Home: Codable, Equatable {
            var postcode: Postcode
            var district: OutwardCode
        }
        let home = try JSONDecoder().decode(Home.self, from: Data(#"{"postcode":"sw1a1aa","district":" sw1a"}"#.utf8))
        #expect(home.postcode.description == "SW1A 1AA")
        #expect(home.district == home.postcode.outwardCode)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        #expect(
            String(decoding: try encoder.encode(home), as: UTF8.self) == #"{"district":"SW1A","postcode":"SW1A 1AA"}"#)
        for bad in [#"{"postcode":"GIR 0AA","district":"SW1A"}"#, #"{"postcode":"SW1A 1AA","district":"SW1A 1AA"}"#] {
            #expect(throws: DecodingError.self) { try JSONDecoder().decode(Home.self, from: Data(bad.utf8)) }
        }
    }
}
