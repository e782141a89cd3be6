import ChatDomain
import TestSupport
import Testing

@testable import chat_journal

@Suite struct TableTests {
    @Test func columns() {
        var table = Table([.init("name"), .init("unread", .right), .init("last message")])
        table.append(["SW1A", "7", "milk?"])
        table.append(["漢字", "12345678", "a\nb"])
        table.append(["🦊🇬🇧", "0", ""])
        #expect(
            table.render() == """
                name    unread  last message
                SW1A         7  milk?
                漢字  12345678  a\\nb
                🦊🇬🇧         0  \n
                """)
    }

    @Test func noRows() {
        #expect(Table([.init("id"), .init("n", .right)]).render() == "id  n\n")
    }

    @Test(arguments: [
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("漢", 2), ("한", 2), ("ｱ", 1), ("Ａ", 2), ("🦊", 2), ("❤", 1),
        ("❤\u{FE0F}", 2),
        ("🇬🇧", 2),
        ("1\u{FE0F}\u{20E3}", 2), ("…", 1), ("\u{301}", 0), ("𠀀", 2),
    ])
    func widths(text: String, width: Int) {
        #expect(text.displayWidth == width)
    }

    /// A right-aligned last column ends every line of a table at the same width.
    @Test func alignment() {
        let seed = Repetitions.seed
        var generator = SplitMix64(seed: seed)
        let pieces = ["a", "é", "e\u{301}", "漢", "한", "🦊", "🇬🇧", "❤\u{FE0F}", " ", "\u{1b}", "\\", "\n", "\u{200D}"]
        func cell() -> String {
            (0..<Int.random(in: 0...12, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }
                .joined()
        }
        for _ in 0..<200 {
            var table = Table([.init("first"), .init("second"), .init("third", .right)])
            for _ in 0..<5 { table.append([cell(), cell(), cell()]) }
            let widths = Set(table.render().split(separator: "\n").map { String($0).displayWidth })
            #expect(widths.count == 1, "seed \(seed): \(widths)")
        }
    }
}

@Suite struct VisibleTextTests {
    @Test(arguments: [
        ("plain / text", "plain / text"), ("", ""), ("a\nb\r\nc\td", #"a\nb\r\nc\td"#), (#"\n"#, #"\\n"#),
        ("\u{1b}[31mred", #"\u{1b}[31mred"#), ("\u{0}\u{7f}\u{85}\u{9f}", #"\u{0}\u{7f}\u{85}\u{9f}"#),
        ("\u{202E}gnp\u{2066}\u{200D}\u{AD}", #"\u{202e}gnp\u{2066}\u{200d}\u{ad}"#),
        ("\u{2028}\u{2029}", #"\u{2028}\u{2029}"#),
        ("\u{E0041}", #"\u{e0041}"#), ("größe 漢字 🦊 e\u{301}", "größe 漢字 🦊 e\u{301}"),
    ])
    func examples(text: String, shown: String) {
        #expect(Array(escapedForTerminal(text).unicodeScalars) == Array(shown.unicodeScalars))
    }

    /// Printed text has exactly one original, and contains nothing that controls a terminal.
    @Test func roundTrip() throws {
        let seed = Repetitions.seed
        var generator = SplitMix64(seed: seed)
        for _ in 0..<2_000 {
            let text = String.random(using: &generator)
            let shown = escapedForTerminal(text)
            #expect(shown.unicodeScalars.allSatisfy { !$0.altersTerminal }, "seed \(seed)")
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
