import ChatDomain
import Testing

@testable import Chat

/// The lists of a thread whose history begins with the latest join, for a moderator who joined
/// later.
@Suite struct JoinedLaterTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let club = ThreadID(bits: 31)
    private let early = MessageID(bits: 11)
    private let late = MessageID(bits: 12)

    /// Returns a store in which Bob joins between two messages; both are pinned and reported then.
    private func store() throws -> ChatStore {
        let store = try StoreFixture().open()
        let commands: [ChatCommand] = [
            .registerUser(id: ann, username: "Ann"),
            .registerUser(id: bob, username: "Bob"),
            .openThread(id: club, name: "Club", history: .sinceJoining, by: ann),
            .postMessage(id: early, thread: club, body: "Early", by: ann),
            .joinThread(thread: club, by: bob),
            .postMessage(id: late, thread: club, body: "Late", by: ann),
            .setRole(user: bob, thread: club, role: .moderator, by: ann),
            .pin(message: early, by: ann), .pin(message: late, by: ann),
            .report(.message(early), reason: "old", by: ann), .report(.message(late), reason: "new", by: ann),
        ]
        for command in commands { try store.executeBlocking(command) }
        return store
    }

    @Test func pinsOfEarlierMessagesAreHidden() throws {
        let store = try store()
        #expect(try store.reader(as: .user(bob)).pins(in: club).map(\.message) == [late])
        #expect(try store.reader(as: .user(ann)).pins(in: club).map(\.message) == [early, late])
    }

    @Test func reportsOfEarlierMessagesAreHidden() throws {
        let store = try store()
        #expect(try store.reader(as: .user(bob)).reports(in: club).map(\.post) == [.message(late)])
        #expect(try store.reader(as: .user(ann)).reports(in: club).map(\.post) == [.message(early), .message(late)])
    }
}
