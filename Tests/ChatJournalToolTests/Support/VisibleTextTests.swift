import Testing

@testable import chat_journal

@Suite struct VisibleTextTests {
    @Test(arguments: [
        ("plain / text", "plain / text"), ("", ""), ("a\nb\r\nc\td", #"a\nb\r\nc\td"#), (#"\n"#, #"\\n"#),
        ("\u{1b}[31mred", #"\u{1b}[31mred"#), ("\u{0}\u{7f}\u{85}\u{9f}", #"\u{0}\u{7f}\u{85}\u{9f}"#),
        ("\u{202E}gnp\u{2066}\u{200D}\u{AD}", #"\u{202e}gnp\u{2066}\u{200d}\u{ad}"#), ("\u{2028}\u{2029}", #"\u{2028}\u{2029}"#),
        ("\u{E0041}", #"\u{e0041}"#), ("größe 漢字 🦊 e\u{301}", "größe 漢字 🦊 e\u{301}"),
    ])
    func examples(text: String, shown: String) {
        #expect(Array(visible(text).unicodeScalars) == Array(shown.unicodeScalars))
    }

    /// Whatever is printed can be read back in one way only, and holds nothing that acts on a terminal.
    @Test func roundTrip() throws {
        let seed = Seed.current
        var generator = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            let text = String.random(using: &generator)
            let shown = visible(text)
            #expect(shown.unicodeScalars.allSatisfy { !$0.isInvisible }, "seed \(seed)")
            #expect(try Array(readBack(shown).unicodeScalars) == Array(text.unicodeScalars), "seed \(seed)")
        }
    }

    private func readBack(_ shown: String) throws -> String {
        var text = String.UnicodeScalarView()
        var rest = shown.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\" else {
                text.append(scalar)
                continue
            }
            let letter = rest.popFirst()
            switch try #require(letter) {
            case "\\": text.append("\\")
            case "n": text.append("\n")
            case "r": text.append("\r")
            case "t": text.append("\t")
            case "u":
                let end = try #require(rest.firstIndex(of: "}"))
                let digits = String(String.UnicodeScalarView(rest[..<end].dropFirst()))
                text.append(try #require(UInt32(digits, radix: 16).flatMap(Unicode.Scalar.init)))
                rest = rest[rest.index(after: end)...]
            case let other: Issue.record("unknown escape \(other)")
            }
        }
        return String(text)
    }
}
