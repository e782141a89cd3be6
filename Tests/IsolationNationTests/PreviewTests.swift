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
            session.start()
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
            #expect(posts.feedback?.code == "invalidBody" && posts.draft.hasPrefix("long "))
            following.cancel()
            await following.value
            await session.stop()
        }

        @Test func aViewThatHasFailedIsTriedAgain() async throws {
            let (store, ann, bob, thread) = try await neighbours()
            let posts = SessionModel(previewing: store.chat(of: ann)).posts(of: thread)
            let following = Task { await posts.follow() }
            for await hasFailed in Observations({ posts.failure != nil }) where hasFailed { break }
            try await store.execute(.joinThread(thread: thread, by: ann))
            try await store.execute(.postMessage(thread: thread, body: "Hello", by: bob))
            posts.tryAgain()
            for await rows in Observations({ posts.rows.map(\.post.body) }) where rows == ["Hello"] { break }
            #expect(posts.failure == nil)
            following.cancel()
            await following.value
        }

        /// The message that the replies answer can be older than the page that a thread shows
        /// first.
        @Test(arguments: [0, 60]) func theRootOfRepliesIsKeptCurrent(laterMessages: Int) async throws {
            let (store, ann, bob, thread) = try await neighbours()
            try await store.execute(.joinThread(thread: thread, by: ann))
            let message = try #require(
                try await store.execute(.postMessage(thread: thread, body: "Hello", by: bob)).message)
            for number in 0..<laterMessages {
                try await store.execute(.postMessage(thread: thread, body: "\(number)", by: bob))
            }
            let replies = SessionModel(previewing: store.chat(of: ann)).replies(to: message, in: thread)
            let following = Task { await replies.follow() }
            func shows(_ text: PostText) async {
                for await shown in Observations({ replies.root?.shownText }) where shown == text { break }
            }
            await shows(.written("Hello"))
            try await store.execute(.edit(.message(message), body: "Hello, all", by: bob))
            await shows(.written("Hello, all"))
            try await store.execute(.block(user: bob, by: ann))
            await shows(.blocked)
            try await store.execute(.retract(.message(message), by: bob))
            await shows(.retracted)
            following.cancel()
            await following.value
        }

        /// A store with Ann and Bob, and a thread of Bob's that Ann has not joined.
        private func neighbours() async throws -> (store: ChatStore, ann: UserID, bob: UserID, thread: ThreadID) {
            let store = try ChatStore.inMemory()
            let ann = try #require(try await store.execute(.registerUser(username: "Ann")).user)
            let bob = try #require(try await store.execute(.registerUser(username: "Bob")).user)
            let thread = try #require(try await store.execute(.openThread(name: "Dogs", by: bob)).thread)
            return (store, ann, bob, thread)
        }
    }
#endif
