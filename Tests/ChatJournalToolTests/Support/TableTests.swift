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
        ("", 0), ("abc", 3), ("é", 1), ("e\u{301}", 1), ("漢", 2), ("한", 2), ("ｱ", 1), ("Ａ", 2), ("🦊", 2), ("❤", 1), ("❤\u{FE0F}", 2),
        ("🇬🇧", 2),
        ("1\u{FE0F}\u{20E3}", 2), ("…", 1), ("\u{301}", 0), ("𠀀", 2),
    ])
    func widths(text: String, width: Int) {
        #expect(text.displayWidth == width)
    }

    /// A right-aligned last column ends every line of a table at the same width.
    @Test func alignment() {
        let seed = Seed.current
        var generator = SplitMix64(seed: seed)
        let pieces = ["a", "é", "e\u{301}", "漢", "한", "🦊", "🇬🇧", "❤\u{FE0F}", " ", "\u{1b}", "\\", "\n", "\u{200D}"]
        func cell() -> String {
            (0..<Int.random(in: 0...12, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
        }
        for _ in 0..<200 {
            var table = Table([.init("first"), .init("second"), .init("third", .right)])
            for _ in 0..<5 { table.append([cell(), cell(), cell()]) }
            let widths = Set(table.render().split(separator: "\n").map { String($0).displayWidth })
            #expect(widths.count == 1, "seed \(seed): \(widths)")
        }
    }
}
