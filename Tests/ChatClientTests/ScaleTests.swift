#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import LocalStorage
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// Work that does not grow with the size of a copy: counted in steps of SQLite, not in time.
    @Suite struct ScaleTests {
        let user = UserID(bits: 1)
        let thread = ThreadID(bits: 2)

        /// A copy with messages of a hundred authors.
        private func copy(of count: Int, in directory: TemporaryDirectory) throws -> LocalCopy {
            let copy = try LocalCopy(path: directory.file("\(count)"), server: "https://chat.example", user: user)
            let token = try ChatStore.inMemory().resumeToken(after: 0)
            try copy.begin(at: token)
            for first in stride(from: 1, to: count, by: 200) {
                let posts = (first..<first + 200).map { number in
                    Post(
                        id: .message(MessageID(bits: UInt128(number) + 1_000)), position: Position(number),
                        thread: thread,
                        message: MessageID(bits: UInt128(number) + 1_000),
                        author: UserSummary(id: UserID(bits: UInt128(number % 100) + 1), username: "Neighbour"),
                        body: "Message \(number)",
                        createdAt: .testStart, isRetracted: false, replyCount: 0, mentions: [])
                }
                let request = PageRequest.after(Position(first - 1), limit: 200)
                _ = try copy.keep(
                    Page(entries: posts, older: nil, newer: request), of: .messages(thread), in: thread, request,
                    asOf: Position(count))
            }
            return copy
        }

        /// The work of a function on a copy of 2,000 posts, and of one of 20,000.
        private func work(of body: (LocalCopy) throws -> Void) throws -> (small: Int, large: Int) {
            let directory = try TemporaryDirectory(isVolatile: true)
            let counts = try [2_000, 20_000].map { size in
                let copy = try copy(of: size, in: directory)
                defer { copy.close() }
                let before = copy.file.withLock { $0.workCount }
                try body(copy)
                return copy.file.withLock { $0.workCount } - before
            }
            return (counts[0], counts[1])
        }

        @Test func aScreenIsReadInTheSameWork() throws {
            let work = try work { copy in
                #expect(try copy.posts(in: .messages(thread), limit: 50).posts.count == 50)
                #expect(try copy.post(.message(MessageID(bits: 1_500)))?.body == "Message 500")
                let threads = try copy.answer(ThreadsQuery())
                #expect(threads == nil)
                #expect(try copy.pendingCount == 0)
                let stale = try copy.stalePosts()
                #expect(stale == nil)
            }
            #expect(0 < work.small && work.large < 2 * work.small)
        }

        @Test func aPageIsKeptInTheSameWork() throws {
            let work = try work { copy in
                let request = PageRequest.before(1_000, limit: 50)
                let page = try Page(
                    entries: copy.posts(in: .messages(thread), before: 1_000, limit: 50).posts,
                    older: .before(950, limit: 50),
                    newer: request)
                _ = try copy.keep(page, of: .messages(thread), in: thread, request, asOf: 20_000)
            }
            #expect(0 < work.small && work.large < 2 * work.small)
        }

        /// The latest post of an author, of whom there are more posts in a larger copy.
        @Test func aUserWhoJoinsIsNotSearchedFor() throws {
            let store = try ChatStore.inMemory()
            let other = UserID(bits: 7)
            for command: ChatCommand in [
                .registerUser(id: user, username: "Ann"), .openThread(id: thread, name: "Dogs", by: user),
                .registerUser(id: other, username: "Neighbour"), .joinThread(thread: thread, by: other),
            ] { try store.executeBlocking(command) }
            var joined: RecordedEvent?
            try store.forEachEvent(matching: EventFilter(as: .host)) { event, _ in joined = event }
            let event = try #require(joined)
            let work = try work { copy in
                _ = try copy.apply([
                    .event(FollowedEvent(recorded: event, resumeToken: try store.resumeToken(after: 0)))
                ])
                let stale = try copy.stalePosts()
                #expect(stale != nil)
            }
            #expect(0 < work.small && work.large < 2 * work.small)
        }

        @Test func aCommandIsSentAndEndedInTheSameWork() throws {
            let directory = try TemporaryDirectory(isVolatile: true)
            var counts: [Int] = []
            for waiting in [200, 2_000] {
                let copy = try LocalCopy(
                    path: directory.file("outbox \(waiting)"), server: "https://chat.example", user: user)
                defer { copy.close() }
                for number in 0..<waiting {
                    let message = MessageID(bits: UInt128(number) + 1_000)
                    _ = try copy.enqueue(
                        CommandRequest(.postMessage(id: message, thread: thread, body: "hello", by: user)),
                        now: .testStart)
                }
                let before = copy.file.withLock { $0.workCount }
                let batch = try copy.nextBatch(limit: 100, byteLimit: 1 << 20)
                #expect(batch.count == 100)
                _ = try copy.end(batch.map { ($0.id, .success(Receipt())) })
                counts.append(copy.file.withLock { $0.workCount } - before)
            }
            #expect(0 < counts[0] && counts[1] < 2 * counts[0])
        }
    }
#endif
