import Chat
import ChatDomain
import ChatTesting
import Locking
import Testing

/// The values of a projection as a sequence.
struct ProjectionValuesTests {
    private let ann = UserID(bits: 1)
    private let bob = UserID(bits: 2)
    private let garden = ThreadID(bits: 31)

    private func post(_ body: String, _ store: ChatStore) async throws {
        try await store.execute(.postMessage(id: nil, thread: garden, body: body, by: ann))
    }

    @Test func valuesAreThePresentOneAndEachChange() async throws {
        let store = try StoreFixture().open()
        try await store.execute(.registerUser(id: ann, username: "Ann"))
        try await store.execute(.registerUser(id: bob, username: "Bob"))
        try await store.execute(.openThread(id: garden, name: "Garden", by: ann))
        try await post("@bob", store)
        let bob = bob
        let mentions = store.project(UnreadMentions.self)
        let seen = Lock<[Int]>([])
        let task = Task {
            for try await count in mentions.values({ model, _ in model.count(for: bob) }) {
                seen.withLock { $0.append(count) }
            }
        }
        try await FollowingFixture.until { seen.withLock { $0 } == [1] }
        // A post without a mention changes nothing, and is no value of its own.
        try await post("nobody", store)
        try await post("@bob again", store)
        try await FollowingFixture.until { seen.withLock { $0 } == [1, 2] }
        try await store.execute(.joinThread(thread: garden, by: bob))
        try await store.execute(.markRead(thread: garden, upTo: store.head.position, by: bob))
        try await FollowingFixture.until { seen.withLock { $0 } == [1, 2, 0] }
        try store.close()
        try await task.value
        #expect(seen.withLock { $0 } == [1, 2, 0])
    }

    /// Also if it is closed between an event and the query that it causes.
    @Test func closedStoreEndsTheSequence() async throws {
        let store = try StoreFixture().open()
        var values = store.project(UnreadMentions.self).values { _, position in position }.makeAsyncIterator()
        try store.close()
        #expect(try await values.next() == nil)
    }

    @Test func cancelledTaskEndsTheSequence() async throws {
        let store = try StoreFixture().open()
        let mentions = store.project(UnreadMentions.self)
        let task = Task {
            var count = 0
            for try await _ in mentions.values({ _, position in position }) { count += 1 }
            return count
        }
        try await store.execute(.registerUser(id: ann, username: "Ann"))
        task.cancel()
        #expect(try await task.value <= 2)
        try store.close()
    }
}
