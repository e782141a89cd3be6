import ChatTesting
import TestSupport
import Testing

@testable import ChatDomain

@Suite struct UsernameTests {
    @Test(arguments: [
        "Ann", "a", "O'Neill", "Ann Smith", "陳大文", "Zoë", "👩‍🚀", "❤️", "🇬🇧", "১২", "-", "می‌خواهم", "ක්‍රිස්", "葛\u{E0100}城",
    ])
    func ordinaryNamesAreAccepted(_ text: String) {
        #expect(Username(text)?.text == text)
        #expect(ThreadName(text)?.text == text)
    }

    /// Each of the white-space scalars becomes a single space.
    @Test func whiteSpaceBecomesSingleSpaces() {
        let whiteSpace = (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init).filter(\.properties.isWhitespace)
        #expect(whiteSpace.count == 25)
        for space in whiteSpace {
            #expect(
                Username("\(space)Ann\(space) \(space)Lee\(space)")?.text == "Ann Lee",
                "U+\(String(space.value, radix: 16))")
            #expect(Username.foldKey("Ann\(space)Lee") == "ann lee")
            #expect(Username("\(space)") == nil)
        }
    }

    @Test(arguments: ["", " ", "\n", "\u{3000}\u{A0}\u{2028}", "\u{200D}", "\u{FE0F}", " \u{200C} \u{34F}"])
    func namesWithNothingVisibleAreRejected(_ text: String) {
        #expect(Username(text) == nil)
        #expect(ThreadName(text) == nil)
    }

    @Test(arguments: [
        "a\u{0}b", "a\u{1B}[31mb", "a\u{7F}b",  // Cc
        "a\u{AD}b", "a\u{200B}b", "a\u{202E}b", "\u{FEFF}ab", "ab\u{2066}", "a\u{E0041}b", "a\u{1D173}b",  // Cf
        "a\u{378}b", "a\u{E1000}b",  // Cn
        "a\u{115F}b", "a\u{1160}b", "a\u{3164}b", "a\u{FFA0}b", "a\u{2800}b", "a\u{FFFC}b", "a\u{13441}b",
        "a\u{13442}b",
        "a\u{16FE4}b", "Zoe\u{1D159}X",  // Blank
    ])
    func hiddenScalarsAreRejected(_ text: String) {
        #expect(Username(text) == nil)
        #expect(ThreadName(text) == nil)
    }

    /// Every default-ignorable scalar is rejected, or makes no difference between two names.
    @Test func defaultIgnorableScalarsMakeNoTwin() {
        var (rejected, accepted) = (0, 0)
        for scalar in (UInt32(0)...0x10FFFF).compactMap(Unicode.Scalar.init)
        where scalar.properties.isDefaultIgnorableCodePoint {
            for text in ["a\(scalar)b", "ab\(scalar)", "\(scalar)ab", "ab \(scalar)", "a\(scalar)\(scalar)b"] {
                guard let name = Username(text) else {
                    rejected += 1
                    continue
                }
                accepted += 1
                if name.foldKey != "ab" {
                    Issue.record("U+\(String(scalar.value, radix: 16)) makes the key \(name.foldKey.debugDescription)")
                }
            }
        }
        // The variation selectors (16 + 240), the joiners (2), U+034F, U+17B4, U+17B5, U+180B to
        // U+180D and U+180F are accepted; the format characters, the fillers and what is unassigned
        // are not. A later Unicode version can have more of both.
        #expect(accepted >= 5 * 265 && rejected >= 5 * 3_900)
    }

    @Test(arguments: [0xFDD0, 0xFFFE, 0xFFFF, 0x1FFFE, 0x10FFFF] as [UInt32])
    func noncharactersAreRejected(_ value: UInt32) throws {
        let scalar = try #require(Unicode.Scalar(value))
        #expect(Username("a\(scalar)b") == nil)
    }

    @Test func lengthIsCountedInScalars() {
        #expect(Username(String(repeating: "x", count: 64)) != nil)
        #expect(Username(String(repeating: "x", count: 65)) == nil)
        #expect(Username("  " + String(repeating: "x", count: 64) + "  ") != nil)
        #expect(Username(String(repeating: "e\u{301}", count: 32)) != nil)
        #expect(Username(String(repeating: "e\u{301}", count: 32) + "x") == nil)
    }

    /// 64 scalars of four bytes are exactly the bound in bytes.
    @Test func lengthIsBoundedInBytes() {
        #expect(Username(String(repeating: "🦆", count: 64))?.text.utf8.count == Username.maximumByteCount)
        #expect(ThreadName(String(repeating: "🦆", count: 120))?.text.utf8.count == ThreadName.maximumByteCount)
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
        ("\u{212A}im", "kim"), ("Ann Lee", "ANN\u{2003}\u{A0}lee"), ("Zo\u{200D}e", "zoe"), ("❤️", "❤"),
        ("a\u{301}\u{34F}\u{323}", "A\u{323}\u{301}"),
    ])
    func equivalentNamesClash(_ first: String, _ second: String) throws {
        let key = try #require(Username(first)).foldKey
        #expect(Username(second)?.foldKey == key)
        #expect(Username.foldKey(first) == key)
        #expect(Username.foldKey(second) == key)
    }

    @Test(arguments: [("Ann", "Anne"), ("Zoe", "Zoë"), ("ılık", "ilik"), ("A", "А"), ("Ann Lee", "AnnLee"), ("ﬁ", "ﬃ")])
    func differentNamesDoNotClash(_ first: String, _ second: String) throws {
        #expect(try #require(Username(first)).foldKey != #require(Username(second)).foldKey)
    }

    @Test func recordedNamesAreNotRevalidated() {
        let name = Username(text: "Ann\n", foldKey: "the key of an older Unicode")
        #expect(name.text == "Ann\n")
        #expect(name.foldKey == "the key of an older Unicode")
        #expect(name != Username(text: "Ann\n", foldKey: "ann"))
    }

    @Test(arguments: [
        ("zoe\u{A0}x", "zoe x"), ("zoe  x", "zoe x"), ("cem\u{3164}", "cem"), (" \u{FE0F}ann", "ann"),
        ("zoe x", "zoe x"),
        ("e\u{301}\u{10041}", "e\u{301}\u{10041}"),
    ])
    func recordedKeysAreCompared(_ recorded: String, as current: String) {
        #expect(Username(text: "any", foldKey: recorded).currentFoldKey == current)
    }

    @Test func acceptedNamesFollowRules() {
        var random = SeededRandom(seed: Repetitions.seed)
        let scalars: [Unicode.Scalar] = [
            "a", "Z", " ", "\t", "\u{A0}", "\u{301}", "\u{200D}", "\u{FE0F}", "\u{34F}", "ß", "İ", "\u{345}",
            "\u{10041}", "🦆", "\u{378}",
            "각",
        ]
        var accepted = 0
        for _ in 0..<5000 {
            let text = random.text(of: scalars, count: 0...80)
            guard let name = Username(text) else { continue }
            accepted += 1
            #expect(
                (1...64).contains(name.text.unicodeScalars.count) && name.text.utf8.count <= 256,
                "seed \(Repetitions.seed)")
            #expect(name.currentFoldKey == name.foldKey, "\(name.text.debugDescription), seed \(Repetitions.seed)")
            #expect(name.foldKey.utf8.count <= 3 * name.text.utf8.count, "seed \(Repetitions.seed)")
            #expect(Username(name.text) == name, "\(name.text.debugDescription), seed \(Repetitions.seed)")
            #expect(
                Username.foldKey(text).utf8.elementsEqual(name.foldKey.utf8),
                "\(name.text.debugDescription), seed \(Repetitions.seed)")
        }
        #expect(accepted > 20, "too few accepted cases, seed \(Repetitions.seed)")
    }
}
