#if Client || canImport(SQLite3)
    import TestSupport
    import Testing

    @testable import chat_journal

    /// The keys in the bytes of a terminal.
    @Suite struct KeyParserTests {
        static let cases: [(String, [Key])] = [
            ("a", [.character("a")]), ("é漢🦊", [.character("é"), .character("漢"), .character("🦊")]), ("\r", [.enter]),
            ("\u{7f}", [.backspace]),
            ("\u{1}\u{17}", [.control("a"), .control("w")]), ("\u{1b}[A\u{1b}OB", [.up, .down]),
            ("\u{1b}[1;5C", [.right]),
            ("\u{1b}[H\u{1b}[4~", [.home, .end]), ("\u{1b}[5~\u{1b}[6~\u{1b}[3~", [.pageUp, .pageDown, .delete]),
            ("\u{1b}OP\u{1b}[11~", [.function(1), .function(1)]), ("\u{1b}b\u{1b}\r", [.alt("b"), .alt("\n")]),
            ("\u{1b}[Z\t", [.backTab, .tab]),
            ("\u{1b}[200~a\u{1b}[A\nb\u{1b}[201~c", [.paste("a\u{1b}[A\nb"), .character("c")]),
            ("\u{1b}[99;99;99zx", [.character("x")]), ("\u{1b}[?25lx", [.character("x")]), ("\u{1b}\u{1b}", [.escape]),
            ("\u{1b}\u{1b}[A", [.escape, .up]), ("\u{1b}\u{1b}x", [.escape, .alt("x")]),
        ]

        @Test(arguments: cases.indices)
        func keys(index: Int) {
            var parser = KeyParser()
            #expect(parser.parse(Self.cases[index].0.utf8) == Self.cases[index].1)
        }

        /// A piece ends anywhere, also in a character or a sequence.
        @Test(arguments: cases.indices)
        func piecesOfAnySize(index: Int) {
            let (text, keys) = Self.cases[index]
            let bytes = Array(text.utf8)
            for split in bytes.indices {
                var parser = KeyParser()
                #expect(parser.parse(bytes[..<split]) + parser.parse(bytes[split...]) == keys)
            }
        }

        @Test func anEscapeIsTheKeyAfterAPause() {
            var parser = KeyParser()
            #expect(parser.parse([0x1B]) == [] && parser.pause() == [.escape] && parser.pause() == [])
            #expect(parser.parse("\u{1b}[".utf8) == [] && parser.pause() == [.alt("[")])
            #expect(parser.parse("x".utf8) == [.character("x")])
        }

        @Test func aPasteIsBounded() {
            var parser = KeyParser()
            let keys = parser.parse("\u{1b}[200~\(String(repeating: "x", count: 100_000))\u{1b}[201~y".utf8)
            guard case .paste(let text)? = keys.first else { return #expect(Bool(false), "\(keys.count) keys") }
            #expect(text.utf8.count == 64 << 10 && keys.last == .character("y"))
        }

        /// Any bytes are read, and what a person types afterwards is understood.
        @Test(arguments: 0..<UInt64(Repetitions.few(200, of: 20_000)))
        func anyBytes(number: UInt64) {
            var random = SplitMix64(seed: Repetitions.seed &+ number)
            let pool: [UInt8] = [0x1B, 0x5B, 0x4F, 0x31, 0x3B, 0x7E, 0xC3, 0xE6, 0xF0, 0x80, 0xFF, 0x41, 0x00]
            var parser = KeyParser()
            for _ in 0..<50 {
                _ = parser.parse((0..<8).map { _ in pool.randomElement(using: &random) ?? 0 })
                _ = parser.pause()
            }
            #expect(parser.parse("\u{1b}[201~".utf8).isEmpty || parser.parse([]).isEmpty)
            _ = parser.pause()
            #expect(parser.parse("q".utf8) == [.character("q")], "seed \(Repetitions.seed), number \(number)")
        }
    }

    /// A line that is written.
    @Suite struct LineEditorTests {
        private func editor(_ keys: [Key]) -> LineEditor {
            var editor = LineEditor()
            for key in keys { _ = editor.handle(key) }
            return editor
        }

        private func typed(_ text: String) -> [Key] { text.map { .character($0) } }

        @Test func charactersAreWhole() {
            var line = editor(typed("ae\u{301}🇬🇧") + [.left, .backspace])
            #expect(line.text == "a🇬🇧" && line.before == "a")
            _ = line.handle(.delete)
            #expect(line.text == "a")
        }

        @Test func words() {
            #expect(editor(typed("one two ") + [.control("w")]).text == "one ")
            #expect(editor(typed("one two") + [.alt("b"), .character("x")]).text == "one xtwo")
            #expect(editor(typed("one two") + [.home, .right, .control("k")]).text == "o")
            #expect(editor(typed("one two") + [.left, .control("u")]).text == "o")
            #expect(editor([.control("w"), .backspace, .delete, .left, .right, .alt("b")]).isEmpty)
        }

        @Test func pastedLinesStay() {
            #expect(editor([.paste("a\r\nb\rc\n")]).text == "a\nb\nc\n")
            var line = editor([])
            #expect(line.handle(.paste(String(repeating: "x", count: 16_385))) == .tooLong && line.isEmpty)
            #expect(
                line.handle(.paste(String(repeating: "x", count: 16_384))) == .done
                    && line.handle(.character("y")) == .tooLong)
        }

        @Test func otherKeysAreNotHandled() {
            var line = LineEditor()
            for key in [Key.enter, .up, .escape, .function(1)] { #expect(line.handle(key) == .none) }
        }

        @Test func theCursorIsShown() {
            let line = editor(typed("0123456789"))
            #expect(line.shown(width: 5) == ("6789", 4) && line.shown(width: 20) == ("0123456789", 10))
            #expect(editor(typed("0123456789") + [.home]).shown(width: 5) == ("0123…", 0))
            #expect(editor(typed("0123456789") + [.left]).shown(width: 5) == ("56789", 4))
            #expect(
                editor(typed("\u{1b}")).shown(width: 4) == ("1b}", 3) && editor(typed("漢")).shown(width: 1) == ("", 0))
            #expect(editor(typed("漢字漢") + [.alt("\n")]).shown(width: 8) == ("漢字漢↵", 7))
        }
    }
#endif
