#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import TestSupport
    import Testing

    @testable import ChatClient

    /// What an app learns of the commands of its outbox.
    @MainActor @Suite struct OutboxItemTests {
        let neighbours: Neighbours
        let (ann, thread): (UserID, ThreadID)

        init() throws {
            neighbours = try Neighbours()
            (ann, thread) = (neighbours.ann, neighbours.thread)
        }

        @Test func anItemSaysWhatItIsAbout() throws {
            let client = try neighbours.client(ann)
            let (message, reply) = (MessageID(bits: 7), ReplyID(bits: 8))
            let items = try [
                .postMessage(id: message, thread: thread, body: "Milk?", by: ann),
                .reply(id: reply, to: message, body: "Oat milk.", by: ann),
                .edit(.message(message), body: "Oat milk?", by: ann),
                .react(.reply(reply), emoji: "👍", by: ann),
                .setPostcode(postcode: "SW1A 1AA", by: ann),
            ].map { try client.enqueue(CommandRequest($0)) }
            #expect(items.map(\.kind) == ["postMessage", "reply", "edit", "react", "setPostcode"])
            #expect(items.map(\.post) == [.message(message), .reply(reply), .message(message), .reply(reply), nil])
            #expect(items.map(\.createdPost) == [.message(message), .reply(reply), nil, nil, nil])
            #expect(items.map(\.thread) == [thread, nil, nil, nil, nil])
            #expect(items.map(\.text) == ["Milk?", "Oat milk.", "Oat milk?", nil, nil])
            #expect(items.map { $0.request(withText: "Tea?") != nil } == [true, true, true, false, false])
            try client.replace(items[0].id, by: try #require(items[0].request(withText: "Tea?")))
            let replaced = try #require(try client.outbox().first)
            #expect(replaced.text == "Tea?" && replaced.createdPost == .message(message))
            client.close()
        }

        @Test(.timeLimit(.minutes(1))) func changesHaveTheItemAsItIsAfterwards() async throws {
            let client = try neighbours.client(ann)
            let changes = client.outboxChanges
            let message = MessageID(bits: 7)
            let first = try client.enqueue(
                CommandRequest(.postMessage(id: message, thread: thread, body: "", by: ann)))
            try client.enqueue(CommandRequest(.edit(.message(message), body: "depends on it", by: ann)))
            let running = Task { await client.run() }
            var seen: [OutboxChange] = []
            for await change in changes {
                seen.append(change)
                if case .rejected = change, seen.filter({ if case .rejected = $0 { true } else { false } }).count == 2 {
                    break
                }
            }
            for change in seen {
                switch change {
                case .queued(let item): #expect(!item.wasSent && item.state == .queued)
                case .sending(let item): #expect(item.wasSent && item.state == .queued)
                case .rejected(let item, let rejection):
                    #expect(item.state == .rejected(rejection) && rejection.code == .invalidBody)
                case .confirmed, .withdrawn: Issue.record("\(change)")
                }
            }
            // What was stopped with it is announced too.
            let again = client.outboxChanges
            try client.replace(first.id, by: try #require(first.request(withText: "not empty")))
            var queued: [String] = []
            for await change in again {
                if case .queued(let item) = change { queued.append(item.kind) }
                if queued.count == 2 { break }
            }
            #expect(queued == ["postMessage", "edit"])
            running.cancel()
            await running.value
            client.close()
        }

        /// Several threads write while the server confirms.
        @Test(.timeLimit(.minutes(1))) func changesOfAnItemComeInTheirOrder() async throws {
            let client = try neighbours.client(ann)
            let changes = client.outboxChanges
            let running = Task { await client.run() }
            let (ann, thread) = (ann, thread)
            let writers = (0..<4).map { writer in
                Task.detached {
                    for number in 0..<50 {
                        let command = ChatCommand.postMessage(thread: thread, body: "\(writer) \(number)", by: ann)
                        try client.enqueue(CommandRequest(command))
                        await Task.yield()
                    }
                }
            }
            var last: [OutboxItem.ID: Int] = [:]
            var ended = 0
            for await change in changes {
                switch change {
                case .queued(let item): #expect(last.updateValue(0, forKey: item.id) == nil)
                case .sending(let item): #expect(last.updateValue(1, forKey: item.id).map { $0 < 2 } == true)
                case .confirmed(let item, _): #expect(last.updateValue(2, forKey: item.id) == 1)
                case .rejected, .withdrawn: Issue.record("\(change)")
                }
                if case .confirmed = change { ended += 1 }
                if ended == 200 { break }
            }
            for writer in writers { try await writer.value }
            running.cancel()
            await running.value
            client.close()
        }

        /// A view that is slower than the changes reads the outbox again; a long one has its first
        /// commands.
        @Test(.timeLimit(.minutes(1))) func aViewFollowsALongOutbox() async throws {
            let client = try neighbours.client(ann)
            neighbours.server.goAway()
            let outbox = client.liveOutbox(limit: 20)
            var loads = 0
            outbox.onLoad = { loads += 1 }
            let following = Task { await outbox.follow() }
            try await until { loads == 1 }
            // The view is on the main actor, and sees none of them.
            for number in 1...1_100 {
                try client.enqueue(
                    CommandRequest(.postMessage(thread: thread, body: "\(number)", by: ann)))
            }
            try await until { loads == 2 }
            #expect(outbox.items.map(\.text) == (1...20).map { "\($0)" } && outbox.hasMore)
            neighbours.server.comeBack()
            let running = Task { await client.run() }
            try await until { outbox.items.isEmpty && !outbox.hasMore }
            #expect(try client.outbox().isEmpty)
            running.cancel()
            await running.value
            client.close()
            await following.value
            guard case .ended = outbox.state else { return _ = Issue.record("\(outbox.state)") }
        }

        @Test func everyFailureHasACodeAndASentence() {
            let failures: [any ChatFailure] =
                [
                    ClientError.rejected(.unknownUser), .unreachable("The network is down."), .signedOut, .notFound,
                    .tooManyAttempts(retryAfter: .seconds(3)), .answerInvalid("No JSON."), .answerTooLarge,
                    .storage(.full),
                    .invalidAddress("No host."), .cancelled,
                    .problem(Problem(503, .busy, "The server is busy.")),
                ] + [OutboxRefusal.unknownItem, .alreadySent, .anotherKind, .itemsPending(2)] as [any ChatFailure]
                + [StopReason.signedOut, .anotherHistory, .storage(.full)] as [any ChatFailure]
                + [ChatError.rejected(.unknownUser), .cancelled, .lagged(from: 3)] as [any ChatFailure]
            for failure in failures {
                #expect(failure.code.wholeMatch(of: /[a-z][A-Za-z]+/) != nil, "\(failure)")
                #expect(failure.sentence.count > 5 && failure.description == "\(failure.code): \(failure.sentence)")
            }
            #expect(
                ClientError.signedOut.code == "signedOut"
                    && ClientError.signedOut.sentence == "The session has ended. Sign in again.")
        }
    }
#endif
