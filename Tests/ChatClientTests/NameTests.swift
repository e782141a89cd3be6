#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import LocalStorage
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// The names of people in the copy and in live views.
    @MainActor @Suite struct NameTests {
        let neighbours: Neighbours
        private var store: ChatStore { neighbours.store }
        private var ann: UserID { neighbours.ann }
        private var bob: UserID { neighbours.bob }
        private var thread: ThreadID { neighbours.thread }

        init() throws { neighbours = try Neighbours() }

        private func execute(_ command: ChatCommand) throws { _ = try store.executeBlocking(command) }

        /// A page that brings another name than the copy has, which no event has told.
        @Test func aNameThatAnAnswerBringsReachesLiveViews() async throws {
            for number in 0..<3 { try execute(.postMessage(thread: thread, author: bob, body: "\(number)")) }
            let isRenamed = Lock(false)
            let client = try neighbours.client(
                ann,
                answers: { _, answer in
                    guard isRenamed.withLock({ $0 }) else { return answer }
                    var answer = answer
                    answer.body = Data(String(decoding: answer.body, as: UTF8.self).replacing("\"Bob\"", with: "\"Robert\"").utf8)
                    return answer
                })
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            _ = try await client.me()
            let timeline = client.liveTimeline(of: thread, limit: 2)
            let following = Task { await timeline.follow() }
            try await until { timeline.messages.map(\.author.username) == ["Bob", "Bob"] }
            isRenamed.withLock { $0 = true }
            try await client.engine.read(.messages(thread), in: thread, PageRequest(limit: 1, before: timeline.messages.first?.position))
            try await until { timeline.messages.map(\.author.username) == ["Robert", "Robert"] }
            // What was kept whole has it too, and the name of before is in no file.
            #expect(try client.copy.answer(.me, as: UserDetails.self)?.value.threads.first?.lastMessage?.author.username == "Robert")
            for (name, bytes) in try neighbours.directory.contents() {
                #expect(Data(bytes).range(of: Data("Bob".utf8)) == nil, "it is in \(name)")
            }
            following.cancel()
            running.cancel()
            await running.value
            client.close()
        }

        /// A server can name somebody whom the user has never met otherwise in each thread; a change of name concerns all.
        @Test func aNameIsThatOfItsThread() throws {
            let client = try neighbours.client(ann)
            let other = ThreadID(bits: 77)
            try client.copy.begin(at: store.resumeToken(after: 0))
            for (number, (place, name)) in [(thread, "Bob"), (other, "Robert")].enumerated() {
                let message = MessageID(bits: UInt128(number) + 1)
                let post = Post(
                    id: .message(message), position: Position(number + 1), thread: place, message: message,
                    author: UserSummary(id: bob, username: name), body: "hello", createdAt: .testStart, isRetracted: false, replyCount: 0)
                _ = try client.copy.keep(
                    Page(entries: [post], older: nil, newer: PageRequest()), of: .messages(place), in: place, PageRequest(), asOf: 9)
            }
            let names = { try [self.thread, other].map { try client.copy.posts(in: .messages($0)).posts.first?.author.username } }
            #expect(try names() == ["Bob", "Robert"])
            try execute(.changeUsername(user: bob, username: "Robin"))
            var renamed: RecordedEvent?
            try store.forEachEvent(matching: EventFilter(as: .host)) { event, _ in renamed = event }
            let event = FollowedEvent(recorded: try #require(renamed), resumeToken: try store.resumeToken(after: store.head.position))
            let changes = try client.copy.apply([.event(event)])
            #expect(try names() == ["Robin", "Robin"])
            #expect(changes.users == [bob])
            client.close()
        }

        /// Bob comes back with another name, which a page of one thread has told when he writes in the other one.
        @Test func aNameOfAnotherThreadReachesTheViews() throws {
            let client = try neighbours.client(ann)
            let (copy, other) = (client.copy, ThreadID(bits: 77))
            try copy.begin(at: store.resumeToken(after: 0))
            func keep(_ name: String, at position: Position, in place: ThreadID) throws {
                let message = MessageID(bits: UInt128(position))
                let post = Post(
                    id: .message(message), position: position, thread: place, message: message,
                    author: UserSummary(id: bob, username: name), body: "hello", createdAt: .testStart, isRetracted: false, replyCount: 0)
                let request = PageRequest(limit: 1, after: position - 1)
                _ = try copy.keep(
                    Page(entries: [post], older: nil, newer: request), of: .messages(place), in: place, request, asOf: position)
            }
            try keep("Bert", at: 1, in: thread)
            try keep("Bert", at: 2, in: other)
            _ = try copy.file.withLock { try $0.run("UPDATE users SET known = 0 WHERE id = ?", bob.value) }
            try keep("Bob", at: 3, in: other)
            try copy.file.withLock { _ = try $0.run("UPDATE ranges SET last = NULL") }
            try execute(.postMessage(thread: thread, author: bob, body: "I am back"))
            var posted: RecordedEvent?
            try store.forEachEvent(matching: EventFilter(as: .host)) { event, _ in posted = event }
            let event = FollowedEvent(recorded: try #require(posted), resumeToken: try store.resumeToken(after: store.head.position))
            let changes = try copy.apply([.event(event)])
            #expect(try copy.posts(in: .messages(thread)).posts.map(\.author.username) == ["Bob", "Bob"])
            #expect(changes.users == [bob])
            client.close()
        }

        /// A name that is withheld in an event, because there is a later one, is read again.
        @Test func aWithheldNameIsReadAgain() async throws {
            try execute(.postMessage(thread: thread, author: bob, body: "hello"))
            let client = try neighbours.client(ann)
            let start = try store.resumeToken(after: store.head.position)
            try client.copy.begin(at: start)
            _ = try client.copy.keep(
                store.timeline(thread, as: .user(ann)), of: .messages(thread), in: thread, PageRequest(), asOf: start.position)
            try execute(.changeUsername(user: bob, username: "Rob"))
            try execute(.changeUsername(user: bob, username: "Robert"))
            var updates: [FollowedUpdate] = []
            let events = store.events(after: start, upTo: store.head.position, matching: EventFilter(as: .user(ann)))
            for try await update in events.updates { updates.append(update) }
            _ = try client.copy.apply(Array(updates.prefix(1)))
            #expect(try client.copy.posts(in: .messages(thread)).posts.first?.author.username == nil)
            let stale = try client.copy.stalePosts()
            #expect(stale != nil)
            _ = try client.copy.apply(updates)
            #expect(try client.copy.posts(in: .messages(thread)).posts.first?.author.username == "Robert")
            client.close()
        }
    }
#endif
