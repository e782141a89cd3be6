#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import LocalStorage
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// What an event takes away is in no file of the copy when the event is shown, wherever the
    /// connection ends, and wherever the process is killed: the files are searched for its bytes.
    @Suite struct TakenContentTests {
        private static let secret = "secret-7"

        enum Act: String, CaseIterable, Sendable {
            case edit, retract, remove, editReply, retractReply, removeReply, rename, renameThread, unmute, unban,
                block, revokeInvitation
            case declineInvitation, eraseContent, eraseUser, eraseAuthor, eraseSelf, setPostcode, loseAccess
            case unreact, unreactBoth, eraseReactor, banInvited
        }

        /// Ann's copy, in which a secret stands that an act takes away.
        private struct Scene {
            let secret: String
            let neighbours: Neighbours
            let client: ChatClient
            private let connection = Connection()
            private let perform: () throws -> Void
            let lists: [PostList]
            var store: ChatStore { neighbours.store }
            var ann: UserID { neighbours.ann }
            var thread: ThreadID { neighbours.thread }

            init(_ act: Act) throws {
                let neighbours = try Neighbours()
                let secret = act == .setPostcode ? "SW1A 1AA" : TakenContentTests.secret
                self.secret = secret
                let (store, ann, bob, thread) = (neighbours.store, neighbours.ann, neighbours.bob, neighbours.thread)
                func execute(_ command: ChatCommand) throws -> Receipt { try store.executeBlocking(command) }
                let isNamed = [.rename, .eraseUser].contains(act)
                let cat = try #require(try execute(.registerUser(username: isNamed ? secret : "Cat")).user)
                _ = try execute(.joinThread(thread: thread, by: cat))
                let isMessage = [.edit, .retract, .remove, .eraseContent, .eraseUser, .eraseAuthor, .loseAccess]
                    .contains(act)
                let first = try #require(try execute(.postMessage(thread: thread, body: "first", by: bob)).message)
                let isReply = [.editReply, .retractReply, .removeReply].contains(act)
                let reply = PostID.reply(
                    try #require(
                        try execute(.reply(to: first, body: isReply ? secret : "a reply", by: cat)).reply))
                let last = try execute(.postMessage(thread: thread, body: isMessage ? secret : "hello", by: cat))
                let message = PostID.message(try #require(last.message))
                switch act {
                case .edit: perform = { _ = try execute(.edit(message, body: "other", by: cat)) }
                case .retract: perform = { _ = try execute(.retract(message, by: cat)) }
                case .remove: perform = { _ = try execute(.remove(message, reason: "loud", by: bob)) }
                case .editReply: perform = { _ = try execute(.edit(reply, body: "other", by: cat)) }
                case .retractReply: perform = { _ = try execute(.retract(reply, by: cat)) }
                case .removeReply: perform = { _ = try execute(.remove(reply, reason: "loud", by: bob)) }
                case .rename: perform = { _ = try execute(.changeUsername(username: "Cat", by: cat)) }
                case .renameThread:
                    _ = try execute(.renameThread(thread: thread, name: secret, by: bob))
                    perform = { _ = try execute(.renameThread(thread: thread, name: "Cats", by: bob)) }
                case .unmute:
                    _ = try execute(.mute(user: ann, thread: thread, reason: secret, by: bob))
                    perform = { _ = try execute(.unmute(user: ann, thread: thread, by: bob)) }
                case .unban:
                    _ = try execute(.ban(user: ann, thread: thread, reason: secret, by: bob))
                    perform = { _ = try execute(.unban(user: ann, thread: thread, by: bob)) }
                case .block:
                    _ = try execute(.mute(user: ann, thread: thread, reason: secret, by: bob))
                    perform = { _ = try execute(.block(user: bob, by: ann)) }
                case .revokeInvitation, .declineInvitation, .banInvited:
                    let room = try #require(try execute(.openThread(name: secret, policy: .inviteOnly, by: bob)).thread)
                    _ = try execute(.invite(user: ann, thread: room, by: bob))
                    perform =
                        act == .banInvited
                        ? { _ = try execute(.ban(user: ann, thread: room, reason: "loud", by: bob)) }
                        : act == .declineInvitation
                            ? { _ = try execute(.declineInvitation(thread: room, by: ann)) }
                            : { _ = try execute(.revokeInvitation(user: ann, thread: room, by: bob)) }
                case .eraseContent:
                    let position = last.position
                    perform = { _ = try store.eraseContent(of: PositionSet([position...position]), reason: "a-test") }
                case .eraseUser, .eraseAuthor: perform = { _ = try store.eraseUser(cat, reason: "a-test") }
                case .eraseSelf:
                    _ = try execute(.postMessage(thread: thread, body: secret, by: ann))
                    perform = { _ = try store.eraseUser(ann, reason: "a-test") }
                case .setPostcode:
                    _ = try execute(.setPostcode(postcode: secret, by: ann))
                    perform = { _ = try execute(.setPostcode(postcode: "N1 9GU", by: ann)) }
                case .unreact, .unreactBoth, .eraseReactor:
                    let post = PostID.message(
                        try #require(
                            try execute(
                                .postMessage(thread: thread, body: "hers", by: ann)
                            ).message))
                    let people = act == .unreactBoth ? [cat, bob] : [cat]
                    func each(_ body: (PostID, UserID) throws -> Void) throws {
                        for post in [post, message] { for person in people { try body(post, person) } }
                    }
                    try each { _ = try execute(.react($0, emoji: ":\(secret):", by: $1)) }
                    perform =
                        act == .eraseReactor
                        ? { _ = try store.eraseUser(cat, reason: "a-test") }
                        : { try each { _ = try execute(.unreact($0, emoji: ":\(secret):", by: $1)) } }
                case .loseAccess:
                    perform = { _ = try execute(.removeMember(user: ann, thread: thread, reason: "loud", by: bob)) }
                }
                lists = [.messages(thread), .replies(first)]
                self.neighbours = neighbours
                client = try neighbours.client(
                    ann,
                    answers: { [connection] request, answer in
                        request.method == "GET" && connection.isCut ? nil : answer
                    })
            }

            /// Reads all that a client keeps.
            func read() async throws {
                try client.copy.begin(at: store.resumeToken(after: store.head.position))
                for query in queries { try? await client.engine.read(query) }
                for list in lists {
                    let page: Page<Post>? =
                        switch list {
                        case .messages(let thread): try? store.reader(as: .user(ann)).timeline(thread)
                        case .replies(let message): try? store.reader(as: .user(ann)).replies(to: message)
                        }
                    guard let page else { continue }
                    _ = try client.copy.keep(
                        page, of: list, in: thread, PageRequest.latest(), asOf: store.head.position)
                }
            }

            var queries: [any KeptQuery] { [UserQuery(), ThreadsQuery(), InboxQuery(), MembersQuery(thread: thread)] }

            func act() throws { try perform() }

            /// Loses every answer from now on.
            func cut() { connection.cut() }

            /// The updates of the user's stream after a position.
            func updates(after position: Position) async throws -> [FollowedUpdate] {
                var updates: [FollowedUpdate] = []
                let events = try store.events(
                    after: store.resumeToken(after: position), upTo: store.head.position,
                    matching: EventFilter(as: .user(ann)))
                for try await update in events.updates { updates.append(update) }
                return updates
            }

            /// The files that have the secret.
            func found(in directory: TemporaryDirectory? = nil) throws -> [String] {
                try (directory ?? neighbours.directory).contents()
                    .filter { Data($0.value).range(of: Data(secret.utf8)) != nil }.map(\.key)
            }

            /// The files as a process leaves them that is killed now.
            func killed() throws -> TemporaryDirectory {
                let directory = try TemporaryDirectory()
                for (name, bytes) in try neighbours.directory.contents() {
                    try Data(bytes).write(to: URL(filePath: directory.file(name)))
                }
                return directory
            }

            /// Opens the files of a killed process.
            func copy(in directory: TemporaryDirectory) throws -> LocalCopy {
                try LocalCopy(path: directory.file("\(ann)"), server: "https://chat.example", user: ann)
            }
        }

        private final class Connection: Sendable {
            private let state = Lock(false)
            var isCut: Bool { state.withLock { $0 } }
            func cut() { state.withLock { $0 = true } }
        }

        @Test(arguments: Act.allCases) func anEventTakesItsContentFromEveryFile(_ act: Act) async throws {
            let scene = try Scene(act)
            try await scene.read()
            #expect(try !scene.found().isEmpty, "nothing is to be forgotten")
            let position = scene.store.head.position
            try scene.act()
            for update in try await scene.updates(after: position) { _ = try scene.client.copy.apply([update]) }
            #expect(try scene.found().isEmpty)
            let killed = try scene.killed()
            let again = try scene.copy(in: killed)
            #expect(try scene.found(in: killed).isEmpty)
            again.close()
            scene.client.close()
        }

        /// The client follows the server, and no answer arrives after the event.
        @Test(arguments: Act.allCases) func nothingIsReadAfterTheEvent(_ act: Act) async throws {
            let scene = try Scene(act)
            try await scene.read()
            let client = scene.client
            let running = Task { await client.run() }
            try await until { client.connection == .connected }
            scene.cut()
            let shown = client.engine.changes.elements()
            try scene.act()
            let head = scene.store.head.position
            // When it is shown, it is gone.
            for await _ in shown where try client.copy.token?.position == head { break }
            #expect(try scene.found().isEmpty)
            scene.neighbours.server.goAway()
            running.cancel()
            await running.value
            #expect(try scene.found().isEmpty)
            scene.client.close()
        }

        /// An answer that was asked for before the event, and arrives after it.
        @Test(arguments: Act.allCases) func anAnswerFromBeforeDoesNotBringItBack(_ act: Act) async throws {
            let scene = try Scene(act)
            try await scene.read()
            let (copy, position) = (scene.client.copy, scene.store.head.position)
            try scene.act()
            // What the client has is what the server answered before the event.
            let updates = try await scene.updates(after: position)
            for query in scene.queries { try keepAgain(query, in: copy, asOf: position, then: updates) }
            for list in scene.lists {
                let posts = try copy.posts(in: list).posts
                let page = Page(entries: posts, older: nil, newer: .latest())
                _ = try copy.keep(page, of: list, in: scene.thread, PageRequest.latest(), asOf: position, then: updates)
            }
            _ = try copy.apply(updates)
            #expect(try scene.found().isEmpty)
            scene.client.close()
        }

        private func keepAgain<Query: KeptQuery>(
            _ query: Query, in copy: LocalCopy, asOf position: Position, then updates: [FollowedUpdate]
        ) throws {
            guard let value = try copy.answer(query)?.value else { return }
            _ = try copy.keep(value, of: query, asOf: position, then: updates)
        }

        /// What no event has told leaves the file with the answer that lacks it.
        @Test func whatAnotherAnswerLacksLeavesTheFile() async throws {
            let scene = try Scene(.rename)
            try await scene.read()
            let copy = scene.client.copy
            for query in scene.queries { try changed(query, in: copy) }
            for list in scene.lists {
                // The names of authors are those that a page shows.
                var posts = try copy.posts(in: list).posts
                for index in posts.indices { posts[index].author.username = "another" }
                let page = Page(entries: posts, older: nil, newer: .latest())
                _ = try copy.keep(
                    page, of: list, in: scene.thread, PageRequest.latest(), asOf: scene.store.head.position)
            }
            #expect(try scene.found().isEmpty)
            scene.client.close()
        }

        /// Keeps an answer again, with another name wherever it has the secret.
        private func changed<Query: KeptQuery>(_ query: Query, in copy: LocalCopy) throws {
            guard let value = try copy.answer(query)?.value else { return }
            let text = String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
            let other = text.replacingOccurrences(of: Self.secret, with: "another")
            _ = try copy.keep(
                JSONDecoder().decode(Query.Kept.self, from: Data(other.utf8)), of: query, asOf: 1, then: [])
        }

        /// The user's own name of before, which an answer has told.
        @Test func theOwnNameOfBeforeLeavesTheFile() throws {
            let directory = try TemporaryDirectory()
            let user = UserID(bits: 7)
            let copy = try LocalCopy(path: directory.file("copy"), server: "https://chat.example", user: user)
            try copy.learnOwnName(Self.secret)
            let details = UserDetails(
                id: user, username: "Ann", createdAt: Timestamp(millisecondsSince1970: 0), threads: [])
            _ = try copy.keep(details, of: UserQuery(), asOf: 1, then: [])
            for (name, bytes) in try directory.contents() {
                #expect(Data(bytes).range(of: Data(Self.secret.utf8)) == nil, "it is in \(name)")
            }
            copy.close()
        }

        /// The session of a device does not have the name, which can change.
        @Test func aKeptSessionHasNoName() throws {
            let session = ClientSession(
                server: try #require(URL(string: "https://chat.example")),
                user: UserSummary(id: UserID(bits: 7), username: Self.secret), token: SessionToken(rawValue: "token"))
            let bytes = try JSONEncoder().encode(session)
            #expect(bytes.range(of: Data(Self.secret.utf8)) == nil)
            let kept = try JSONDecoder().decode(ClientSession.self, from: bytes)
            #expect(kept.user == UserSummary(id: UserID(bits: 7)) && kept.token == session.token)
        }

        /// SQLite leaves bytes of rows that it has moved; a copy that is written anew has none.
        @Test(arguments: Seeds.seeds(Repetitions.few(1, of: 20), from: Repetitions.seed))
        func aRebuiltFileHasNothingThatWasTaken(_ seed: UInt64) throws {
            var random = SeededRandom(seed: seed)
            let directory = try TemporaryDirectory()
            let (user, thread) = (UserID(bits: 7), ThreadID(bits: 8))
            let copy = try LocalCopy(path: directory.file("copy"), server: "https://chat.example", user: user)
            let token = try ChatStore.inMemory().resumeToken(after: 0)
            try copy.begin(at: token)
            let posts: [Post] = (1...3_000).map { number in
                let id = MessageID(bits: UInt128(number))
                let filling = String(repeating: "x", count: Int.random(in: 0...200, using: &random))
                return Post(
                    id: .message(id), position: Position(number * 10), thread: thread, message: id,
                    author: UserSummary(id: user), body: "secret-\(number)-\(filling)",
                    createdAt: Timestamp(millisecondsSince1970: 0), isRetracted: false, replyCount: 0)
            }
            // In any order, so that pages are split and filled.
            for number in (0..<60).shuffled(using: &random) {
                let part = Array(posts[number * 50..<(number + 1) * 50])
                let request = PageRequest.after(part[0].position - 1, limit: 50)
                _ = try copy.keep(
                    Page(entries: part, older: .before(part[0].position), newer: .latest()),
                    of: .messages(thread), in: thread, request, asOf: 100_000)
            }
            var (taken, updates): (Set<Int>, [FollowedUpdate]) = ([], [])
            for number in posts.indices.shuffled(using: &random).prefix(2_000) {
                taken.insert(number + 1)
                let details = EventDetails(
                    .messageRetracted,
                    .message(thread: thread, number: 1, message: posts[number].message, by: user))
                let event = ChatEvent(recordedAt: Timestamp(millisecondsSince1970: 0), details: details)
                let recorded = RecordedEvent(position: 200_000, event: event)
                updates.append(.event(FollowedEvent(recorded: recorded, resumeToken: token)))
                guard updates.count == 40 else { continue }
                _ = try copy.apply(updates)
                updates = []
            }
            try copy.rebuild()
            for (name, bytes) in try directory.contents() {
                let text = String(decoding: bytes, as: UTF8.self)
                let found = text.matches(of: /secret-(\d+)-/).compactMap { Int($0.1) }
                #expect(taken.isDisjoint(with: found), "in \(name), seed \(seed)")
            }
            copy.close()
        }

        /// A process is killed between a transaction and the emptying of the log.
        @Test func theNextOpeningEmptiesTheLog() async throws {
            let scene = try Scene(.retract)
            try await scene.read()
            try scene.client.copy.file.withLock { file in
                for table in ["posts", "answers"] { try file.run("DELETE FROM \(table)") }
            }
            let killed = try scene.killed()
            #expect(try !scene.found(in: killed).isEmpty)
            let again = try scene.copy(in: killed)
            #expect(try scene.found(in: killed).isEmpty)
            again.close()
            scene.client.close()
        }

        /// Another program that reads the file keeps what it reads in the log.
        @Test func aLogThatCannotBeEmptiedIsAnError() async throws {
            let scene = try Scene(.retract)
            try await scene.read()
            let copy = scene.client.copy
            let reader = try Database<ClientError>(copy.path, isReadOnly: true)
            try reader.run("BEGIN")
            #expect(try reader.run("SELECT count(*) FROM posts").count == 1)
            copy.file.withLock { $0.wait(milliseconds: 10) }
            let position = scene.store.head.position
            try scene.act()
            let updates = try await scene.updates(after: position)
            #expect(throws: ClientError.storage(.held, file: copy.path)) { _ = try copy.apply(updates) }
            try reader.run("COMMIT")
            reader.close()
            // What happens next empties it.
            _ = try copy.apply(updates)
            #expect(try scene.found().isEmpty)
            scene.client.close()
        }

        /// The outbox of a file of the version before is kept, and the rest is read again.
        @Test func aFileOfTheVersionBeforeKeepsItsOutbox() async throws {
            let scene = try Scene(.retract)
            try await scene.read()
            let waiting = CommandRequest(
                .postMessage(id: MessageID(bits: 5), thread: scene.thread, body: "waits", by: scene.ann))
            try scene.client.enqueue(waiting)
            // The ids of posts had no kind.
            try scene.client.copy.file.withLock { file in
                for column in ["creates", "needs"] {
                    try file.run("UPDATE outbox SET \(column) = substr(\(column), -16)")
                }
                try file.run("PRAGMA user_version=2")
            }
            scene.client.close()
            let again = try LocalCopy(path: scene.client.copy.path, server: "https://chat.example", user: scene.ann)
            #expect(try again.outbox().map(\.request) == [waiting])
            #expect(try again.token == nil && again.staleAnswers.isEmpty)
            #expect(try again.posts(in: .messages(scene.thread)).posts.map(\.body) == ["waits"])
            #expect(try again.post(.message(MessageID(bits: 5)))?.body == "waits")
            #expect(try scene.found().isEmpty)
            again.close()
        }

        /// Reasons and names that a user has sent are nowhere after the answer, unless something
        /// shows them.
        @Test(arguments: [false, true]) func whatWasSentLeavesTheFileWithItsAnswer(isSanction: Bool) async throws {
            let neighbours = try Neighbours()
            let client = try neighbours.client(neighbours.bob)
            let running = Task { await client.run() }
            let commands: [ChatCommand] =
                isSanction
                ? [.mute(user: neighbours.ann, thread: neighbours.thread, reason: Self.secret, by: neighbours.bob)]
                : [
                    .changeUsername(username: Self.secret, by: neighbours.bob),
                    .changeUsername(username: "Robert", by: neighbours.bob),
                ]
            for command in commands { try await client.execute(command) }
            try await until { try client.copy.token?.position == neighbours.store.head.position }
            for (name, bytes) in try neighbours.directory.contents() {
                #expect(Data(bytes).range(of: Data(Self.secret.utf8)) == nil, "it is in \(name)")
            }
            running.cancel()
            await running.value
            client.close()
        }
    }
#endif
