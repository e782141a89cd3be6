#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import TestSupport
    import Testing

    @testable import ChatClient

    /// Own posts that are edited and taken back without a network, in every state of what waits
    /// about them.
    @Suite struct EditingTests {
        let neighbours: Neighbours
        let client: ChatClient
        let (message, shown): (MessageID, Post)

        /// Ann has a message in the journal, whose text is the second one.
        init() throws {
            neighbours = try Neighbours()
            client = try neighbours.client(neighbours.ann)
            message = try #require(
                neighbours.store.executeBlocking(
                    .postMessage(thread: neighbours.thread, body: "one", by: neighbours.ann)
                ).message)
            try neighbours.store.executeBlocking(.edit(.message(message), body: "two", by: neighbours.ann))
            shown = try #require(
                try neighbours.store.reader(as: .user(neighbours.ann)).timeline(neighbours.thread).entries.last)
            neighbours.server.goAway()
        }

        private var items: [OutboxItem] { get throws { try client.outbox() } }

        /// Adds a message to the outbox, and returns it as it is shown.
        private func waiting(_ body: String) throws -> Post {
            let item = try client.enqueue(
                CommandRequest(
                    .postMessage(thread: neighbours.thread, body: body, mentions: [neighbours.bob], by: neighbours.ann))
            )
            let id = try #require(item.createdPost)
            return try #require(try client.copy.post(id))
        }

        private func enqueue(_ command: ChatCommand) throws -> OutboxItem {
            try client.enqueue(CommandRequest(command))
        }

        private func reject(_ item: OutboxItem, _ code: Rejection.Code) throws {
            _ = try client.copy.nextBatch(limit: 1, byteLimit: 1 << 20)
            _ = try client.copy.end([(item.id, .failure(Rejection(code, "Rejected.")))])
        }

        @Test func aPostThatWaitsGetsTheText() async throws {
            try await client.edit(waiting("one"), body: "two", mentions: [])
            let item = try #require(try items.first)
            #expect(try items.count == 1)
            #expect(item.text == "two" && item.request.command.mentions.isEmpty && item.kind == "postMessage")
        }

        @Test func ofSeveralTextsThatWaitTheLastOneIsReplaced() async throws {
            let post = try waiting("one")
            _ = try enqueue(.edit(post.id, body: "two", by: neighbours.ann))
            try await client.edit(post, body: "three", mentions: [])
            #expect(try items.map(\.text) == ["one", "three"])
        }

        @Test func aRejectedPostIsSentWithTheText() async throws {
            let post = try waiting("one")
            _ = try enqueue(.edit(post.id, body: "two", by: neighbours.ann))
            try reject(try items[0], .threadLocked)
            #expect(try items.allSatisfy { $0.state != .queued })
            try await client.edit(post, body: "three", mentions: [])
            #expect(try items.map(\.text) == ["three", "three"])
            #expect(try items.allSatisfy { $0.state == .queued })
        }

        @Test func aRejectedEditReplacesTheTextThatIsShown() async throws {
            try reject(
                try enqueue(.edit(shown.id, body: "mine", replaces: shown.position, by: neighbours.ann)), .edited)
            try await client.edit(shown, body: "mine again", mentions: [])
            let item = try #require(try items.first)
            #expect(try items.count == 1)
            #expect(item.text == "mine again" && item.state == .queued)
            #expect(item.request.command.replaces == shown.editPosition && shown.editPosition != nil)
        }

        /// The text that the new one replaces is not known yet.
        @Test func afterATextThatWasSentAnyIsReplaced() async throws {
            _ = try enqueue(.edit(shown.id, body: "three", replaces: shown.editPosition, by: neighbours.ann))
            _ = try client.copy.nextBatch(limit: 1, byteLimit: 1 << 20)
            try await client.edit(shown, body: "four", mentions: [])
            #expect(try items.map(\.text) == ["three", "four"])
            #expect(try items.last?.request.command.replaces == nil)
        }

        @Test func aTextOfTheJournalIsReplacedAsItIsShown() async throws {
            try await client.edit(shown, body: "three", mentions: [neighbours.bob])
            let command = try #require(try items.first).request.command
            #expect(command.replaces == shown.editPosition && command.mentions == [neighbours.bob])
        }

        @Test func aPostThatWaitsIsTakenBackWithWhatWaitsAboutIt() async throws {
            let (first, second) = (try waiting("one"), try waiting("two"))
            _ = try enqueue(.edit(first.id, body: "better", by: neighbours.ann))
            _ = try enqueue(.react(first.id, emoji: "\u{1F44D}", by: neighbours.ann))
            let reply = try enqueue(.reply(to: second.message, body: "a reply", by: neighbours.ann))
            try await client.retract(first)
            #expect(try items.map(\.text) == ["two", "a reply"])
            // What answers it is another text of the user, and stays.
            try await client.retract(second)
            #expect(try items.map(\.id) == [reply.id])
            #expect(try items.first?.state != .queued)
        }

        @Test func aPostThatWasSentIsRetracted() async throws {
            let post = try waiting("one")
            _ = try client.copy.nextBatch(limit: 1, byteLimit: 1 << 20)
            try await client.retract(post)
            try await client.retract(shown)
            #expect(try items.map(\.kind) == ["postMessage", "retract", "retract"])
        }

        /// A neighbour can give a reply the id of a message.
        @Test func aReplyWithTheIDOfAMessageIsAnotherPost() async throws {
            let (store, copy, thread) = (neighbours.store, client.copy, neighbours.thread)
            let reader = store.reader(as: .user(neighbours.ann))
            let head = store.head.position
            try copy.begin(at: store.resumeToken(after: head))
            _ = try copy.keep(
                reader.timeline(thread), of: .messages(thread), in: thread, PageRequest.latest(), asOf: head)
            _ = try copy.keep(
                reader.replies(to: message), of: .replies(message), in: thread, PageRequest.latest(), asOf: head)
            let edit = try enqueue(.edit(shown.id, body: "three", by: neighbours.ann))
            let reply = ReplyID(bits: message.bits)
            try store.executeBlocking(.reply(id: reply, to: message, body: "reply", by: neighbours.bob))
            func expectBoth(_ location: SourceLocation = #_sourceLocation) throws {
                #expect(try copy.posts(in: .messages(thread)).posts.map(\.body) == ["three"], sourceLocation: location)
                #expect(try copy.posts(in: .replies(message)).posts.map(\.body) == ["reply"], sourceLocation: location)
                #expect(try copy.post(shown.id)?.body == "three", sourceLocation: location)
                #expect(try copy.post(.reply(reply))?.body == "reply", sourceLocation: location)
            }
            let filter = EventFilter(as: .user(neighbours.ann))
            for try await update in store.events(after: head, upTo: store.head.position, matching: filter).updates {
                _ = try copy.apply([update])
            }
            try expectBoth()
            _ = try copy.keep(
                reader.replies(to: message), of: .replies(message), in: thread, PageRequest.latest(),
                asOf: store.head.position)
            try expectBoth()
            #expect(try copy.outbox(about: shown.id).map(\.id) == [edit.id])
        }
    }
#endif
