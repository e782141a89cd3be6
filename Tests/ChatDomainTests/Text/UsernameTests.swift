import ChatDomain
import ChatTesting
import TestSupport
import Testing

@Suite struct UsernameTests {
    @Test(arguments: ["Ann", "a", "O'Neill", "Ann Smith", "陳大文", "Zoë", "👩‍🚀".replacingJoiners, "🇬🇧", "১২", "-", "\u{2028}".asInner])
    func ordinaryNamesAreAccepted(_ text: String) {
        #expect(Username(text)?.text == text)
    }

    @Test func surroundingWhiteSpaceIsTrimmed() {
        #expect(Username(" Ann ")?.text == "Ann")
        #expect(Username("\t\r\n\u{A0}\u{3000}\u{85}Ann Lee\u{2003}\u{2029}\n")?.text == "Ann Lee")
        #expect(Username("Ann  Lee")?.text == "Ann  Lee")
    }

    @Test(arguments: ["", " ", "\n", "\u{3000}\u{A0}\u{2028}"])
    func emptyNamesAreRejected(_ text: String) {
        #expect(Username(text) == nil)
    }

    @Test(arguments: [
        "a\u{0}b", "a\tb", "a\nb", "a\u{1B}[31mb", "a\u{7F}b", "a\u{85}b",  // Cc
        "a\u{AD}b", "a\u{200B}b", "a\u{200D}b", "a\u{202E}b", "\u{FEFF}ab", "ab\u{2066}", "a\u{E0041}b",  // Cf
        "a\u{378}b", "a\u{E1000}b",  // Cn
    ])
    func invisibleScalarsAreRejected(_ text: String) {
        #expect(Username(text) == nil)
    }

    @Test(arguments: [
        "\u{34F}", "\u{115F}", "\u{1160}", "\u{17B4}", "\u{180B}", "\u{2800}", "\u{3164}", "\u{FE0F}", "\u{FFA0}", "\u{E0100}",
    ])
    func blankScalarsAreRejected(_ scalar: String) {
        for text in ["Ann" + scalar, scalar + "Ann", "A\(scalar)nn", scalar] { #expect(Username(text) == nil) }
    }

    /// Checks every Unicode scalar alone, inside a name and after a letter that it could combine
    /// with.
    @Test func defaultIgnorableScalarsAreRejected() {
        var refused = 0
        for value in UInt32(0)...0x10FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            guard scalar.properties.isDefaultIgnorableCodePoint || scalar == "\u{2800}" else { continue }
            refused += 1
            for text in ["a\(scalar)b", "a\(scalar)", "\(scalar)"] where Username(text) != nil || ThreadName(text) != nil {
                Issue.record("U+\(String(value, radix: 16)) is accepted in a name")
            }
        }
        // Unicode 15.1 has 4,174 such code points; a later version can have more.
        #expect(refused >= 4_174)
    }

    @Test(arguments: [0xFDD0, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF] as [UInt32])
    func noncharactersAreRejected(_ value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(Username("a\(scalar)b") == nil)
    }

    @Test func lengthIsCountedInCharacters() {
        #expect(Username(String(repeating: "x", count: 32)) != nil)
        #expect(Username(String(repeating: "x", count: 33)) == nil)
        #expect(Username("  " + String(repeating: "x", count: 32) + "  ") != nil)
        #expect(Username(String(repeating: "e\u{301}", count: 32)) != nil)
        #expect(Username(String(repeating: "e\u{301}", count: 33)) == nil)
        #expect(Username(String(repeating: "🦆", count: 32)) != nil)
    }

    @Test func lengthIsBoundedInBytes() {
        // One character with the maximum number of scalars, and with one more.
        #expect(Username("ab" + String(repeating: "\u{301}", count: 63)) != nil)
        #expect(Username("abc" + String(repeating: "\u{301}", count: 63)) == nil)
        #expect(Username(String(repeating: "🇬🇧", count: 16)) != nil)
        #expect(Username(String(repeating: "🇬🇧", count: 17)) == nil)
    }

    @Test func inputLengthIsBounded() {
        #expect(Username(String(repeating: " ", count: 4095) + "x")?.text == "x")
        #expect(Username(String(repeating: " ", count: 4096) + "x") == nil)
        #expect(Username(String(repeating: " ", count: 10_000_000) + "x") == nil)
        #expect(Username(String(repeating: "x", count: 10_000_000)) == nil)
        let long = String(repeating: "X", count: 4097)
        #expect(Username.foldKey(long) == long)
    }

    @Test(arguments: [
        ("Ann", " aNN\n"), ("Zoe\u{308}", "ZO\u{CB}"), ("Strauß", "STRAUSS"), ("ΟΔΥΣΣΕΥΣ", "οδυσσευς"), ("ﬁsh", "FISH"),
        ("\u{212A}im", "kim"),
    ])
    func equivalentNamesClash(_ first: String, _ second: String) throws {
        let key = try #require(Username(first)).foldKey
        #expect(Username(second)?.foldKey == key)
        #expect(Username.foldKey(first) == key)
        #expect(Username.foldKey(second) == key)
    }

    @Test(arguments: [("Ann", "Anne"), ("Zoe", "Zoë"), ("ılık", "ilik"), ("A", "А"), ("Ann Lee", "Ann  Lee"), ("ﬁ", "ﬃ")])
    func differentNamesDoNotClash(_ first: String, _ second: String) throws {
        #expect(try #require(Username(first)).foldKey != #require(Username(second)).foldKey)
    }

    @Test func recordedNamesAreNotRevalidated() {
        let name = Username(text: "Ann\n", foldKey: "the key of an older Unicode")
        #expect(name.text == "Ann\n")
        #expect(name.foldKey == "the key of an older Unicode")
        #expect(name != Username(text: "Ann\n", foldKey: "ann"))
    }

    @Test func acceptedNamesFollowRules() {
        var random = SeededRandom(seed: Repetitions.seed)
        let scalars: [Unicode.Scalar] = [
            "a", "Z", " ", "\t", "\u{A0}", "\u{301}", "\u{200D}", "ß", "İ", "\u{345}", "\u{10041}", "🦆", "\u{378}", "각",
        ]
        var accepted = 0
        for _ in 0..<5000 {
            let text = random.text(of: scalars, count: 0...40)
            guard let name = Username(text) else { continue }
            accepted += 1
            #expect((1...32).contains(name.text.count) && name.text.utf8.count <= 128, "seed \(Repetitions.seed)")
            #expect(name.foldKey.utf8.count <= 3 * name.text.utf8.count, "seed \(Repetitions.seed)")
            #expect(Username(name.text) == name, "\(name.text.debugDescription), seed \(Repetitions.seed)")
            #expect(Username.foldKey(text).utf8.elementsEqual(name.foldKey.utf8), "\(name.text.debugDescription), seed \(Repetitions.seed)")
        }
        #expect(accepted > 20, "too few accepted cases, seed \(Repetitions.seed)")
    }
}

extension String {
    /// The text without U+200D ZERO WIDTH JOINER, which names must not contain.
    fileprivate var replacingJoiners: String { String(unicodeScalars.filter { $0 != "\u{200D}" }) }
    /// The text between two letters, so that it is not trimmed.
    fileprivate var asInner: String { "a\(self)b" }
}
