import ChatDomain
import ChatTesting
import Testing

/// Imports use the same decider, without the rule of residence, and can open the thread of an
/// outward code.
struct ImportRulesTests {
    typealias Here = Neighbourhood

    static let sentAt = Timestamp(millisecondsSince1970: 1_000_000_000_000)

    static func imported(_ command: ChatCommand) -> CommandRequest {
        CommandRequest(command, origin: .imported(sentAt: sentAt))
    }

    @Test func importedEventsHoldTheirOrigin() {
        let outcome = Here.talk.when(Self.imported(.postMessage(thread: Here.sw1a, body: "Long ago", by: Here.ann)))
        #expect(outcome.events.map(\.origin) == [.imported(sentAt: Self.sentAt)])
        #expect(outcome.events.map(\.createdAt) == [Self.sentAt])
        let undated = Here.talk.when(
            CommandRequest(
                .postMessage(thread: Here.sw1a, body: "Once", by: Here.ann), origin: .imported(sentAt: nil)))
        #expect(undated.events.map(\.origin) == [.imported(sentAt: nil)])
        #expect(undated.events.map(\.createdAt) == undated.events.map(\.recordedAt))
    }

    @Test func everyEventOfCommandHoldsOrigin() {
        let outcome = Here.people.when(Self.imported(.setPostcode(postcode: "SW1A 1AA", by: Here.ann)))
        #expect(outcome.events.map(\.origin) == Array(repeating: .imported(sentAt: Self.sentAt), count: 3))
    }

    @Test func sentAtCanDecreaseButRecordedAtCannot() {
        let given = Here.talk.given([Self.imported(.postMessage(thread: Here.sw1a, body: "Long ago", by: Here.ann))]
        )
        let earlier = CommandRequest(
            .postMessage(thread: Here.sw1a, body: "Longer ago", by: Here.ann),
            origin: .imported(sentAt: Timestamp(millisecondsSince1970: -5)))
        let events = given.when(earlier).events
        #expect(events.map(\.origin.sentAt) == [Timestamp(millisecondsSince1970: -5)])
        #expect(events.allSatisfy { $0.recordedAt >= given.state.lastRecordedAt })
    }

    @Test func importNeedsNoResidence() {
        let command = ChatCommand.joinThread(thread: Here.sw1a, by: Here.cem)
        #expect(Here.talk.when(command).rejection?.code == .notResident)
        #expect(
            Here.talk.when(Self.imported(command)).eventDetails == [
                .init(.threadJoined, .thread(Here.sw1a, number: 6, user: Here.cem))
            ])
    }

    @Test(arguments: ["N1P", " n1p "]) func importOpensThreadOfOutwardCode(name: String) {
        let outcome = Here.people.when(Self.imported(.openThread(id: Here.n1p, name: name, by: Here.ann)))
        #expect(
            outcome.eventDetails == [
                .init(.threadOpened, .thread(Here.n1p, number: 1, user: Here.ann)),
                .init(.threadJoined, .thread(Here.n1p, number: 2, user: Here.ann)),
            ])
        #expect(outcome.events.map(\.content) == [.none, .none])
        #expect(outcome.events.first?.threadName == "N1P")
    }

    @Test func repeatedOpeningIsDuplicate() {
        let open = Self.imported(.openThread(id: Here.n1p, name: "N1P", by: Here.ann))
        #expect(Here.people.given([open]).when(open).duplicatePositions == 3...4)
    }

    @Test func openingOfOpenThreadChangesNothing() {
        #expect(
            Here.neighbours.when(Self.imported(.openThread(id: Here.sw1a, name: "SW1A", by: Here.bob))).isUnchanged)
    }

    @Test(
        arguments: [
            (.openThread(id: Here.n1p, name: "Mine", by: Here.ann), .identifierTaken),
            (.openThread(id: Here.n1p, name: "SW1A", by: Here.ann), .identifierTaken),
            (.openThread(id: Here.n1p, name: "Mine", by: Here.nobody), .identifierTaken),
            (.openThread(id: Here.n1p, name: "N1P", by: Here.nobody), .unknownUser),
            (.openThread(id: Here.sw1a, name: "SW1A", by: Here.nobody), .unknownUser),
            (.openThread(name: "SW1A", by: Here.ann), .invalidThreadName),
            (.postMessage(thread: Here.sw1a, body: "x", by: Here.cem), .notAMember),
            (.postMessage(thread: Here.sw1a, body: "", by: Here.ann), .invalidBody),
            (.registerUser(username: "ann"), .usernameTaken),
        ] as [(ChatCommand, Rejection.Code)])
    func allOtherRulesApply(command: ChatCommand, code: Rejection.Code) {
        let given = Here.neighbours.given(.registerUser(id: Here.cem, username: "Cem"))
        #expect(given.when(Self.imported(command)).rejection?.code == code)
    }
}
