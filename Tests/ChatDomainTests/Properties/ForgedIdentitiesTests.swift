@testable import ChatDomain
import Columns
import Testing

/// Identities of a forged checkpoint: an edit of a post that does not exist.
struct ForgedIdentitiesTests {
    /// Identities with as many messages and replies, and one edit.
    private func identities(messages: Int, replies: Int, parent: Int) -> Identities {
        var ids = Identities()
        _ = ids.users.insert(UserID(bits: 1))
        _ = ids.threads.insert(ThreadID(bits: 1))
        let event = EventEnvelope(
            recordedAt: Timestamp(millisecondsSince1970: 0), origin: .native, hasCorrelation: false
        )
        .row(.messagePosted)
        for number in 0..<messages {
            _ = ids.posts.messages.insert(
                UInt128(number), by: event, at: Position(number) + 1, parent: 0, author: 0)
        }
        for number in 0..<replies {
            _ = ids.posts.replies.insert(
                UInt128(number), by: event, at: Position(number) + 10, parent: 0, author: 0)
        }
        _ = ids.edits.insert(1, by: event, at: 20, parent: parent, author: 0)
        return ids
    }

    @Test(arguments: [(1, 3, 0), (1, 3, 1), (1, 3, 5), (3, 1, 4), (3, 1, 1)])
    func editOfAPostIsSound(messages: Int, replies: Int, parent: Int) throws {
        try identities(messages: messages, replies: replies, parent: parent).check(head: 20)
    }

    /// Also if there are enough posts of the other kind.
    @Test(arguments: [(1, 3, 2), (1, 3, 4), (1, 3, 7), (3, 1, 3), (3, 1, 5), (3, 1, 6), (1, 0, 1)])
    func editOfNoPostIsRejected(messages: Int, replies: Int, parent: Int) {
        #expect(throws: ColumnError.self) {
            try identities(messages: messages, replies: replies, parent: parent).check(head: 20)
        }
    }
}
