@testable import Chat
import ChatDomain
import Testing

/// The viewers who are shown a change of username.
@Suite(.timeLimit(.minutes(3))) struct AcquaintanceTests {
    private typealias Fixture = FollowingFixture

    /// Membership counts as of the event's position, not as of now.
    @Test func usernameChangeIsShownToMembersAtItsPosition() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        try await store.execute(.changeUsername(username: "Anne", by: Fixture.ann))  // 7
        try await store.execute(.changeUsername(username: "Rob", by: Fixture.bob))  // 8
        try await store.execute(.leaveThread(thread: Fixture.garden, by: Fixture.ann))  // 9
        try await store.execute(.joinThread(thread: Fixture.garden, by: Fixture.cat))  // 10
        func positions(_ viewer: UserID) async throws -> [Position] {
            let filter = EventFilter(as: .user(viewer), kinds: [.usernameChanged])
            var read: [Position] = []
            try store.forEachEvent(matching: filter) { event, _ in
                read.append(event.position)
            }
            #expect(try await store.events(matching: filter).prefix(read.count) == read)
            return read
        }
        // Ann has left the thread. Bob was in it with her at position 7.
        #expect(try await positions(Fixture.bob) == [7, 8])
        // Cat joined the thread after Bob's change.
        #expect(try await positions(Fixture.cat) == [])
    }
}
