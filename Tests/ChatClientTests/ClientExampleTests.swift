#if Server
    import Chat
    import ChatClient
    import Foundation
    import Observation
    import ServerSupport
    import TestSupport
    import Testing

    /// The examples of the documentation, with a real server.
    @MainActor @Suite struct ClientExampleTests {
        /// Signs in, and keeps the session for the next start of the app.
        private func signIn(
            _ server: URL, _ email: String, _ password: String, _ tokens: any TokenStore
        ) async throws -> ClientSession {
            let accounts = try ServerAccounts(server)
            let session = try await accounts.signIn(email: email, password: password, device: "telephone")
            try await tokens.save(session)
            return session
        }

        /// Signs up and in.
        private func signUp(
            _ server: URL, _ password: String, _ tokens: any TokenStore, _ askForCode: () async throws -> String
        ) async throws -> ClientSession {
            let accounts = try ServerAccounts(server)
            try await accounts.signUp(username: "Ann", email: "ann@example.org", password: password)
            // Ann reads the code in her mail.
            let code = try await askForCode()
            try await accounts.confirm(email: "ann@example.org", code: code)
            let session = try await accounts.signIn(email: "ann@example.org", password: password, device: "telephone")
            try await tokens.save(session)
            return session
        }

        /// Follows the server for as long as a screen is shown.
        func show(_ session: ClientSession, in directory: String) async throws {
            let client = try ChatClient(session, directory: directory)
            await client.run()
        }

        /// Posts while a screen shows the thread, until the message has arrived.
        private func post(_ session: ClientSession, _ thread: ThreadID, in directory: String) async throws -> [Post] {
            let client = try ChatClient(session, directory: directory)
            let timeline = client.liveTimeline(of: thread)
            async let following: Void = timeline.follow()
            async let running: Void = client.run()
            try await client.enqueue(
                .postMessage(thread: thread, body: "Could someone pick up milk?", by: client.user))
            for await messages in Observations({ timeline.messages }) where messages.last?.isPending == false {
                return messages
            }
            _ = await (following, running)
            return []
        }

        /// Shows what waits and what was rejected, until the task is cancelled.
        @MainActor func follow(_ chat: any UserChat, show: ([OutboxItem]) -> Void) async {
            let outbox = chat.liveOutbox()
            async let following: Void = outbox.follow()
            for await items in Observations({ outbox.items }) { show(items) }
            await following
        }

        @Test(.timeLimit(.minutes(1))) func anOutboxIsFollowed() async throws {
            let directory = try TemporaryDirectory()
            let session = ClientSession(
                server: try #require(URL(string: "https://chat.example")),
                user: UserSummary(id: UserID(bits: 1), username: "Ann"),
                token: SessionToken(rawValue: "secret"))
            let client = try ChatClient(session, directory: directory.path)
            let (shown, continuation) = AsyncStream<[OutboxItem]>.makeStream()
            let following = Task { await self.follow(client) { continuation.yield($0) } }
            // It is shown as often as the view changes.
            for await items in shown where items.isEmpty { break }
            let item = try client.enqueue(CommandRequest(.setPostcode(postcode: "SW1A 1AA", by: client.user)))
            for await items in shown where items == [item] { break }
            try client.withdraw(item.id)
            for await items in shown where items.isEmpty { break }
            following.cancel()
            await following.value
            client.close()
        }

        /// Opens the copy of a session, or a new one in the place of a file that cannot be read.
        func open(_ session: ClientSession, in directory: String) throws(ClientError) -> ChatClient {
            do { return try ChatClient(session, directory: directory) } catch {
                guard error.storage == .damaged || error.storage == .unknownFormat else { throw error }
                let (client, outbox) = try ChatClient.startingOver(session, directory: directory)
                print(outbox)
                return client
            }
        }

        @Test func aCopyThatCannotBeReadIsReplaced() throws {
            let directory = try TemporaryDirectory()
            let session = ClientSession(
                server: try #require(URL(string: "https://chat.example")),
                user: UserSummary(id: UserID(bits: 1), username: "Ann"), token: SessionToken(rawValue: "secret"))
            let former = try open(session, in: directory.path)
            let error = #expect(throws: ClientError.self) { try open(session, in: directory.path) }
            #expect(error?.storage == .held)
            former.close()
            let name = try #require(try directory.contents().keys.first { $0.hasSuffix(".chat") })
            try Data(repeating: 7, count: 8_192).write(to: URL(filePath: directory.file(name)))
            let client = try open(session, in: directory.path)
            #expect(try client.outbox().isEmpty)
            client.close()
        }

        @Test(.timeLimit(.minutes(1))) func twoPeopleTalk() async throws {
            let server = try await RealServer()
            let directory = try TemporaryDirectory()
            _ = try await signUp(server.url, RealServer.password, InMemoryTokenStore()) { try server.code("ann") }
            let ann = try await signIn(server.url, "ann@example.org", RealServer.password, InMemoryTokenStore())
            let bob = try await server.member("Bob")
            for user in [ann, bob] {
                _ = try await server.store.execute(.setPostcode(postcode: "SW1A 1AA", by: user.user.id))
            }
            let thread = try #require(try server.store.reader(as: .user(bob.user.id)).threads().entries.first).id
            #expect(try await post(ann, thread, in: directory.path).map(\.body) == ["Could someone pick up milk?"])

            let client = try ChatClient(bob, directory: directory.path)
            let running = Task { await client.run() }
            let message = try #require(try await client.timeline(thread).entries.last)
            try await client.execute(.reply(to: message.message, body: "I can, at noon.", by: client.user))
            #expect(try await client.replies(to: message.message).map(\.body) == ["I can, at noon."])
            #expect(try await client.me() == (try server.store.reader(as: .user(bob.user.id)).user(bob.user.id)))
            let directoryPage = try await client.directory()
            let people = try await client.people(named: "An")
            #expect(directoryPage.isEmpty && people.map(\.username) == ["Ann"])
            running.cancel()
            await running.value
            try client.removeCopy()
            let left = try directory.contents().keys.filter { $0.contains("\(bob.user.id)") }
            #expect(left.isEmpty)
            try await server.stop()
        }
    }
#endif
