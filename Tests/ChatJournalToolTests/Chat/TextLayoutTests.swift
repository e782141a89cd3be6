#if Client || canImport(SQLite3)
    import ChatDomain
    import TestSupport
    import Testing

    @testable import chat_journal

    /// Texts of users as lines of a screen.
    @Suite struct TextLayoutTests {
        @Test(arguments: [
            ("", 5, [""]), ("one two", 20, ["one two"]), ("one two three", 8, ["one two ", "three"]),
            ("one two three", 7, ["one two", "three"]),
            ("abcdefgh", 3, ["abc", "def", "gh"]), ("a\n\nb\r\nc", 5, ["a", "", "b", "c"]), ("漢字漢", 5, ["漢字", "漢"]),
            ("漢", 1, ["?"]),
            ("a\tb", 9, ["a   b"]), (#"C:\new"#, 9, [#"C:\new"#]), ("\u{1b}[31m", 20, [#"\u{1b}[31m"#]),
            ("a\u{202e}b", 20, [#"a\u{202e}b"#]),
            ("\u{1b}[31m", 5, [#"\u{1b"#, "}[31m"]), ("👨‍👩‍👧", 9, ["👨👩👧"]),
            ("e\u{301}e\u{301}", 1, ["e\u{301}", "e\u{301}"]),
            ("\u{301}x", 9, ["\u{25CC}\u{301}x"]), ("שלום", 9, ["\u{2068}שלום\u{2069}"]),
            ("a\u{85}b", 20, [#"a\u{85}b"#]),
        ])
        func lines(text: String, width: Int, lines: [String]) {
            #expect(TextLayout.lines(of: text, width: width) == lines)
        }

        @Test(arguments: [
            ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("漢字漢", 4, "漢…"), ("ab", 1, "…"), ("ab", 0, ""),
            ("a\nb", 5, "a↵b"),
        ])
        func oneLine(text: String, width: Int, line: String) {
            #expect(TextLayout.line(of: text, width: width) == line)
        }

        @Test func marksUponMarksAreBounded() {
            let text = "a" + String(repeating: "\u{301}", count: 1_000)
            #expect(TextLayout.lines(of: text, width: 10).joined().unicodeScalars.count <= 16)
        }

        /// Whatever a text has, no line is wider than the screen, and none has a control or another
        /// user's bidi mark.
        @Test(arguments: 0..<UInt64(Repetitions.few(300, of: 20_000)))
        func everyLineFits(number: UInt64) {
            var random = SplitMix64(seed: Repetitions.seed &+ number)
            let text = HostileText.text(&random)
            let width = Int.random(in: 1...30, using: &random)
            for line in TextLayout.lines(of: text, width: width) + [TextLayout.line(of: text, width: width)] {
                #expect(
                    line.displayWidth <= width,
                    "seed \(Repetitions.seed), number \(number): \(line.debugDescription)"
                )
                let inside = line.unicodeScalars.filter { $0 != "\u{2068}" && $0 != "\u{2069}" }
                #expect(inside.filter(\.altersTerminal).isEmpty, "seed \(Repetitions.seed), number \(number)")
            }
        }
    }

    /// Texts of hostile users.
    enum HostileText {
        private static let parts = [
            "a", "word ", " ", "\n", "\r\n", "\t", "\u{1b}", "\u{9b}31m", "\u{7}", "\u{202e}", "\u{2066}", "\u{200d}",
            "\u{feff}",
            "\u{301}",
            "漢", "🦊", "🇬🇧", "👨‍👩‍👧", "❤\u{fe0f}", "שלום", "مرحبا", "\\", "\u{2028}", "\u{1f3fd}", "\u{20e3}", "한",
            "\u{1100}\u{1161}",
            "\u{e0061}",
        ]

        static func text(_ random: inout SplitMix64) -> String {
            (0..<Int.random(in: 0...40, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
        }
    }
#endif
