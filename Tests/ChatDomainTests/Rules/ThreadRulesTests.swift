import ChatDomain
import ChatTesting
import Testing

/// Rules of opening, joining and leaving threads.
struct ThreadRulesTests {
    typealias Here = Neighbourhood

    @Test func openerJoinsThread() {
        let outcome = Here.people.when(.openThread(id: Here.dogs, name: " Dogs ", by: Here.ann))
        #expect(
            outcome.eventDetails == [
                .init(.threadOpened, .thread(Here.dogs, number: 1, user: Here.ann)),
                .init(.threadJoined, .thread(Here.dogs, number: 2, user: Here.ann)),
            ])
        #expect(outcome.events.map(\.content) == [.threadName("Dogs"), .none])
    }

    @Test func threadNamesCanRepeat() {
        let outcome = Here.dogOwners.when(.openThread(name: "Dogs", by: Here.bob))
        #expect(outcome.events.count == 2)
        #expect(outcome.events.first?.thread != Here.dogs)
    }

    @Test(arguments: [
        RefusedCommand(
            "another's thread id", Here.dogOwners, .openThread(id: Here.dogs, name: "Dogs", by: Here.bob),
            .identifierTaken),
        RefusedCommand("a stranger", Here.people, .openThread(name: "Dogs", by: Here.nobody), .unknownUser),
        RefusedCommand("a blank name", Here.people, .openThread(name: " ", by: Here.ann), .invalidThreadName),
        RefusedCommand(
            "121 characters", Here.people, .openThread(name: String(repeating: "x", count: 121), by: Here.ann),
            .invalidThreadName),
        RefusedCommand("an outward code", Here.people, .openThread(name: "SW1A", by: Here.ann), .invalidThreadName),
        RefusedCommand(
            "an outward code in small letters", Here.people, .openThread(name: " n1p ", by: Here.ann),
            .invalidThreadName),
        RefusedCommand(
            "a control character", Here.people, .openThread(name: "Dogs\u{1B}", by: Here.ann), .invalidThreadName),
        RefusedCommand(
            "another's id by a stranger", Here.dogOwners, .openThread(id: Here.dogs, name: "", by: Here.nobody),
            .identifierTaken),
        RefusedCommand(
            "a stranger and an empty name", Here.people, .openThread(name: "", by: Here.nobody), .unknownUser),
    ])
    func openingIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test(arguments: [
        RefusedCommand(
            "before the district has residents", Here.people, .openThread(id: Here.n1p, name: "Mine", by: Here.ann),
            .identifierTaken),
        RefusedCommand(
            "under the code's own name", Here.people, .openThread(id: Here.n1p, name: "N1P", by: Here.ann),
            .identifierTaken),
        RefusedCommand(
            "by a resident", Here.neighbours, .openThread(id: Here.sw1a, name: "SW1A", by: Here.bob),
            .identifierTaken),
        RefusedCommand(
            "by a stranger", Here.people, .openThread(id: Here.n1p, name: "", by: Here.nobody), .identifierTaken),
    ])
    func idOfOutwardCodeIsReserved(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test func anyUserJoinsNamedThread() {
        let outcome = Here.dogOwners.when(.joinThread(thread: Here.dogs, by: Here.cem))
        #expect(outcome.eventDetails == [.init(.threadJoined, .thread(Here.dogs, number: 3, user: Here.cem))])
    }

    @Test func residentRejoinsDistrictThread() {
        let outcome = Here.neighbours.given(.leaveThread(thread: Here.sw1a, by: Here.ann))
            .when(.joinThread(thread: Here.sw1a, by: Here.ann))
        #expect(outcome.eventDetails == [.init(.threadJoined, .thread(Here.sw1a, number: 5, user: Here.ann))])
    }

    @Test func repeatedJoinAndLeaveChangeNothing() {
        #expect(Here.dogOwners.when(.joinThread(thread: Here.dogs, by: Here.ann)).isUnchanged)
        #expect(Here.dogOwners.when(.leaveThread(thread: Here.dogs, by: Here.bob)).isUnchanged)
        let left = Here.dogOwners.given(
            .joinThread(thread: Here.dogs, by: Here.bob), .leaveThread(thread: Here.dogs, by: Here.bob))
        #expect(left.when(.leaveThread(thread: Here.dogs, by: Here.bob)).isUnchanged)
    }

    @Test func formerResidentCannotRejoin() {
        let moved = Here.neighbours.given(
            .setPostcode(postcode: "N1P 2NG", by: Here.ann), .leaveThread(thread: Here.sw1a, by: Here.ann))
        #expect(moved.when(.joinThread(thread: Here.sw1a, by: Here.ann)).rejection?.code == .notResident)
    }

    @Test(arguments: [
        RefusedCommand("a stranger", Here.dogOwners, .joinThread(thread: Here.dogs, by: Here.nobody), .unknownUser),
        RefusedCommand(
            "an unknown thread", Here.dogOwners, .joinThread(thread: Here.nowhere, by: Here.ann), .unknownThread),
        RefusedCommand(
            "a district without residents", Here.dogOwners, .joinThread(thread: Here.n1p, by: Here.ann),
            .unknownThread),
        RefusedCommand(
            "a user without a postcode", Here.talk, .joinThread(thread: Here.sw1a, by: Here.cem), .notResident),
        RefusedCommand(
            "a stranger and an unknown thread", Here.talk, .joinThread(thread: Here.nowhere, by: Here.nobody),
            .unknownUser),
        RefusedCommand(
            "a stranger without a postcode", Here.talk, .joinThread(thread: Here.sw1a, by: Here.nobody), .unknownUser),
    ])
    func joiningIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }

    @Test func memberLeaves() {
        let outcome = Here.neighbours.when(.leaveThread(thread: Here.sw1a, by: Here.bob))
        #expect(outcome.eventDetails == [.init(.threadLeft, .thread(Here.sw1a, number: 4, user: Here.bob))])
    }

    @Test(arguments: [
        RefusedCommand("a stranger", Here.dogOwners, .leaveThread(thread: Here.dogs, by: Here.nobody), .unknownUser),
        RefusedCommand(
            "an unknown thread", Here.dogOwners, .leaveThread(thread: Here.nowhere, by: Here.ann), .unknownThread),
        RefusedCommand(
            "a stranger and an unknown thread", Here.dogOwners, .leaveThread(thread: Here.nowhere, by: Here.nobody),
            .unknownUser),
    ])
    func leavingIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }
}
