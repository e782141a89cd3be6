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
            for number in 0..<3 { try execute(.postMessage(thread: thread, body: "\(number)", by: bob)) }
            let isRenamed = Lock(false)
            let client = try neighbours.client(
                ann,
                answers: { _, answer in
                    guard isRenamed.withLock({ $0 }) else { return answer }
                    var answer = answer
                    answer.body = Data(
                        String(decoding: answer.body, as: UTF8.self).replacing("\"Bob\"", with: "\"Robert\"").utf8)
                    return answer
                })
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            _ = try await client.me()
            let timeline = client.liveTimeline(of: thread, limit: 2)
            let following = Task { await timeline.follow() }
            try await until { timeline.messages.map(\.author.username) == ["Bob", "Bob"] }
            isRenamed.withLock { $0 = true }
            try await client.engine.read(
                .messages(thread), in: thread, PageRequest(limit: 1, before: timeline.messages.first?.position))
            try await until { timeline.messages.map(\.author.username) == ["Robert", "Robert"] }
            // What was kept whole has it too, and the name of before is in no file.
            #expect(
                try client.copy.answer(UserQuery())?.value.threads.first?.lastMessage?.author.username
                    == "Robert")
            for (name, bytes) in try neighbours.directory.contents() {
                #expect(Data(bytes).range(of: Data("Bob".utf8)) == nil, "it is in \(name)")
            }
            following.cancel()
            running.cancel()
            await running.value
            client.close()
        }

        /// A server can name somebody whom the user has never met otherwise in each thread; a
        /// change of name concerns all.
        @Test func aNameIsThatOfItsThread() throws {
            let client = try neighbours.client(ann)
            let other = ThreadID(bits: 77)
            try client.copy.begin(at: store.resumeToken(after: 0))
            for (number, (place, name)) in [(thread, "Bob"), (other, "Robert")].enumerated() {
                let message = MessageID(bits: UInt128(number) + 1)
                let post = Post(
                    id: .message(message), position: Position(number + 1), thread: place, message: message,
                    author: UserSummary(id: bob, username: name), body: "hello", createdAt: .testStart,
                    isRetracted: false, replyCount: 0)
                _ = try client.copy.keep(
                    Page(entries: [post], older: nil, newer: .latest()), of: .messages(place), in: place,
                    PageRequest.latest(), asOf: 9)
            }
            let names = {
                try [self.thread, other].map { try client.copy.posts(in: .messages($0)).posts.first?.author.username }
            }
            #expect(try names() == ["Bob", "Robert"])
            try execute(.changeUsername(username: "Robin", by: bob))
            var renamed: RecordedEvent?
            try store.forEachEvent(matching: EventFilter(as: .host)) { event, _ in renamed = event }
            let event = FollowedEvent(
                recorded: try #require(renamed), resumeToken: try store.resumeToken(after: store.head.position))
            let changes = try client.copy.apply([.event(event)])
            #expect(try names() == ["Robin", "Robin"])
            #expect(changes.users == [bob])
            client.close()
        }

        /// Bob comes back with another name, which a page of one thread has told when he writes in
        /// the other one.
        @Test func aNameOfAnotherThreadReachesTheViews() throws {
            let client = try neighbours.client(ann)
            let (copy, other) = (client.copy, ThreadID(bits: 77))
            try copy.begin(at: store.resumeToken(after: 0))
            func keep(_ name: String, at position: Position, in place: ThreadID) throws {
                let message = MessageID(bits: UInt128(position))
                let post = Post(
                    id: .message(message), position: position, thread: place, message: message,
                    author: UserSummary(id: bob, username: name), body: "hello", createdAt: .testStart,
                    isRetracted: false, replyCount: 0)
                let request = PageRequest.after(position - 1, limit: 1)
                _ = try copy.keep(
                    Page(entries: [post], older: nil, newer: request), of: .messages(place), in: place, request,
                    asOf: position)
            }
            try keep("Bert", at: 1, in: thread)
            try keep("Bert", at: 2, in: other)
            _ = try copy.file.withLock { try $0.run("UPDATE users SET known = 0 WHERE id = ?", bob.value) }
            try keep("Bob", at: 3, in: other)
            try copy.file.withLock { _ = try $0.run("UPDATE ranges SET last = NULL") }
            try execute(.postMessage(thread: thread, body: "I am back", by: bob))
            var posted: RecordedEvent?
            try store.forEachEvent(matching: EventFilter(as: .host)) { event, _ in posted = event }
            let event = FollowedEvent(
                recorded: try #require(posted), resumeToken: try store.resumeToken(after: store.head.position))
            let changes = try copy.apply([.event(event)])
            #expect(try copy.posts(in: .messages(thread)).posts.map(\.author.username) == ["Bob", "Bob"])
            #expect(changes.users == [bob])
            client.close()
        }

        /// A name that is withheld in an event, because there is a later one, is read again.
        @Test func aWithheldNameIsReadAgain() async throws {
            try execute(.postMessage(thread: thread, body: "hello", by: bob))
            let client = try neighbours.client(ann)
            let start = try store.resumeToken(after: store.head.position)
            try client.copy.begin(at: start)
            _ = try client.copy.keep(
                store.reader(as: .user(ann)).timeline(thread), of: .messages(thread), in: thread, PageRequest.latest(),
                asOf: start.position)
            try execute(.changeUsername(username: "Rob", by: bob))
            try execute(.changeUsername(username: "Robert", by: bob))
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

        /// Bob writes no more in the thread that is shown, and takes a name in another one, which
        /// Ann leaves before she is told.
        @Test func aNameOfALostThreadIsReadAgain() async throws {
            let other = try #require(try store.executeBlocking(.openThread(name: "Cats", by: bob)).thread)
            try execute(.joinThread(thread: other, by: ann))
            try execute(.setRole(user: ann, thread: thread, role: .owner, by: bob))
            try execute(.postMessage(thread: thread, body: "hello", by: bob))
            let client = try neighbours.client(ann)
            let start = try store.resumeToken(after: store.head.position)
            try client.copy.begin(at: start)
            func read() throws {
                _ = try client.copy.keep(
                    store.reader(as: .user(ann)).timeline(thread), of: .messages(thread), in: thread,
                    PageRequest.latest(),
                    asOf: store.head.position)
            }
            let name = { try client.copy.posts(in: .messages(self.thread)).posts.first?.author.username }
            try read()
            try execute(.leaveThread(thread: thread, by: bob))
            try execute(.changeUsername(username: "Rob", by: bob))
            try execute(.leaveThread(thread: other, by: ann))
            var updates: [FollowedUpdate] = []
            let events = store.events(after: start, upTo: store.head.position, matching: EventFilter(as: .user(ann)))
            for try await update in events.updates { updates.append(update) }
            _ = try client.copy.apply(updates)
            #expect(try name() == "Bob")
            #expect(try client.copy.stalePosts()?.list == .messages(thread))
            try read()
            #expect(try name() == "Rob")
            client.close()
        }

        /// Cat, with whom Ann never shared a thread, has left the one that Ann reads as an operator: there she
        /// keeps the name that she had, whatever Ann is told in another one.
        @Test func aNameOfSomebodyNeverMetIsReadAgain() async throws {
            let cat = try #require(try store.executeBlocking(.registerUser(username: "Cat")).user)
            let threads = try ["Cats", "Dogs"].map { name in
                try #require(try store.executeBlocking(.openThread(name: name, by: cat)).thread)
            }
            try execute(.grantOperator(user: ann))
            for thread in threads { try execute(.postMessage(thread: thread, body: "hello", by: cat)) }
            try execute(.joinThread(thread: threads[0], by: bob))
            try execute(.setRole(user: bob, thread: threads[0], role: .owner, by: cat))
            try execute(.leaveThread(thread: threads[0], by: cat))
            let client = try neighbours.client(ann)
            let start = try store.resumeToken(after: store.head.position)
            try client.copy.begin(at: start)
            func read() throws {
                for thread in threads {
                    _ = try client.copy.keep(
                        store.reader(as: .user(ann)).timeline(thread), of: .messages(thread), in: thread,
                        PageRequest.latest(), asOf: store.head.position)
                }
            }
            let names = {
                try threads.map { try client.copy.posts(in: .messages($0)).posts.first?.author.username }
            }
            try read()
            try execute(.changeUsername(username: "Kit", by: cat))
            var updates: [FollowedUpdate] = []
            let events = store.events(after: start, upTo: store.head.position, matching: EventFilter(as: .user(ann)))
            for try await update in events.updates { updates.append(update) }
            #expect(updates.count == 1)
            _ = try client.copy.apply(updates)
            #expect(try client.copy.stalePosts() != nil)
            try read()
            #expect(try names() == ["Cat", "Kit"])
            client.close()
        }

        /// Ann's views after random acts of her and her neighbours, while the connection is cut and
        /// comes back.
        @Test(.serialized, arguments: Seeds.seeds(Repetitions.few(8, of: 400), from: Repetitions.seed))
        func liveViewsAgreeWithTheServer(_ seed: UInt64) async throws {
            var random = SeededRandom(seed: seed)
            let cat = try #require(try store.executeBlocking(.registerUser(username: "Cat")).user)
            let other = try #require(try store.executeBlocking(.openThread(name: "Cats", by: cat)).thread)
            let (people, threads) = ([ann, bob, cat], [thread, other])
            for user in people { for thread in threads { try? execute(.joinThread(thread: thread, by: user)) } }
            for user in people {
                for thread in threads { try execute(.postMessage(thread: thread, body: "hello", by: user)) }
            }
            let client = try neighbours.client(ann)
            let running = Task { await client.run() }
            // What is shown before the first connection is not kept.
            try await until { client.connection == .connected }
            let timelines = threads.map { client.liveTimeline(of: $0) }
            let (user, inbox) = (client.liveUser(), client.liveInbox())
            var following: [Task<Void, Never>] = []
            // A view ends when its thread is lost.
            func follow() {
                following.forEach { $0.cancel() }
                following = timelines.map { timeline in Task { await timeline.follow() } }
                following += [Task { await user.follow() }, Task { await inbox.follow() }]
            }
            follow()
            for number in 0..<40 {
                let (person, place) = (
                    people[Int.random(in: 0..<3, using: &random)], threads[Int.random(in: 0..<2, using: &random)]
                )
                switch Int.random(in: 0..<10, using: &random) {
                case 0, 1: try? execute(.leaveThread(thread: place, by: person))
                case 2, 3: try? execute(.joinThread(thread: place, by: person))
                case 4: try? execute(.changeUsername(username: "Name \(number)", by: person))
                case 5: try? execute(random.oneIn(2) ? .block(user: bob, by: ann) : .unblock(user: bob, by: ann))
                case 6: neighbours.server.goAway()
                case 7: neighbours.server.comeBack()
                case 8: try await Task.sleep(for: .milliseconds(Int.random(in: 1...40, using: &random)))
                default: try? execute(.postMessage(thread: place, body: "\(number)", by: person))
                }
            }
            neighbours.server.comeBack()
            client.connectNow()
            // The stream tells her of her own events, and so that it has told all before.
            try execute(.changeUsername(username: "The end", by: ann))
            try await until {
                try client.connection == .connected && client.copy.token?.position == self.store.head.position
            }
            try await until { try client.copy.stalePosts() == nil && client.copy.staleAnswers.isEmpty }
            let viewer = Viewer.user(ann)
            for (timeline, thread) in zip(timelines, threads) {
                let expected = try? store.reader(as: viewer).timeline(thread).entries
                if timeline.messages.isEmpty, expected?.isEmpty == false { follow() }
                for _ in 0..<2_000 where timeline.messages != expected ?? [] {
                    try await Task.sleep(for: .milliseconds(5))
                }
                #expect(timeline.messages == expected ?? [], "\(timeline.state)")
            }
            try await until {
                try user.user?.threads.count == self.store.reader(as: viewer).user(self.ann).threads.count
            }
            following.forEach { $0.cancel() }
            running.cancel()
            await running.value
            client.close()
        }
    }
#endif
