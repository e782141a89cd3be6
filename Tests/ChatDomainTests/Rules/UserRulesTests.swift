import ChatDomain
import ChatTesting
import Testing

/// Rules of registration and usernames.
struct UserRulesTests {
    typealias Here = Neighbourhood

    @Test func userRegistersWithNameAndSubject() throws {
        let outcome = Here.empty.when(.registerUser(id: Here.ann, username: " Ann\n", subject: "sub-ann"))
        #expect(outcome.eventDetails == [.init(.userRegistered, .user(Here.ann))])
        let username = try #require(Username("Ann"))
        #expect(outcome.events.map(\.content) == [.registration(username, subject: "sub-ann")])
        #expect(outcome.events.first?.username?.text == "Ann")
        #expect(outcome.events.first?.username?.foldKey == "ann")
        #expect(outcome.events.first?.origin == .native)
    }

    @Test func registrationWithoutIDUsesFreshID() throws {
        let decision = try ChatState().decide(
            CommandRequest(.registerUser(username: "Ann")), at: Timestamp(millisecondsSince1970: 5), freshID: 77)
        guard case .append(let events) = decision else {
            Issue.record("\(decision)")
            return
        }
        #expect(events.map(\.details) == [.init(.userRegistered, .user(UserID(bits: 77)))])
        #expect(events.first?.subject == nil)
    }

    @Test(arguments: [1, 256]) func subjectHasUpTo256Bytes(count: Int) {
        let outcome = Here.people.when(.registerUser(username: "Cem", subject: String(repeating: "s", count: count)))
        #expect(outcome.events.count == 1)
    }

    @Test func subjectsCompareByBytes() {
        let given = Here.empty.given(.registerUser(username: "Ann", subject: "\u{E9}"))
        #expect(given.when(.registerUser(username: "Bob", subject: "e\u{301}")).events.count == 1)
        #expect(given.when(.registerUser(username: "Bob", subject: "\u{E9}")).rejection?.code == .subjectTaken)
    }

    @Test(arguments: [
        RefusedCommand(
            "the id of another name", Here.people, .registerUser(id: Here.ann, username: "Anna"), .identifierTaken),
        RefusedCommand("an empty name", Here.people, .registerUser(username: ""), .invalidUsername),
        RefusedCommand("a name of white space", Here.people, .registerUser(username: " \u{A0}\t"), .invalidUsername),
        RefusedCommand(
            "65 characters", Here.people, .registerUser(username: String(repeating: "x", count: 65)), .invalidUsername),
        RefusedCommand(
            "a blank between spaces", Here.people, .registerUser(username: "Ann \u{2800} Lee"), .invalidUsername),
        RefusedCommand("a control character", Here.people, .registerUser(username: "A\u{7}"), .invalidUsername),
        RefusedCommand("a format character", Here.people, .registerUser(username: "A\u{202E}B"), .invalidUsername),
        RefusedCommand("an unassigned character", Here.people, .registerUser(username: "A\u{378}"), .invalidUsername),
        RefusedCommand("a name in another case", Here.people, .registerUser(username: "aNN"), .usernameTaken),
        RefusedCommand(
            "the subject of another", Here.people, .registerUser(username: "Cem", subject: "sub-ann"), .subjectTaken),
        RefusedCommand("an empty subject", Here.people, .registerUser(username: "Cem", subject: ""), .subjectTaken),
        RefusedCommand(
            "257 bytes of subject", Here.people,
            .registerUser(username: "Cem", subject: String(repeating: "s", count: 257)), .subjectTaken),
    ])
    func registrationIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test(arguments: [("STRASSE", "straße"), ("\u{C7}elik", "c\u{327}elik"), ("ΟΔΟΣ", "οδος"), ("Дима", "ДИМА")])
    func namesClashUnderFoldingAndNormalization(first: String, second: String) {
        let given = Here.empty.given(.registerUser(username: first))
        #expect(given.when(.registerUser(username: second)).rejection?.code == .usernameTaken)
    }

    @Test(arguments: [
        RefusedCommand(
            "a taken id and an empty name", Here.people, .registerUser(id: Here.ann, username: ""), .identifierTaken),
        RefusedCommand(
            "a taken id and a taken name", Here.people, .registerUser(id: Here.ann, username: "Bob"), .identifierTaken
        ),
        RefusedCommand(
            "a taken id and a taken subject", Here.people,
            .registerUser(id: Here.bob, username: "X", subject: "sub-ann"),
            .identifierTaken),
        RefusedCommand(
            "an empty name and a taken subject", Here.people, .registerUser(username: "", subject: "sub-ann"),
            .invalidUsername),
        RefusedCommand(
            "a taken name and a taken subject", Here.people, .registerUser(username: "BOB", subject: "sub-ann"),
            .usernameTaken),
        RefusedCommand(
            "a stranger and an empty name", Here.people, .changeUsername(username: "", by: Here.nobody), .unknownUser),
        RefusedCommand(
            "a stranger and a taken name", Here.people, .changeUsername(username: "Ann", by: Here.nobody),
            .unknownUser),
    ])
    func firstBrokenRuleIsReported(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test func userChangesName() throws {
        let outcome = Here.people.when(.changeUsername(username: " Anna ", by: Here.ann))
        #expect(outcome.eventDetails == [.init(.usernameChanged, .user(Here.ann))])
        #expect(outcome.events.map(\.content) == [.username(try #require(Username("Anna")))])
    }

    @Test func formerNameIsFreeImmediately() {
        let given = Here.people.given(.changeUsername(username: "Anna", by: Here.ann))
        #expect(given.when(.changeUsername(username: "Ann", by: Here.bob)).events.count == 1)
        #expect(given.when(.registerUser(username: "ann")).events.count == 1)
        #expect(given.when(.registerUser(username: "ANNA")).rejection?.code == .usernameTaken)
    }

    @Test func nameCanChangeInCaseOnly() {
        #expect(Here.people.when(.changeUsername(username: "ANN", by: Here.ann)).events.count == 1)
    }

    @Test func sameNameChangesNothing() {
        #expect(Here.people.when(.changeUsername(username: "Ann ", by: Here.ann)).isUnchanged)
    }

    @Test(arguments: [
        RefusedCommand("a stranger", Here.people, .changeUsername(username: "Eve", by: Here.nobody), .unknownUser),
        RefusedCommand(
            "a number of the forces' post", Here.people, .setPostcode(postcode: " bfpo 15", by: Here.ann),
            .invalidPostcode),
        RefusedCommand("a blank name", Here.people, .changeUsername(username: " ", by: Here.ann), .invalidUsername),
        RefusedCommand("another's name", Here.people, .changeUsername(username: "bOB", by: Here.ann), .usernameTaken),
    ])
    func changeOfNameIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }
}
