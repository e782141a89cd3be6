import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Projections
import Testing

// WritingAProjection.md shows these tests.
@Suite struct ProjectionExampleTests {
    @Test func projectionHasCheckpointsOfItsOwn() throws {
        let store = try ChatStore.inMemory()
        try store.executeBlocking(.registerUser(username: "Ann"))
        let options = CheckpointOptions(interval: 50_000, count: 16)
        let mentions = store.project(UnreadMentions.self, checkpoints: options)
        #expect(try mentions.writeCheckpoint() == 1)
    }

    @Test func mentionIsCountedUntilItIsRead() throws {
        let (ann, bob, sw1a) = (UserID(bits: 1), UserID(bits: 2), ThreadID(OutwardCode("SW1A")!))
        let store = try ChatStore.inMemory()
        for (user, name) in [(ann, "Ann"), (bob, "Bob")] {
            try store.executeBlocking(.registerUser(id: user, username: name))
            try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: user))
        }
        let post = try store.executeBlocking(.postMessage(thread: sw1a, body: "Milk, @bob ?", by: ann))
        try store.executeBlocking(.markRead(thread: sw1a, upTo: post.position, by: bob))

        let mentions = store.project(UnreadMentions.self)
        let count = try mentions.readBlocking { model, position in model.count(for: bob) }
        let then = try mentions.readBlocking(asOf: .position(post.position)) { model, position in model.count(for: bob)
        }
        #expect(count == 0)
        #expect(then == 1)
    }

    @Test(arguments: Seeds.seeds(10)) func rebuildGivesEqualState(seed: UInt64) throws {
        let store = try ChatStore.inMemory()
        let mentions = store.project(UnreadMentions.self)
        var commands = CommandGenerator(seed: seed)
        for _ in 1...10 {
            _ = try store.executeBlocking((1...20).map { _ in commands.nextRequest() })
            #expect(try mentions.isReproducible())
        }
    }
}
