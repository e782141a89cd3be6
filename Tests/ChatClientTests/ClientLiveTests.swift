#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import LocalStorage
    import TestSupport
    import Testing

    @testable import ChatClient

    /// One view model, on a store and on a client of it.
    @MainActor @Suite struct ClientLiveTests {
        let (directory, store, server): (TemporaryDirectory, ChatStore, SimulatedServer)
        let (ann, bob, thread): (UserID, UserID, ThreadID)
        private let client: (UserID) throws -> ChatClient

        init() throws {
            let neighbours = try Neighbours()
            (directory, store, server) = (neighbours.directory, neighbours.store, neighbours.server)
            (ann, bob, thread) = (neighbours.ann, neighbours.bob, neighbours.thread)
            client = { try neighbours.client($0) }
        }

        @Test(arguments: [false, true]) func aViewModelDoesNotKnowWhatIsBehindIt(isClient: Bool) async throws {
            let client = try client(ann)
            let running = Task { if isClient { await client.run() } }
            let chat: any UserChat = isClient ? client : store.chat(of: ann)
            let (timeline, threads, user, inbox) = (
                chat.liveTimeline(of: thread), chat.liveThreads(), chat.liveUser(), chat.liveInbox()
            )
            let following = Task {
                await withDiscardingTaskGroup { group in
                    group.addTask { await timeline.follow() }
                    group.addTask { await threads.follow() }
                    group.addTask { await user.follow() }
                    group.addTask { await inbox.follow() }
                }
            }
            let receipt = try await chat.execute(.postMessage(thread: thread, body: "hello", by: ann))
            let message = try #require(receipt.message)
            try await until { timeline.messages.map(\.body) == ["hello"] }
            _ = try store.executeBlocking(.reply(to: message, body: "a reply", by: bob))
            _ = try store.executeBlocking(.postMessage(thread: thread, body: "and a message", by: bob))
            try await until {
                timeline.messages.map(\.body) == ["hello", "and a message"] && timeline.messages.first?.replyCount == 1
            }
            try await until {
                inbox.unread?.count == 1 && user.user?.threads.first?.unreadCount == 1
                    && threads.threads.first?.messageCount == 2
            }
            #expect(timeline.messages == (try store.reader(as: .user(ann)).timeline(thread).entries))
            #expect(inbox.entries == (try store.reader(as: .user(ann)).inbox(of: ann).entries))
            #expect(user.user == (try store.reader(as: .user(ann)).user(ann)))
            #expect(threads.threads == (try store.reader(as: .user(ann)).threads().entries))
            await #expect(throws: (any Error).self) {
                try await chat.execute(.postMessage(thread: thread, body: "", by: ann))
            }
            // What was removed or may not be read any more is not shown.
            _ = try store.executeBlocking(.retract(.message(message), by: ann))
            try await until { timeline.messages.first?.body == nil && timeline.messages.first?.isRetracted == true }
            _ = try store.executeBlocking(.leaveThread(thread: thread, by: ann))
            try await until { timeline.messages.isEmpty && threads.threads.isEmpty }
            following.cancel()
            running.cancel()
        }

        @Test func whatIsWrittenOfflineStandsLastAndMovesToItsPlace() async throws {
            _ = try store.executeBlocking(.postMessage(thread: thread, body: "first", by: bob))
            let client = try client(ann)
            var running = Task { await client.run() }
            let timeline = client.liveTimeline(of: thread)
            let following = Task { await timeline.follow() }
            try await until { timeline.messages.map(\.body) == ["first"] }
            // A page that was read before the first connection is not kept, and is read again.
            try await until { try !client.copy.knownRanges(of: .messages(thread)).isEmpty }
            running.cancel()
            await running.value
            server.goAway()
            let message = MessageID(bits: 7)
            try client.enqueue(
                CommandRequest(.postMessage(id: message, thread: thread, body: "offline", by: ann)))
            try await client.enqueue(.edit(.message(message), body: "offline, better", by: ann))
            try await until { timeline.messages.map(\.body) == ["first", "offline, better"] }
            #expect(timeline.messages.last?.isPending == true)
            _ = try store.executeBlocking(.postMessage(thread: thread, body: "meanwhile", by: bob))
            server.comeBack()
            running = Task { await client.run() }
            try await until {
                timeline.messages.map(\.body) == ["first", "meanwhile", "offline, better"]
                    && timeline.messages.last?.isPending == false
            }
            try await until { try timeline.messages == store.reader(as: .user(ann)).timeline(thread).entries }
            following.cancel()
            running.cancel()
            await running.value
            client.close()
            // The copy is read without a network, at the next start too.
            server.goAway()
            let again = try self.client(ann)
            #expect(try await again.timeline(thread).map(\.body) == ["first", "meanwhile", "offline, better"])
            again.close()
        }

        @Test func whatWasErasedIsGoneFromTheFile() async throws {
            let secret = "a very particular secret"
            _ = try store.executeBlocking(.postMessage(thread: thread, body: secret, by: bob))
            let client = try client(ann)
            let running = Task { await client.run() }
            _ = try await client.me()
            try await until { client.connection == .connected }
            _ = try await client.timeline(thread)
            #expect(try directory.contents().contains { $0.value.contains(secret) })
            _ = try store.eraseUser(bob, reason: "asked")
            try await until { try client.copy.token?.position == store.head.position }
            for (name, bytes) in try directory.contents() {
                #expect(!bytes.contains(secret), "the text is in \(name)")
                #expect(!bytes.contains("Bob"), "the name is in \(name)")
            }
            running.cancel()
            await running.value
            client.close()
        }

        @Test func theCopyOfAnotherUserIsRefused() throws {
            let path = directory.file("copy")
            let copy = try LocalCopy(path: path, server: "https://chat.example", user: ann)
            #expect(throws: ClientError.storage(.held, file: path)) {
                _ = try LocalCopy(path: path, server: "https://chat.example", user: ann)
            }
            copy.close()
            #expect(throws: ClientError.storage(.unknownFormat, file: path)) {
                _ = try LocalCopy(path: path, server: "https://chat.example", user: bob)
            }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    extension [UInt8] {
        fileprivate func contains(_ text: String) -> Bool {
            let needle = Array(text.utf8)
            return indices.contains { self[$0...].starts(with: needle) }
        }
    }
#endif
