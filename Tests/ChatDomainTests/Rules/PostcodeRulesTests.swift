import ChatDomain
import ChatTesting
import Testing

/// Residence, and its effect on thread membership.
struct PostcodeRulesTests {
    typealias Here = Neighbourhood

    @Test func firstResidentOpensAndJoinsThread() throws {
        let outcome = Here.people.when(.setPostcode(user: Here.ann, postcode: "sw1a1aa"))
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
        let outcome = Here.neighbours.given(.registerUser(user: Here.cem, username: "Cem"))
            .when(.setPostcode(user: Here.cem, postcode: "SW1A 9ZZ"))
        #expect(
            outcome.eventDetails == [
                .init(.postcodeSet, .postcode(user: Here.cem, thread: Here.sw1a)),
                .init(.threadJoined, .thread(Here.sw1a, number: 4, user: Here.cem)),
            ])
    }

    @Test func moveWithinDistrictKeepsMembership() {
        let outcome = Here.neighbours.when(.setPostcode(user: Here.ann, postcode: "SW1A 2AA"))
        #expect(outcome.eventDetails == [.init(.postcodeSet, .postcode(user: Here.ann, thread: Here.sw1a))])
    }

    @Test func moveAwayKeepsEarlierMembership() {
        let moved = Here.neighbours.given(.setPostcode(user: Here.ann, postcode: "N1P 2NG"))
        #expect(moved.when(.postMessage(thread: Here.sw1a, author: Here.ann, body: "I moved.")).events.count == 1)
        #expect(moved.when(.postMessage(thread: Here.n1p, author: Here.ann, body: "I came.")).events.count == 1)
        #expect(moved.when(.joinThread(user: Here.ann, thread: Here.sw1a)).isUnchanged)
    }

    @Test(arguments: ["SW1A 1AA", "sw1a1aa", "  SW1A   1AA "]) func samePostcodeChangesNothing(writing: String) {
        #expect(Here.neighbours.when(.setPostcode(user: Here.ann, postcode: writing)).isUnchanged)
    }

    @Test func samePostcodeDoesNotRejoinLeftThread() {
        let left = Here.neighbours.given(.leaveThread(user: Here.ann, thread: Here.sw1a))
        #expect(left.when(.setPostcode(user: Here.ann, postcode: "SW1A 1AA")).isUnchanged)
    }

    @Test func newPostcodeOfDistrictRejoinsLeftThread() {
        let left = Here.neighbours.given(.leaveThread(user: Here.ann, thread: Here.sw1a))
        let outcome = left.when(.setPostcode(user: Here.ann, postcode: "SW1A 1AB"))
        #expect(
            outcome.eventDetails == [
                .init(.postcodeSet, .postcode(user: Here.ann, thread: Here.sw1a)),
                .init(.threadJoined, .thread(Here.sw1a, number: 5, user: Here.ann)),
            ])
    }

    @Test func returningResidentJoinsOnlyIfNotMember() {
        let back = Here.neighbours.given(.setPostcode(user: Here.ann, postcode: "N1P 2NG"))
        #expect(
            back.when(.setPostcode(user: Here.ann, postcode: "SW1A 1AA")).eventDetails == [
                .init(.postcodeSet, .postcode(user: Here.ann, thread: Here.sw1a))
            ])
    }

    @Test(arguments: [
        RefusedCommand("a stranger", Here.people, .setPostcode(user: Here.nobody, postcode: "SW1A 1AA"), .unknownUser),
        RefusedCommand(
            "an invalid postcode", Here.people, .setPostcode(user: Here.ann, postcode: "SW1A"), .invalidPostcode),
        RefusedCommand(
            "a withdrawn postcode", Here.people, .setPostcode(user: Here.ann, postcode: "GIR 0AA"), .invalidPostcode),
        RefusedCommand(
            "an empty postcode", Here.neighbours, .setPostcode(user: Here.ann, postcode: ""), .invalidPostcode),
        RefusedCommand(
            "a stranger and an empty postcode", Here.people, .setPostcode(user: Here.nobody, postcode: ""), .unknownUser
        ),
    ])
    func postcodeIsRejected(refused: RefusedCommand) {
        #expect(refused.refusedWith == refused.code)
    }
}
