import ChatDomain
import ChatTesting
import TestSupport
import Testing

/// The rules of Royal Mail and BS 7666, one test per rule.
@Suite struct PostcodeRuleTests {
    @Test(arguments: ["M1 1AE", "B33 8TH", "W1A 0AX", "CR2 6XH", "DN55 1PT", "EC1A 1BB"])
    func sixFormatsAreAccepted(_ text: String) throws {
        let postcode = try #require(Postcode(text))
        let halves = text.split(separator: " ").map(String.init)
        #expect(postcode.description == text)
        #expect(postcode.outwardCode.description == halves[0])
        #expect(postcode.inwardCode == halves[1])
        #expect(OutwardCode(halves[0]) == postcode.outwardCode)
        #expect(Postcode(halves.joined()) == postcode)
    }

    /// A code of one format with one position that takes every letter of the alphabet.
    struct Position: Sendable, CustomStringConvertible {
        var before: String
        var after: String
        var unused: String
        var description: String { "\(before)?\(after)" }
    }

    static let notThird = "ILMNOQRVXYZ"
    static let notFourth = "CDFGIJKLOQSTUZ"

    @Test(arguments: [
        Position(before: "", after: "1 1AA", unused: "QVX"),
        Position(before: "", after: "11 1AA", unused: "QVX"),
        Position(before: "", after: "1A 1AA", unused: "QVX"),
        Position(before: "", after: "A1 1AA", unused: "QVX"),
        Position(before: "", after: "A11 1AA", unused: "QVX"),
        Position(before: "", after: "A1A 1AA", unused: "QVX"),
        Position(before: "A", after: "1 1AA", unused: "IJZ"),
        Position(before: "A", after: "11 1AA", unused: "IJZ"),
        Position(before: "A", after: "1A 1AA", unused: "IJZ"),
        Position(before: "A1", after: " 1AA", unused: notThird),
        Position(before: "AA1", after: " 1AA", unused: notFourth),
        Position(before: "A1 1", after: "A", unused: "CIKMOV"),
        Position(before: "A1 1A", after: "", unused: "CIKMOV"),
        Position(before: "AA1A 1", after: "A", unused: "CIKMOV"),
        Position(before: "AA1A 1A", after: "", unused: "CIKMOV"),
    ])
    func lettersOfEachPositionAreChecked(_ position: Position) {
        for letter in capitals {
            let text = "\(position.before)\(letter)\(position.after)"
            #expect((Postcode(text) != nil) == !position.unused.contains(letter), "\(text)")
            #expect((Postcode(text.lowercased()) != nil) == !position.unused.contains(letter), "\(text.lowercased())")
        }
    }

    @Test func thirdLetterIncludesLetterMissingFromSchema() {
        #expect(Postcode("N1P 1AA")?.outwardCode.description == "N1P")
    }

    @Test(arguments: ["BL0", "BS0", "CM0", "CR0", "FY0", "HA0", "PR0", "SL0", "SS0", "S01", "N0", "A00", "AA00"])
    func districtsCanHaveZeros(_ code: String) {
        #expect(OutwardCode(code)?.description == code)
        #expect(Postcode("\(code) 1AA")?.outwardCode.description == code)
    }

    @Test(arguments: [
        "", " ", "A", "1", "AA", "AAA", "AAAA", "1A", "11", "A111", "AA111", "A1AA", "A1A1", "AA1AA", "A11A", "AA11A",
        "AAA1", "AAA1A",
        "1A1",
    ])
    func otherTextsAreNotOutwardCodes(_ code: String) {
        #expect(OutwardCode(code) == nil)
        #expect(Postcode("\(code) 1AA") == nil)
    }

    @Test(arguments: ["AAA", "A1A", "AA1", "11A", "1A1", "111", "1A", "1AAA", "11AA", ""])
    func otherTextsAreNotInwardCodes(_ code: String) {
        #expect(Postcode("SW1A \(code)") == nil)
        #expect(Postcode("M1 \(code)") == nil)
    }

