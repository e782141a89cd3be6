#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// Markers and reactions that wait on one device of a user, who does the opposite on another.
    @MainActor @Suite(.timeLimit(.minutes(1))) struct SeenTests {
        let neighbours: Neighbours
        let (store, ann, bob, thread): (ChatStore, UserID, UserID, ThreadID)
        let posts: [PostID]

        /// Bob has written five messages, which Ann has not read.
        init() throws {
            neighbours = try Neighbours()
            (store, ann, bob, thread) = (neighbours.store, neighbours.ann, neighbours.bob, neighbours.thread)
            posts = try (1...5).map { [store, bob, thread] number in
                .message(
                    try #require(
                        try store.executeBlocking(.postMessage(thread: thread, body: "\(number)", by: bob)).message))
            }
        }

        /// Lets a client follow the server until it has nothing to send any more.
        private func online(_ client: ChatClient, _ body: () async throws -> Void = {}) async throws {
            neighbours.server.comeBack()
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            try await body()
            try await until { try client.pendingCount == 0 }
            try await until { try client.copy.token?.position == store.head.position }
            running.cancel()
            await running.value
            neighbours.server.goAway()
        }

        private func reads(_ client: ChatClient) async throws {
            _ = try await client.me()
            _ = try await client.timeline(thread)
        }

        private func send(_ commands: ChatCommand..., by client: ChatClient) throws {
            for command in commands { try client.enqueue(CommandRequest(command)) }
        }

        private func elsewhere(_ commands: ChatCommand...) throws {
            for command in commands { try store.executeBlocking(command) }
        }

        private var reactions: [String] {
            get throws { try store.reader(as: .user(ann)).timeline(thread).entries[0].reactions.map(\.emoji) }
        }

        private var marker: Position {
            get throws {
                try #require(try store.reader(as: .user(ann)).user(ann).threads.first { $0.id == thread }).readUpTo
            }
        }

        private func react(_ emoji: String = "🎉") -> ChatCommand { .react(posts[0], emoji: emoji, by: ann) }
        private func unreact(_ emoji: String = "🎉") -> ChatCommand { .unreact(posts[0], emoji: emoji, by: ann) }
        private func read(_ position: Position) -> ChatCommand { .markRead(thread: thread, upTo: position, by: ann) }
        private func unread(_ position: Position) -> ChatCommand {
            .markUnread(thread: thread, from: position, by: ann)
        }

        @Test func whatTheOtherDeviceHasUndoneStaysUndone() async throws {
            let last = store.head.position
            let client = try neighbours.client(ann)
            try await online(client) { try await reads(client) }
            try send(react(), read(last), by: client)
            try elsewhere(react(), unreact(), read(last), unread(last - 2))
            try await online(client)
            #expect(try reactions.isEmpty && marker == last - 3)
            // And the other way round.
            try send(unreact(), unread(last - 3), by: client)
            try elsewhere(react(), read(last))
            try await online(client)
            #expect(try reactions == ["🎉"] && marker == last)
            client.close()
        }

        /// What has happened before the user acted, and was known, is undone.
        @Test func whatWasKnownIsUndone() async throws {
            let last = store.head.position
            try elsewhere(react(), read(last))
            let client = try neighbours.client(ann)
            try await online(client) { try await reads(client) }
            try send(unreact(), unread(last - 1), by: client)
            try await online(client)
            #expect(try reactions.isEmpty && marker == last - 2)
            client.close()
        }

        /// Returns a client of Ann that does not get the answers to its first three requests of commands
        /// whose bit is set.
        private func client(losing lost: Int) throws -> ChatClient {
            let number = Lock(0)
            return try neighbours.client(
                ann,
                answers: { request, answer in
                    guard request.target == "/v1/commands" else { return answer }
                    return number.withLock { number in
                        number += 1
                        return lost >> (number - 1) & 1 == 1 && number <= 3 ? nil : answer
                    }
                })
        }

        /// The last of several acts holds, whichever answers are lost.
        @Test(arguments: 0..<8) func theLastActHolds(_ lost: Int) async throws {
            let last = store.head.position
            let client = try client(losing: lost)
            try await online(client) { try await reads(client) }
            try send(react(), unreact(), react(), read(last), unread(last - 1), read(last), by: client)
            try await online(client)
            #expect(try reactions == ["🎉"] && marker == last)
            try send(unreact(), react(), unreact(), unread(last - 3), by: client)
            try await online(client)
            #expect(try reactions.isEmpty && marker == last - 4)
            client.close()
        }

        /// What holds already has no effect and leaves no trace: its repetition does not undo what was sent
        /// after it.
        @Test(arguments: 0..<8) func whatHadNoEffectUndoesNothingLater(_ lost: Int) async throws {
            let client = try client(losing: lost)
            try await online(client) { try await reads(client) }
            let level = { [ann, thread] in ChatCommand.setNotifications(thread: thread, level: $0, by: ann) }
            try elsewhere(.setPostcode(postcode: "N1 9GU", by: ann), level(.mentions))
            try send(level(.mentions), .setPostcode(postcode: "N1 9GU", by: ann), by: client)
            try send(level(.all), .setPostcode(postcode: "EC1A 1BB", by: ann), by: client)
            try await online(client)
            let user = try store.reader(as: .user(ann)).user(ann)
            #expect(user.threads.first { $0.id == thread }?.notifications.level == .all)
            #expect(user.postcode?.description == "EC1A 1BB")
            client.close()
        }

        /// An act about what the receipt has just told, before the stream has.
        @Test func theReceiptIsKnownBeforeTheStream() async throws {
            let client = try neighbours.client(ann)
            try await online(client) { try await reads(client) }
            neighbours.server.comeBack()
            let token = try client.copy.token
            let place = try #require(OutboxPlace(of: react()).needs)
            _ = try client.copy.change { file, _ throws(ClientError) in try file.know(place, asOf: 1_000) }
            try send(unreact(), by: client)
            #expect(try client.outbox().map(\.request.command.seen) == [1_000])
            // Of another thing, only what the stream has told is known.
            try send(unread(1), by: client)
            #expect(try client.outbox().last?.request.command.seen == token?.position)
            client.close()
        }

        /// The answer was lost, and the repetition has no effect: it may have had one before.
        @Test(arguments: [false, true]) func whatARepetitionMayHaveDoneIsKnown(_ isSentAgain: Bool) async throws {
            let client = try neighbours.client(ann)
            try await online(client) { try await reads(client) }
            let (copy, head) = (client.copy, store.head.position)
            try send(react(), by: client)
            for _ in 0..<(isSentAgain ? 2 : 1) { _ = try copy.nextBatch(limit: 10, byteLimit: 1_000) }
            try send(unreact(), by: client)
            let first = try #require(try client.outbox().first)
            _ = try copy.end([(first.id, .success(Receipt()))], asOf: head + 9)
            try send(react(), unreact(), by: client)
            let known = head + (isSentAgain ? 9 : 0)
            #expect(try client.outbox().map(\.request.command.seen) == [known, known, known])
            client.close()
        }

        @Test func aPageThatIsNewerThanTheStreamIsKnown() async throws {
            let client = try neighbours.client(ann)
            try await online(client) { try await reads(client) }
            let (copy, list) = (client.copy, PostList.messages(thread))
            let page = Page(entries: try copy.posts(in: list).posts, older: nil, newer: .latest())
            _ = try copy.keep(page, of: list, in: thread, PageRequest.latest(), asOf: store.head.position + 5)
            try send(react(), read(3), by: client)
            let head = store.head.position
            #expect(try client.outbox().map(\.request.command.seen) == [head + 5, head])
            client.close()
        }

        // MARK: A marker up to a post that waits

        private func marksUpToPost(_ client: ChatClient, _ body: String, isReply: Bool = false) throws -> OutboxItem {
            let command: ChatCommand =
                if isReply, case .message(let message) = posts[0] {
                    .reply(to: message, body: body, by: ann)
                } else {
                    .postMessage(thread: thread, body: body, by: ann)
                }
            let post = try client.enqueue(CommandRequest(command))
            try send(read(.firstPending + Position(post.id)), by: client)
            return post
        }

        /// The post is the last one of the thread, and the marker reaches it.
        private func expectMarker(at post: OutboxItem) throws {
            let id = try #require(post.createdPost)
            let reader = store.reader(as: .user(ann))
            let position =
                switch id {
                case .message(let message): try reader.message(message).position
                case .reply(let reply): try reader.reply(reply).position
                }
            #expect(try marker == position)
        }

        @Test func aMarkerWaitsForItsPost() async throws {
            let client = try neighbours.client(ann)
            try await online(client) { try await reads(client) }
            let post = try marksUpToPost(client, "mine")
            #expect(try await client.me().threads.first?.unreadCount == 0)
            try elsewhere(.postMessage(thread: thread, body: "six", by: bob))
            try await online(client)
            try expectMarker(at: post)
            client.close()
        }

        @Test(arguments: [false, true]) func aMarkerThatWaitsForAPostKnowsWhatWasMarkedBefore(
            isReply: Bool
        ) async throws {
            let client = try neighbours.client(ann)
            try elsewhere(read(store.head.position))
            try await online(client) { try await reads(client) }
            try send(unread(3), by: client)
            let post = try marksUpToPost(client, "mine", isReply: isReply)
            try await online(client)
            try expectMarker(at: post)
            client.close()
        }

        @Test func aMarkerOfAPostThatIsRejectedReachesWhatIsBeforeIt() async throws {
            let last = store.head.position
            let client = try neighbours.client(ann)
            try await online(client) { try await reads(client) }
            _ = try marksUpToPost(client, "")
            try await online(client)
            #expect(try client.outbox().map(\.kind) == ["postMessage"])
            #expect(try marker == last)
            client.close()
        }

        /// What has come since the marker was written was not read with it.
        @Test func aMarkerWithoutItsPostReadsNothingLater() async throws {
            let last = store.head.position
            let client = try neighbours.client(ann)
            try await online(client) { try await reads(client) }
            let post = try marksUpToPost(client, "mine")
            let six = CommandRequest(.postMessage(thread: thread, body: "six", by: bob))
            let receipt = try store.executeBlocking([six])[0].get()
            let page = try store.reader(as: .user(ann)).timeline(thread)
            _ = try client.copy.keep(
                page, of: .messages(thread), in: thread, PageRequest.latest(), asOf: receipt.position)
            try client.withdraw(post.id)
            try await online(client)
            #expect(try marker == last)
            client.close()
        }

        @Test func aMarkerOfAPostThatIsWithdrawnReachesWhatIsBeforeIt() async throws {
            let last = store.head.position
            let client = try neighbours.client(ann)
            try await online(client) { try await reads(client) }
            try client.withdraw(try marksUpToPost(client, "mine").id)
            try await online(client)
            #expect(try marker == last && client.outbox().isEmpty)
            client.close()
        }

        /// A server of an earlier version does not know a field: nothing is lost until it does.
        @Test func aFieldThatTheServerDoesNotKnowWaits() async throws {
            let number = Lock(0)
            let detail = #"{"status":400,"code":"unknownField","detail":"react.seen: there is no such field","line":1}"#
            let client = try neighbours.client(
                ann,
                answers: { request, answer in
                    guard request.target == "/v1/commands" else { return answer }
                    return number.withLock { number in
                        number += 1
                        return number > 3 ? answer : ClientAnswer(status: 400, body: Data(detail.utf8))
                    }
                })
            try await online(client) { try await reads(client) }
            try send(react(), by: client)
            try await online(client)
            #expect(try client.outbox().isEmpty && reactions == ["🎉"])
            client.close()
        }

        /// The server has another history: what was known of the former one is known of none.
        @Test func aServerThatWasSetBackIsNotTakenAsKnown() throws {
            let client = try neighbours.client(ann)
            let head = store.head.position
            try client.copy.begin(at: store.resumeToken(after: head))
            try send(react(), by: client)
            #expect(try client.outbox().map(\.request.command.seen) == [head])
            try client.copy.forgetEverything()
            try client.copy.begin(at: store.resumeToken(after: head - 3))
            #expect(try client.outbox().map(\.request.command.seen) == [head - 3])
            client.close()
        }
    }
#endif
