#if Client || canImport(SQLite3)
    import ChatDomain
    import ChatValues
    import Testing

    @testable import chat_journal

    /// The people whom a text mentions.
    @Suite struct MentionsTests {
        static let people = ["Ann", "Ben", "Ann Lee", "Zoë", "漢"].enumerated().map {
            UserSummary(id: UserID(bits: UInt128($0 + 1)), username: $1)
        }

        @Test(arguments: [
            ("no one", []), ("@Ann", ["Ann"]), ("@ann, @BEN!", ["Ann", "Ben"]), ("@annabel", []), ("x@benz.de", []),
            ("x@ben", []),
            ("(@Ben)", ["Ben"]), ("@Ann Lee's", ["Ann Lee"]), ("@Ann Leeds", ["Ann"]), ("@Ann @Ann", ["Ann"]),
            ("@@ben", ["Ben"]),
            ("@zoe\u{308}.", ["Zoë"]), ("@漢", ["漢"]), ("@", []), ("@Ben_2", []), ("@ Ben", []),
        ])
        func wholeNames(text: String, names: [String]) {
            let found = Mentions.find(in: text, among: Self.people)
            #expect(found.map { id in Self.people.first { $0.id == id }?.username } == names)
        }

        @Test func noMoreThanAMessageMayHave() {
            let people = (1...60).map { UserSummary(id: UserID(bits: UInt128($0)), username: "n\($0)") }
            let text = people.map { "@\($0.username ?? "")" }.joined(separator: " ")
            #expect(Mentions.find(in: text, among: people) == people.prefix(50).map(\.id))
        }
    }
#endif