    @Test func postcodeWithoutSpaceSplitsUniquely() {
        #expect(Postcode("B11BH")?.description == "B1 1BH")
        #expect(Postcode("B111BH")?.description == "B11 1BH")
        #expect(Postcode("SW1A1AA")?.description == "SW1A 1AA")
        #expect(Postcode("M1AE") == nil)
        #expect(Postcode("SW1A11AA") == nil)
    }

    @Test(arguments: [
        "GIR 0AA", "BFPO 15", "BFPO 5439", "BFPO c/o 61", "ASCN 1ZZ", "BBND 1ZZ", "BIQQ 1ZZ", "FIQQ 1ZZ", "PCRN 1ZZ",
        "SIQQ 1ZZ",
        "STHL 1ZZ", "TDCU 1ZZ", "TKCA 1ZZ", "AI-2640", "VG1110", "KY1-1001", "HM 12", "ZZ99 9ZZ", "ZZ99 3VZ", "SAN TA1",
        "XM4 5HQ",
    ])
    func unsupportedSpecialCodesAreRejected(_ text: String) {
        #expect(Postcode(text) == nil)
    }

    @Test(arguments: [
        "BF1 0AA", "BX1 1LT", "E98 1NW", "N81 1ER", "JE2 4WD", "GY10 1AA", "IM1 1AA", "BT10 0HJ", "GX11 1AA",
    ])
    func supportedSpecialCodesAreAccepted(_ text: String) {
        #expect(Postcode(text)?.description == text)
    }

    /// Compares all texts of two to four capitals and digits with the count computed from the
    /// formats and letters.
    @Test func outwardCodeCountMatchesFormats() {
        let characters = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".utf8)
        var accepted = 0
        func visit(_ ascii: UInt32, _ depth: Int) {
            if OutwardCode(ascii: ascii) != nil { accepted += 1 }
            guard depth < 4 else { return }
            for character in characters { visit(ascii | UInt32(character) << UInt32(24 - 8 * depth), depth + 1) }
        }
        visit(0, 0)
        let a9 = 23 * 10
        let a99 = 23 * 100
        let a9a = 23 * 10 * 15
        let aa9 = 23 * 23 * 10
        let aa99 = 23 * 23 * 100
        let aa9a = 23 * 23 * 10 * 12
        #expect(accepted == a9 + a99 + a9a + aa9 + aa99 + aa9a)
    }

    /// Compares random texts with the rules as a regular expression.
    @Test func randomTextsAgreeWithPattern() throws {
        let pattern = try Regex(
            "^ *(?:[A-PR-UWYZ][0-9]{1,2}|[A-PR-UWYZ][0-9][A-HJKPSTUW]|[A-PR-UWYZ][A-HK-Y][0-9]{1,2}|"
                + "[A-PR-UWYZ][A-HK-Y][0-9][ABEHMNPRVWXY])[ -]*[0-9][ABD-HJLNP-UW-Z]{2} *$")
        var random = SeededRandom(seed: Repetitions.seed)
        let letters = Array("ABEPQVXIJZCKMO".unicodeScalars)
        let digits = Array("0189".unicodeScalars)
        var matches = 0
        for _ in 0..<4000 {
            var text = random.text(of: letters, count: 1...2) + random.text(of: digits, count: 1...2)
            if Bool.random(using: &random) { text += random.text(of: letters, count: 0...1) }
            text +=
                random.text(of: [" ", " ", "-"], count: 0...2) + random.text(of: digits, count: 0...1)
                + random.text(of: letters, count: 2...2)
            if Int.random(in: 0..<8, using: &random) == 0 {
                text = random.text(of: letters + digits + [" ", "-"], count: 0...9)
            }
            let expected = try pattern.firstMatch(in: text) != nil
            if expected { matches += 1 }
            #expect((Postcode(text) != nil) == expected, "\(text.debugDescription), seed \(Repetitions.seed)")
        }
        #expect(matches > 100, "too few matching cases, seed \(Repetitions.seed)")
    }
}
