#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import LocalStorage
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// What went wrong once, or would if a line were lost.
    @MainActor @Suite struct ClientFaultTests {
        let neighbours: Neighbours
        let (store, ann, bob, thread): (ChatStore, UserID, UserID, ThreadID)

        init() throws {
            neighbours = try Neighbours()
            (store, ann, bob, thread) = (neighbours.store, neighbours.ann, neighbours.bob, neighbours.thread)
        }

        private func post(_ body: String, by user: UserID) throws -> MessageID {
            try #require(try store.executeBlocking(.postMessage(thread: thread, body: body, by: user)).message)
        }

        private func command(_ body: String) -> CommandRequest {
            CommandRequest(.postMessage(thread: thread, body: body, by: ann))
        }

        @Test func queriesNeedNoStream() async throws {
            _ = try post("hello", by: bob)
            let client = try neighbours.client(ann)
            #expect(try await client.directory().isEmpty)
            #expect(try await client.thread(thread).id == thread)
            #expect(try await client.timeline(thread).map(\.body) == ["hello"])
            #expect(try await client.me().id == ann)
            client.close()
        }

        @Test func namesFromALostThreadAloneAreForgotten() async throws {
            _ = try post("hello", by: bob)
            let client = try neighbours.client(ann)
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            _ = try await client.timeline(thread)
            #expect(try client.copy.name(of: bob, in: .messages(thread))?.username == "Bob")
            _ = try store.executeBlocking(.leaveThread(thread: thread, by: ann))
            try await until { try client.copy.knownRanges(of: .messages(thread)).isEmpty }
            #expect(try client.copy.name(of: bob, in: .messages(thread)) == nil)
            for (name, bytes) in try neighbours.directory.contents() {
                let isThere = String(decoding: bytes, as: UTF8.self).contains("Bob")
                #expect(!isThere, "the name is in \(name)")
            }
            running.cancel()
            await running.value
            client.close()
        }

        /// The copy keeps no page before the client has connected once, and what the view has shown
        /// cannot be read again.
        @Test func whatIsShownStaysIfItCannotBeReadAgain() async throws {
            _ = try post("first", by: bob)
            let isLost = Lock(false)
            let client = try neighbours.client(ann, answers: { _, answer in isLost.withLock { $0 } ? nil : answer })
            let timeline = client.liveTimeline(of: thread)
            let following = Task { await timeline.follow() }
            try await until { timeline.messages.map(\.body) == ["first"] }
            isLost.withLock { $0 = true }
            try client.enqueue(command("mine"))
            try await until { timeline.messages.map(\.body) == ["first", "mine"] }
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            try await Task.sleep(for: .milliseconds(50))
            #expect(timeline.messages.map(\.body) == ["first", "mine"])
            isLost.withLock { $0 = false }
            _ = try post("second", by: bob)
            try await until { timeline.messages.count == 3 && timeline.messages.allSatisfy { !$0.isPending } }
            #expect(Set(timeline.messages.map(\.body)) == ["first", "second", "mine"])
            following.cancel()
            running.cancel()
            await running.value
            client.close()
        }

        /// One bad list, or one bad answer, is an error of its view, and not of the rest.
        @Test func aListThatCannotBeReadStopsNoOther() async throws {
            let other = try #require(try store.executeBlocking(.openThread(name: "Cats", by: ann)).thread)
            _ = try store.executeBlocking(.postMessage(thread: other, body: "meow", by: ann))
            _ = try post("first", by: bob)
            let isBad = Lock(false)
            let bad = "/threads/\(thread)/timeline"
            let client = try neighbours.client(
                ann,
                answers: { request, answer in
                    guard request.target.contains(bad), isBad.withLock({ $0 }) else { return answer }
                    return ClientAnswer(status: 200, headers: answer.headers, body: Data("{}".utf8))
                })
            let (dogs, cats) = (client.liveTimeline(of: thread), client.liveTimeline(of: other))
            let views = [dogs, cats].map { view in Task { await view.follow() } }
            try await until { dogs.messages.count == 1 && cats.messages.count == 1 }
            isBad.withLock { $0 = true }
            let running = Task { await client.run() }
            try await until { if case .failed(_, let last?) = dogs.state { last.count == 1 } else { false } }
            try await until { try !client.copy.knownRanges(of: .messages(other)).isEmpty }
            _ = try store.executeBlocking(.postMessage(thread: other, body: "purr", by: ann))
            try await until { cats.messages.map(\.body) == ["meow", "purr"] }
            #expect(try await client.threads().count == 2)
            views.forEach { $0.cancel() }
            running.cancel()
            await running.value
            client.close()
        }

        /// A connection can last for days: what was given up in it is read again after a pause.
        @Test(.timeLimit(.minutes(1))) func whatWasGivenUpIsReadAgainInTheSameConnection() async throws {
            let message = try post("first", by: bob)
            let isBad = Lock(false)
            let badCount = Lock(0)
            var environment = SyncEnvironment.quick
            environment.sleep = { duration in
                // A cancelled sleep is the end.
                try? await Task.sleep(for: min(duration, .milliseconds(20)))
            }
            let client = try neighbours.client(
                ann, environment: environment,
                answers: { request, answer in
                    guard request.target.contains("/timeline"), isBad.withLock({ $0 }) else { return answer }
                    badCount.withLock { $0 += 1 }
                    return ClientAnswer(status: 500, body: Data(#"{"code":"storage","detail":"A disk is full."}"#.utf8))
                })
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            _ = try await client.timeline(thread)
            try await until { try !client.copy.knownRanges(of: .messages(thread)).isEmpty }
            isBad.withLock { $0 = true }
            _ = try store.executeBlocking(.react(.message(message), emoji: "🎉", by: bob))
            try await until { client.engine.givenUp.isEmpty == false }
            isBad.withLock { $0 = false }
            try await until { try client.copy.post(.message(message))?.reactions.map(\.emoji) == ["🎉"] }
            #expect(try client.copy.stalePosts() == nil && badCount.withLock { $0 } >= 3)
            running.cancel()
            await running.value
            client.close()
        }

        @Test func aViewTriesAgainAfterAnErrorThatPasses() async throws {
            _ = try post("first", by: bob)
            let count = Lock(0)
            let client = try neighbours.client(
                ann,
                answers: { request, answer in
                    guard request.target.contains("/timeline") else { return answer }
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    return number < 3
                        ? ClientAnswer(
                            status: number == 1 ? 500 : 429, body: Data(#"{"code":"busy","detail":"Later."}"#.utf8))
                        : answer
                })
            let timeline = client.liveTimeline(of: thread)
            let following = Task { await timeline.follow() }
            try await until { timeline.messages.map(\.body) == ["first"] }
            following.cancel()
            client.close()
        }

        /// What waits in an open copy would be lost.
        @Test func anOpenCopyIsNotRemoved() throws {
            let session = ClientSession(
                server: URL(string: "https://chat.example")!, user: UserSummary(id: ann),
                token: SessionToken(rawValue: "secret"))
            let client = try ChatClient(session, directory: neighbours.directory.path)
            try client.enqueue(command("mine"))
            #expect(throws: ClientError.storage(.held, file: client.copy.path)) {
                try ChatClient.removeCopy(of: session, directory: neighbours.directory.path)
            }
            #expect(try client.pendingCount == 1)
            client.close()
            try ChatClient.removeCopy(of: session, directory: neighbours.directory.path)
            #expect(try neighbours.directory.contents().isEmpty)
        }

        @Test func aNewCopyHasTheUsersOwnName() throws {
            let session = ClientSession(
                server: try #require(URL(string: "https://chat.example")), user: UserSummary(id: ann, username: "Ann"),
                token: SessionToken(rawValue: "secret"))
            let client = try ChatClient(session, directory: neighbours.directory.path)
            let item = try client.enqueue(command("mine"))
            #expect(try client.copy.post(try #require(item.createdPost))?.author.username == "Ann")
            client.close()
        }

        /// A copy is opened while another program removes it: the lock of the removed file would be
        /// no lock.
        @Test func theLockOfARemovedFileIsNone() {
            let path = neighbours.directory.file("lock")
            #expect(PrivateFile.create(path, []) == .created)
            let removed = PrivateFile.lock(path) {
                PrivateFile.remove(path)
                #expect(PrivateFile.create(path, []) == .created)
            }
            #expect(removed == nil)
            let lock = PrivateFile.lock(path)
            #expect(lock != nil && PrivateFile.lock(path) == nil)
        }

        @Test func aSessionGoesToItsServerOnly() async throws {
            let server = try HostileServer("HTTP/1.1 204 No Content\r\n\r\n")
            let accounts = try ServerAccounts(#require(URL(string: server.url.description + "/")))
            let session = { (address: String) in
                ClientSession(
                    server: try #require(URL(string: address)), user: UserSummary(id: self.ann),
                    token: SessionToken(rawValue: "secret"))
            }
            await #expect(throws: ClientError.invalidAddress("The session is that of another server.")) {
                try await accounts.signOut(try session("https://chat.example"))
            }
            #expect(server.connectionCount == 0)
            try await accounts.signOut(try session(server.url.description))
            #expect(server.connectionCount == 1)
        }

        @Test func everyAddressHasAFileNameOfItsOwn() throws {
            let addresses = [
                "https://a.example/b/c", "https://a.example/b-c", "https://a.example/b", "https://a.example:8/b",
                "https://A.example/b",
            ]
            let names = try addresses.map {
                try ServerAddress(#require(URL(string: $0)), allowsPlainText: false).fileName
            }
            #expect(Set(names).count == addresses.count)
            #expect(names.allSatisfy { !$0.contains("/") })
        }

        @Test func whatIsWrittenInAThreadThatWasNeverReadIsShown() async throws {
            neighbours.server.goAway()
            let client = try neighbours.client(ann)
            let running = Task { await client.run() }
            let timeline = client.liveTimeline(of: thread)
            let following = Task { await timeline.follow() }
            try await Task.sleep(for: .milliseconds(50))
            #expect(timeline.state.value == nil)
            try client.enqueue(command("mine"))
            try await until { timeline.messages.map(\.body) == ["mine"] }
            following.cancel()
            running.cancel()
            await running.value
            client.close()
        }

        @Test func aNewNameOutdatesTheMembers() async throws {
            let client = try neighbours.client(ann)
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            #expect(try await client.members(of: thread).map(\.user.username).contains("Bob"))
            _ = try store.executeBlocking(.changeUsername(username: "Robert", by: bob))
            try await until {
                try client.copy.name(of: bob, in: .messages(thread))?.username != "Bob"
                    && client.copy.token?.position == store.head.position
            }
            #expect(try await client.members(of: thread).map(\.user.username).contains("Robert"))
            running.cancel()
            await running.value
            client.close()
        }

        @Test func aNameIsReadAgainWhenItsUserReturns() async throws {
            _ = try post("hello", by: ann)
            let client = try neighbours.client(bob)
            let start = try store.resumeToken(after: store.head.position)
            try client.copy.begin(at: start)
            _ = try client.copy.keep(
                store.reader(as: .user(bob)).timeline(thread), of: .messages(thread), in: thread, PageRequest.latest(),
                asOf: start.position)
            for command: ChatCommand in [
                .leaveThread(thread: thread, by: ann), .changeUsername(username: "Anna", by: ann),
                .joinThread(thread: thread, by: ann),
            ] { _ = try store.executeBlocking(command) }
            var updates: [FollowedUpdate] = []
            let events = store.events(after: start, upTo: store.head.position, matching: EventFilter(as: .user(bob)))
            for try await update in events.updates { updates.append(update) }
            let changes = try client.copy.apply(updates)
            #expect(try client.copy.stalePosts() != nil)
            // Without it the engine does not look.
            #expect(changes.isOutdated)
            client.close()
        }

        /// A server that reads can be behind the one that was asked before.
        @Test func anAnswerFromBeforeWhatIsKnownIsNotKept() async throws {
            let message = try post("first", by: bob)
            let held = Lock<ClientAnswer?>(nil)
            let answers = { @Sendable (request: ClientRequest, answer: ClientAnswer) -> ClientAnswer in
                guard request.target.contains("/timeline") else { return answer }
                return held.withLock { held in
                    held = held ?? answer
                    return held ?? answer
                }
            }
            let client = try neighbours.client(ann, answers: answers)
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            _ = try await client.timeline(thread)
            _ = try store.executeBlocking(.edit(.message(message), body: "second", by: bob))
            try await until { try client.copy.post(.message(message))?.body == "second" }
            await #expect(throws: ClientError.self) {
                try await client.engine.read(.messages(thread), in: thread, PageRequest.latest())
            }
            #expect(try client.copy.post(.message(message))?.body == "second")
            running.cancel()
            await running.value
            client.close()
        }

        @Test func anEventOfALaterVersionStopsNothing() async throws {
            _ = try post("first", by: bob)
            let client = try neighbours.client(
                ann,
                events: { event in
                    var event = event
                    if event.data?.contains("a new kind") == true {
                        event.data = event.data?.replacing("\"messagePosted\"", with: "\"messageWhispered\"")
                    }
                    return event
                })
            let running = Task { await client.run() }
            let timeline = client.liveTimeline(of: thread)
            let following = Task { await timeline.follow() }
            try await until { timeline.messages.map(\.body) == ["first"] }
            _ = try post("a new kind", by: bob)
            _ = try post("last", by: bob)
            // What was not understood is read, and so is what follows.
            try await until { timeline.messages.map(\.body) == ["first", "a new kind", "last"] }
            #expect(client.connection == .connected)
            following.cancel()
            running.cancel()
            await running.value
            client.close()
        }

        @Test func aServerThatIsBehindForAMomentIsAskedAgain() async throws {
            let refusals = Lock(2)
            let refusal = ClientAnswer(
                status: 400,
                body: Data(
                    #"{"status":400,"code":"invalidToken","detail":"The resume token is not of this journal."}"#.utf8))
            let client = try neighbours.client(
                ann,
                opening: {
                    refusals.withLock { left in
                        left -= 1
                        return left >= 0 ? refusal : nil
                    }
                })
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            running.cancel()
            await running.value
            client.close()
        }

        @Test func aReplacementKeepsTheID() async throws {
            let client = try neighbours.client(ann)
            let item = try client.enqueue(command("tpyo"))
            try client.replace(item.id, by: command("typo"))
            let replaced = try #require(try client.outbox().first)
            #expect(replaced.request.command.createdPost == item.request.command.createdPost)
            #expect(replaced.request.command.text == "typo")
            let other = CommandRequest(.postMessage(thread: thread, body: "of another user", by: bob))
            #expect(throws: (any Error).self) { try client.replace(item.id, by: other) }
            client.close()
        }

        @Test func manyCommandsNeedFewStatements() async throws {
            let client = try neighbours.client(ann)
            for number in 0..<60 {
                let item = try client.enqueue(command("\(number)"))
                if number.isMultiple(of: 2) { try client.withdraw(item.id) }
                _ = try client.copy.posts(in: .messages(thread))
            }
            let count = client.copy.file.withLock { $0.statementCount }
            #expect(count < 60)
            client.close()
        }

        @Test func anAnswerEndsItsCommandsInOneTransaction() async throws {
            let client = try neighbours.client(ann)
            for number in 0..<100 { try client.enqueue(command("\(number)")) }
            let changes = client.engine.changes.elements()
            #expect(try await client.engine.sendBatch())
            client.close()
            var confirmed: [Int] = []
            for await change in changes {
                confirmed.append(change.outbox.count { if case .confirmed = $0 { true } else { false } })
            }
            #expect(confirmed == [0, 100])
        }

        @Test func aTaskThatIsTooSlowIsToldSo() async throws {
            let client = try neighbours.client(ann)
            let item = try client.enqueue(command("hello"))
            let changes = client.outboxChanges
            for number in 0..<1_100 {
                var change = CopyChanges()
                change.outbox = [.sending(item)]
                client.engine.announce(change)
                if number.isMultiple(of: 50) { try await Task.sleep(for: .milliseconds(2)) }
            }
            var count = 0
            for await _ in changes {
                count += 1
                // Without a bound there would be all of them, and no end.
                try #require(count <= 1_000)
            }
            #expect(count == 1_000)
            client.close()
        }

        @Test func aSecondRunReturns() async throws {
            let client = try neighbours.client(ann)
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            await client.run()
            #expect(client.connection == .connected)
            running.cancel()
            await running.value
            #expect(client.connection == .idle)
            client.close()
        }

        /// The command stays in the outbox after the deadline, and is sent.
        @Test func aCallReturnsAtItsDeadline() async throws {
            let client = try neighbours.client(ann)
            let begin = ContinuousClock.now
            await #expect(throws: ClientError.deadlinePassed) {
                try await client.execute(command("late"), deadline: .now + .milliseconds(50))
            }
            #expect(ContinuousClock.now - begin >= .milliseconds(50))
            await #expect(throws: ClientError.deadlinePassed) {
                try await client.execute(command("past").command, deadline: begin)
            }
            #expect(try client.pendingCount == 2)
            let waiting = Task { try await client.execute(command("cancelled"), deadline: .now + .seconds(600)) }
            try await until { try client.pendingCount == 3 }
            waiting.cancel()
            await #expect(throws: ClientError.cancelled) { try await waiting.value }
            let running = Task { await client.run() }
            let receipt = try await client.execute(command("in time"), deadline: .now + .seconds(600))
            #expect(receipt.message != nil)
            try await until { try client.pendingCount == 0 }
            #expect(
                try store.reader(as: .host).timeline(thread).map(\.body) == ["late", "past", "cancelled", "in time"])
            running.cancel()
            await running.value
            client.close()
        }

        @Test func aFileThatCannotBeUsedStopsTheClient() async throws {
            let client = try neighbours.client(ann)
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            client.copy.close()
            _ = try post("hello", by: bob)
            await running.value
            #expect(client.connection == .stopped(.storage(.closed, file: client.copy.path)))
        }

        @Test func aMissingDirectoryIsNotAnotherProgram() {
            let path = neighbours.directory.file("none/copy")
            #expect(throws: ClientError.storage(.notWritable, file: path + ".lock")) {
                _ = try LocalCopy(
                    path: path, server: "https://chat.example", user: ann)
            }
        }

        @Test func whatTheCopyHasNoRoomForIsReadAll() async throws {
            for number in 0..<1_300 { _ = try post("\(number)", by: bob) }
            let client = try neighbours.client(ann, postLimit: 1_000)
            let running = Task { await client.run() }
            let timeline = client.liveTimeline(of: thread, limit: 200)
            let following = Task { await timeline.follow() }
            try await until { timeline.messages.count == 200 }
            while timeline.hasEarlier { try await timeline.loadEarlier() }
            #expect(timeline.messages.map(\.body) == (0..<1_300).map { "\($0)" })
            let kept = try #require(
                try client.copy.file.withLock { try $0.run("SELECT count(*) FROM posts").first?.first })
            #expect(kept != .integer(1_300))
            following.cancel()
            running.cancel()
            await running.value
            client.close()
        }
    }
#endif
