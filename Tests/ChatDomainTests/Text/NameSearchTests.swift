import ChatDomain
import Testing

@Suite struct NameSearchTests {
    @Test(arguments: [
        ("Émile", ["e", "E", "é", "em", "Em", "emi", "emile", "ÉMILE", "e\u{301}m"]),
        ("Łukasz", ["l", "lu", "łu", "LUKASZ"]),
        ("Ægir Þórsson", ["ae", "aegir t", "ægir þo", "aegir thorsson"]), ("Søren", ["so", "sø", "soren"]),
        ("Đặng", ["d", "da", "dang"]), ("Straße", ["stras", "strasse"]), ("Άννα", ["α", "αν", "άννα"]),
        ("שָׁלוֹם", ["ש", "שלום"]), ("مُحَمَّد", ["مح", "محمد"]), ("İrem", ["i", "ir", "irem"]), ("Işık", ["i", "isik"]),
        ("김민", ["ᄀ", "기", "김", "김미"]),
    ])
    func oneFindsWhatOneTypes(name: String, texts: [String]) throws {
        let key = NameSearch.key(ofFoldKey: try #require(Username(name)).foldKey)
        for text in texts { #expect(key.utf8.starts(with: NameSearch.key(of: text).utf8), "\(text)") }
    }

    /// A mark without which it is another letter, and the letters themselves.
    @Test(arguments: [
        ("Émile", ["a", "emm", "me"]), ("かな", ["がな"]), ("がな", ["かな"]), ("कुमार", ["कम"]), ("ก้อง", ["กอ"]),
        ("Ann", ["ä\u{41}", "b"]),
    ])
    func othersAreNotFound(name: String, texts: [String]) throws {
        let key = NameSearch.key(ofFoldKey: try #require(Username(name)).foldKey)
        for text in texts { #expect(!key.utf8.starts(with: NameSearch.key(of: text).utf8), "\(text)") }
    }

    /// The keys that make names unique say more than those of a search.
    @Test func namesThatDifferInAnAccentStayTwo() {
        #expect(Username.foldKey("Émile") != Username.foldKey("Emile"))
        #expect(NameSearch.key(of: "Émile") == NameSearch.key(of: "emile"))
    }

    @Test func aLongTextIsNotExamined() {
        let long = String(repeating: "\u{301}", count: 3_000)
        #expect(NameSearch.key(of: long) == long)
    }
}
