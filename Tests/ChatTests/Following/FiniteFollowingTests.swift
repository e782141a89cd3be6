@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

/// Sequences with a last position, and open timelines.
// The time limit ends a wait for an event that never arrives.
@Suite(.timeLimit(.minutes(3))) struct FiniteFollowingTests {
    private typealias Fixture = FollowingFixture

    @Test(arguments: [BufferingPolicy.paced, .bounded(100)])
    func sequenceEndsAfterItsLastPosition(policy: BufferingPolicy) async throws {
        let fixture = try Fixture()
        for number in 1...600 { try fixture.post("\(number)") }
        for (first, last) in [(1, 6), (3, 3), (1, 1), (6, 300), (250, 606)] as [(Position, Position)] {
            let events = fixture.store.events(
                after: first - 1, upTo: last, matching: EventFilter(as: .host), bufferingPolicy: policy)
            var positions: [Position] = []
            for try await event in events { positions.append(event.position) }
            #expect(positions == Array(first...last))
        }
        var audited: [Position] = []
        for try await event in fixture.store.events(in: 0...5, matching: EventFilter(as: .host)) {
            audited.append(event.position)
        }
        #expect(audited == [1, 2, 3, 4, 5])
        // The sequence is empty when its last position precedes its start.
        var again: [Position] = []
        for try await event in fixture.store.events(after: 605, upTo: 4, matching: EventFilter(as: .host)) {
            again.append(event.position)
        }
        #expect(again == [])
    }

    @Test func sequenceWaitsForItsLastPosition() async throws {
        let fixture = try Fixture()
        let all = fixture.follow(fixture.store.events(in: 5...8, matching: EventFilter(as: .host)))
        // The sequence ends at its last position although no event matches.
        let none = fixture.follow(
            fixture.store.events(after: 6, upTo: 8, matching: EventFilter(as: .host, kinds: [.sessionEnded])))
        try await fixture.untilWaiting(2)
        for body in ["Milk?", "Bread?", "Tea?"] { try fixture.post(body) }
        #expect(try await all.ended() == [5, 6, 7, 8])
        #expect(try await none.ended() == [])
    }

    @Test func openTimelineContinuesAfterItsPage() async throws {
        let fixture = try Fixture()
        try fixture.post("Milk?")
        let opened = try fixture.store.openTimeline(Fixture.garden, as: .user(Fixture.bob))
        #expect(opened.page.entries.map(\.body).last == "Milk?" && opened.position == 7)
        #expect(Set(opened.names.keys) == [Fixture.ann, Fixture.bob])
        #expect(opened.names[Fixture.ann] == "Ann")
        let following = Task {
            var positions: [Position] = []
            for try await event in opened.events {
                positions.append(event.position)
                if positions.count == 2 { break }
            }
            return positions
        }
        try await fixture.untilWaiting()
        try fixture.post("Bread?")
        try await fixture.store.execute(.startSession(device: "Telephone", by: Fixture.ann))
        try await fixture.store.execute(.changeUsername(username: "Anna", by: Fixture.ann))
        #expect(try await following.ended() == [8, 10])
    }

    @Test func openTimelineRequiresMembership() throws {
        let fixture = try Fixture()
        try fixture.store.executeBlocking(.leaveThread(thread: Fixture.garden, by: Fixture.bob))
        expectRejection(.notAMember) { () throws(ChatError) in
            _ = try fixture.store.openTimeline(Fixture.garden, as: .user(Fixture.bob))
        }
        #expect(try fixture.store.openTimeline(Fixture.garden, as: .host).names[Fixture.bob] == nil)
    }
}
