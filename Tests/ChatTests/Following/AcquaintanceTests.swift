@testable import Chat
import ChatDomain
import Testing

/// Who is shown that a user took another username.
@Suite(.timeLimit(.minutes(3))) struct AcquaintanceTests {
    private typealias Fixture = FollowingFixture

    /// Those who shared a thread with the user then, and not those who share one with them by now.
    @Test func aChangeOfNameIsShownToTheAcquaintancesOfItsOwnPosition() async throws {
        let fixture = try Fixture()
        let store = fixture.store
        try await store.execute(.changeUsername(user: Fixture.ann, username: "Anne"))  // 7
        try await store.execute(.changeUsername(user: Fixture.bob, username: "Rob"))  // 8
        try await store.execute(.leaveThread(user: Fixture.ann, thread: Fixture.garden))  // 9
        try await store.execute(.joinThread(user: Fixture.cat, thread: Fixture.garden))  // 10
        func positions(_ viewer: UserID) async throws -> [Position] {
            let filter = EventFilter(kinds: [.usernameChanged], viewer: viewer)
            var read: [Position] = []
            try store.forEachEvent(matching: filter) { event in
                read.append(event.position)
                return true
            }
            #expect(try await store.events(matching: filter).prefix(read.count) == read)
            return read
        }
        // Ann has left the garden, and Bob, who is still there, was in it with her then.
        #expect(try await positions(Fixture.bob) == [7, 8])
        // Cat is in it with Bob, and was not then.
        #expect(try await positions(Fixture.cat) == [])
    }
}
