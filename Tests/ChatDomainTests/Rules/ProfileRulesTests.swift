import ChatDomain
import ChatTesting
import Testing

/// The rules for a user's profile text.
struct ProfileRulesTests {
    typealias Here = Neighbourhood

    private static func text(_ outcome: DeciderSpecification.Outcome) -> String? { outcome.events.first?.about }

    @Test func userSetsAText() {
        let outcome = Here.people.when(.setProfile(about: "Bees,\r\n\nmostly", by: Here.ann))
        #expect(outcome.eventDetails == [.init(.profileSet, .user(Here.ann))])
        #expect(outcome.events.map(\.content) == [.about("Bees,\r\n\nmostly")])
    }

    /// White space is removed at the ends only.
    @Test(arguments: [" \n Bees \u{2028}", "\u{A0}Bees\r\n", "Bees\t", "\u{85}Bees"]) func textIsTrimmed(text: String) {
        #expect(Self.text(Here.people.when(.setProfile(about: text, by: Here.ann))) == "Bees")
    }

    @Test(arguments: [nil, "", " \n\t"]) func emptyTextIsNone(text: String?) {
        #expect(Self.text(Here.people.when(.setProfile(about: text, by: Here.ann))) == "")
    }

    /// The rules keep no texts.
    @Test func sameTextIsRecordedAgain() {
        let given = Here.people.given(.setProfile(about: "Bees", by: Here.ann))
        #expect(given.when(.setProfile(about: "Bees", by: Here.ann)).events.count == 1)
        #expect(Here.people.when(.setProfile(by: Here.ann)).events.count == 1)
    }

    @Test func textHasUpTo500Scalars() {
        for scalar in ["x", "\u{1F41D}", "\u{301}"] {
            let longest = String(repeating: scalar, count: 500)
            #expect(
                Self.text(Here.people.when(.setProfile(about: " \(longest)\n", by: Here.ann)))?.unicodeScalars.count
                    == 500)
            let outcome = Here.people.when(.setProfile(about: longest + scalar, by: Here.ann))
            #expect(outcome.rejection?.code == .invalidAbout)
        }
    }

    @Test(arguments: [
        RefusedCommand("a stranger", Here.people, .setProfile(about: "\u{7}", by: Here.nobody), .unknownUser),
        RefusedCommand("a tab", Here.people, .setProfile(about: "a\tb", by: Here.ann), .invalidAbout),
        RefusedCommand(
            "an escape sequence", Here.people, .setProfile(about: "\u{1B}[31m", by: Here.ann), .invalidAbout),
        RefusedCommand("a next line", Here.people, .setProfile(about: "a\u{85}b", by: Here.ann), .invalidAbout),
        RefusedCommand("a null", Here.people, .setProfile(about: "a\0", by: Here.ann), .invalidAbout),
        RefusedCommand(
            "5,000 spaces", Here.people, .setProfile(about: String(repeating: " ", count: 5_000), by: Here.ann),
            .invalidAbout),
    ])
    func textIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }
}
