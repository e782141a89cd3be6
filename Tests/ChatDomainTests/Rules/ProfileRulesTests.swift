import ChatDomain
import ChatTesting
import Testing

/// The rules for a user's profile text.
struct ProfileRulesTests {
    typealias Here = Neighbourhood

    private static func text(_ outcome: DeciderSpecification.Outcome) -> String? { outcome.events.first?.about }

    @Test func userSetsAText() {
        let outcome = Here.people.when(.setProfile(user: Here.ann, about: "Bees,\r\n\nmostly"))
        #expect(outcome.eventDetails == [.init(.profileSet, .user(Here.ann))])
        #expect(outcome.events.map(\.content) == [.about("Bees,\r\n\nmostly")])
    }

    /// White space is removed at the ends only.
    @Test(arguments: [" \n Bees \u{2028}", "\u{A0}Bees\r\n", "Bees\t", "\u{85}Bees"]) func textIsTrimmed(text: String) {
        #expect(Self.text(Here.people.when(.setProfile(user: Here.ann, about: text))) == "Bees")
    }

    @Test(arguments: [nil, "", " \n\t"]) func emptyTextIsNone(text: String?) {
        #expect(Self.text(Here.people.when(.setProfile(user: Here.ann, about: text))) == "")
    }

    /// The rules keep no texts.
    @Test func sameTextIsRecordedAgain() {
        let given = Here.people.given(.setProfile(user: Here.ann, about: "Bees"))
        #expect(given.when(.setProfile(user: Here.ann, about: "Bees")).events.count == 1)
        #expect(Here.people.when(.setProfile(user: Here.ann)).events.count == 1)
    }

    @Test func textHasUpTo500Scalars() {
        for scalar in ["x", "\u{1F41D}", "\u{301}"] {
            let longest = String(repeating: scalar, count: 500)
            #expect(
                Self.text(Here.people.when(.setProfile(user: Here.ann, about: " \(longest)\n")))?.unicodeScalars.count
                    == 500)
            let outcome = Here.people.when(.setProfile(user: Here.ann, about: longest + scalar))
            #expect(outcome.rejection?.code == .invalidAbout)
        }
    }

    @Test(arguments: [
        RefusedCommand("a stranger", Here.people, .setProfile(user: Here.nobody, about: "\u{7}"), .unknownUser),
        RefusedCommand("a tab", Here.people, .setProfile(user: Here.ann, about: "a\tb"), .invalidAbout),
        RefusedCommand(
            "an escape sequence", Here.people, .setProfile(user: Here.ann, about: "\u{1B}[31m"), .invalidAbout),
        RefusedCommand("a next line", Here.people, .setProfile(user: Here.ann, about: "a\u{85}b"), .invalidAbout),
        RefusedCommand("a null", Here.people, .setProfile(user: Here.ann, about: "a\0"), .invalidAbout),
        RefusedCommand(
            "5,000 spaces", Here.people, .setProfile(user: Here.ann, about: String(repeating: " ", count: 5_000)),
            .invalidAbout),
    ])
    func textIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }
}
