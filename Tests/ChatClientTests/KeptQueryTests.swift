#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import LocalStorage
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// The queries whose answers the copy keeps whole.
    @MainActor @Suite struct KeptQueryTests {
        let neighbours: Neighbours

        init() throws { neighbours = try Neighbours() }

        /// Every one of them, with a page that nobody keeps.
        private var queries: [any KeptQuery] {
            let page = PageRequest.latest(3)
            return [
                UserQuery(), ThreadsQuery(page: page), InboxQuery(page: page),
                MembersQuery(thread: neighbours.thread, page: page),
            ]
        }

        /// A file of before has these keys.
        @Test func aKeyNamesItsQuery() throws {
            #expect(queries.map(\.key) == ["me", "threads", "inbox", "members \(neighbours.thread)"])
            #expect(queries.map { "\(type(of: $0))" } == KeptAnswer.queries.map { "\($0)" })
            for query in queries {
                let answer = try #require(KeptAnswer(key: query.key))
                #expect(answer == KeptAnswer(query) && type(of: answer.query) == type(of: query))
            }
            #expect(KeptAnswer(key: "members") == nil && KeptAnswer(key: "members x") == nil)
            #expect(KeptAnswer(key: "") == nil && KeptAnswer(key: "posts") == nil)
        }

        /// The whole answer is read and kept, whatever page is asked for.
        @Test func everyAnswerIsKeptWhole() async throws {
            let client = try neighbours.client(neighbours.ann)
            for query in queries { try await isKept(query, in: client) }
            #expect(try await client.members(of: neighbours.thread, page: .latest(1)).count == 1)
            neighbours.server.goAway()
            #expect(try await client.members(of: neighbours.thread).count == 2)
            client.close()
        }

        private func isKept<Query: KeptQuery>(_ query: Query, in client: ChatClient) async throws {
            #expect(try client.copy.answer(query) == nil)
            try await client.engine.read(query)
            let kept = try #require(try client.copy.answer(query))
            let asked = try #require(Query(key: query.key))
            let answer = try await client.engine.answer(to: asked.requestTarget).decode(Query.Kept.self)
            #expect(kept.value == answer, "\(query.key)")
        }

        /// Whatever is kept about a thread leaves the file with the access to it.
        @Test func answersAboutALostThreadAreGone() async throws {
            let client = try neighbours.client(neighbours.ann)
            try client.copy.begin(at: neighbours.store.resumeToken(after: neighbours.store.head.position))
            for query in queries { try await client.engine.read(query) }
            let token = try neighbours.store.resumeToken(after: neighbours.store.head.position)
            _ = try client.copy.apply([.accessLost(neighbours.thread, token)])
            let keys = try client.copy.file.withLock { try $0.run("SELECT key FROM answers ORDER BY key") }
            #expect(keys == [[.text("inbox")], [.text("me")], [.text("threads")]])
            client.close()
        }
    }
#endif
