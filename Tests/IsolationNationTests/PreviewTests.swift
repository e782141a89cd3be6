#if Client || canImport(SQLite3)
    import Chat
    import ChatClient
    import IsolationNationModel
    import Observation
    import Testing

    /// The same screens on a store in memory, as previews have them.
    @MainActor @Suite(.timeLimit(.minutes(1))) struct PreviewTests {
        @Test func theScreensWorkOnAStore() async throws {
            let store = try ChatStore.inMemory()
            let ann = try #require(try await store.execute(.registerUser(username: "Ann")).user)
            let session = SessionModel(previewing: store.chat(of: ann))
            let running = Task { await session.run() }
            for await needsPostcode in Observations({ session.threads.needsPostcode }) where needsPostcode { break }
            await session.threads.setPostcode("SW1A 1AA")
            for await threads in Observations({ session.threads.threads }) where threads.count == 1 { break }
            let posts = session.posts(of: try #require(session.threads.threads.first).id)
            let following = Task { await posts.follow() }
            posts.draft = "Hello"
            await posts.post()
            for await rows in Observations({ posts.rows.map(\.post.body) }) where rows == ["Hello"] { break }
            #expect(posts.rows.map(\.isWaiting) == [false] && session.outbox.items.isEmpty && session.banner == nil)
            // A failed post is not lost.
            posts.draft = String(repeating: "long ", count: 4_000)
            await posts.post()
            #expect(posts.notice?.code == "invalidBody" && posts.draft.hasPrefix("long "))
            following.cancel()
            running.cancel()
            await following.value
            await running.value
        }
    }
#endif
