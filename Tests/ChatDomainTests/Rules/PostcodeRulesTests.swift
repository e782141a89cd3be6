import ChatDomain
import ChatTesting
import Testing

/// Residence, and its effect on thread membership.
struct PostcodeRulesTests {
    typealias Here = Neighbourhood

    @Test func firstResidentOpensAndJoinsThread() throws {
        let outcome = Here.people.when(.setPostcode(postcode: "sw1a1aa", by: Here.ann))
        #expect(
            outcome.eventDetails == [
                .init(.postcodeSet, .postcode(user: Here.ann, thread: Here.sw1a)),
                .init(.threadOpened, .thread(Here.sw1a, number: 1, user: Here.ann)),
                .init(.threadJoined, .thread(Here.sw1a, number: 2, user: Here.ann)),
            ])
        #expect(outcome.events.map(\.content) == [.postcode(try #require(Postcode("SW1A 1AA"))), .none, .none])
        #expect(outcome.events.map(\.threadName) == [nil, "SW1A", nil])
    }

    @Test func nextResidentJoinsThread() {
        let outcome = Here.neighbours.given(.registerUser(id: Here.cem, username: "Cem"))
            .when(.setPostcode(postcode: "SW1A 9ZZ", by: Here.cem))
        #expect(
            outcome.eventDetails == [
                .init(.postcodeSet, .postcode(user: Here.cem, thread: Here.sw1a)),
                .init(.threadJoined, .thread(Here.sw1a, number: 4, user: Here.cem)),
            ])
    }

    @Test func moveWithinDistrictKeepsMembership() {
        let outcome = Here.neighbours.when(.setPostcode(postcode: "SW1A 2AA", by: Here.ann))
        #expect(outcome.eventDetails == [.init(.postcodeSet, .postcode(user: Here.ann, thread: Here.sw1a))])
    }

    @Test func moveAwayKeepsEarlierMembership() {
        let moved = Here.neighbours.given(.setPostcode(postcode: "N1P 2NG", by: Here.ann))
        #expect(moved.when(.postMessage(thread: Here.sw1a, body: "I moved.", by: Here.ann)).events.count == 1)
        #expect(moved.when(.postMessage(thread: Here.n1p, body: "I came.", by: Here.ann)).events.count == 1)
        #expect(moved.when(.joinThread(thread: Here.sw1a, by: Here.ann)).isUnchanged)
    }

    @Test(arguments: ["SW1A 1AA", "sw1a1aa", "  SW1A   1AA "]) func samePostcodeChangesNothing(writing: String) {
        #expect(Here.neighbours.when(.setPostcode(postcode: writing, by: Here.ann)).isUnchanged)
    }

    @Test func samePostcodeDoesNotRejoinLeftThread() {
        let left = Here.neighbours.given(.leaveThread(thread: Here.sw1a, by: Here.ann))
        #expect(left.when(.setPostcode(postcode: "SW1A 1AA", by: Here.ann)).isUnchanged)
    }

    @Test func newPostcodeOfDistrictRejoinsLeftThread() {
        let left = Here.neighbours.given(.leaveThread(thread: Here.sw1a, by: Here.ann))
        let outcome = left.when(.setPostcode(postcode: "SW1A 1AB", by: Here.ann))
        #expect(
            outcome.eventDetails == [
                .init(.postcodeSet, .postcode(user: Here.ann, thread: Here.sw1a)),
                .init(.threadJoined, .thread(Here.sw1a, number: 5, user: Here.ann)),
            ])
    }

    @Test func returningResidentJoinsOnlyIfNotMember() {
        let back = Here.neighbours.given(.setPostcode(postcode: "N1P 2NG", by: Here.ann))
        #expect(
            back.when(.setPostcode(postcode: "SW1A 1AA", by: Here.ann)).eventDetails == [
                .init(.postcodeSet, .postcode(user: Here.ann, thread: Here.sw1a))
            ])
    }

    @Test(arguments: [
        RefusedCommand("a stranger", Here.people, .setPostcode(postcode: "SW1A 1AA", by: Here.nobody), .unknownUser),
        RefusedCommand(
            "an invalid postcode", Here.people, .setPostcode(postcode: "SW1A", by: Here.ann), .invalidPostcode),
        RefusedCommand(
            "a withdrawn postcode", Here.people, .setPostcode(postcode: "GIR 0AA", by: Here.ann), .invalidPostcode),
        RefusedCommand(
            "an empty postcode", Here.neighbours, .setPostcode(postcode: "", by: Here.ann), .invalidPostcode),
        RefusedCommand(
            "a stranger and an empty postcode", Here.people, .setPostcode(postcode: "", by: Here.nobody), .unknownUser
        ),
    ])
    func postcodeIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }
}
