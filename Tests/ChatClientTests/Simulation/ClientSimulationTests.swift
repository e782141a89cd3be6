#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import Foundation
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// Clients that go offline, crash and return, over a network that loses requests, answers and streams, while people leave, are
    /// muted and are erased.
    @Suite struct ClientSimulationTests {
        @MainActor @Test(.serialized, arguments: Seeds.seeds(Repetitions.few(8, of: 10_000), from: Repetitions.seed))
        func whatIsConfirmedIsThereOnceAndInItsOrder(_ seed: UInt64) async throws {
            let simulation = try ClientSimulation(seed: seed)
            for _ in 0..<80 { try await simulation.step() }
            try await simulation.settle()
            try simulation.expectOutboxesToBeDone()
            try simulation.expectCopiesToEqualTheServer()
        }
    }

    @MainActor private final class ClientSimulation {
        /// A device of a user, whose client can crash.
        final class Device {
            let user: UserID
            let path: String
            var client: ChatClient?
            var running: Task<Void, Never>?
            /// What was written, in its order.
            var written: [CommandRequest] = []

            init(user: UserID, path: String) { (self.user, self.path) = (user, path) }
        }

        private var random: SeededRandom
        private let directory: TemporaryDirectory
        private let store: ChatStore
        private let server: SimulatedServer
        private let owner: UserID
        private let threads: [ThreadID]
        private var devices: [Device] = []

        init(seed: UInt64) throws {
            random = SeededRandom(seed: seed)
            directory = try TemporaryDirectory()
            store = try ChatStore.inMemory()
            server = SimulatedServer(store, seed: seed)
            owner = try #require(try store.executeBlocking(.registerUser(username: "Owner")).user)
            threads = try (0..<2).compactMap { [store, owner] number in
                try store.executeBlocking(.openThread(name: "Thread \(number)", by: owner)).thread
            }
            for number in 0..<3 {
                let user = try #require(try store.executeBlocking(.registerUser(username: "User \(number)")).user)
                for thread in threads { _ = try store.executeBlocking(.joinThread(user: user, thread: thread)) }
                let device = Device(user: user, path: directory.file("\(number)"))
                devices.append(device)
                try start(device)
            }
        }

        private func start(_ device: Device) throws {
            let copy = try LocalCopy(path: device.path, server: "https://chat.example", user: device.user)
            let client = ChatClient(copy, server.transport(of: device.user), credentials: "secret", .quick)
            device.client = client
            device.running = Task { await client.run() }
        }

        /// Ends a client in the middle of whatever it does.
        private func crash(_ device: Device) async {
            device.running?.cancel()
            await device.running?.value
            device.client?.close()
            (device.client, device.running) = (nil, nil)
        }

        func step() async throws {
            let device = devices[Int.random(in: devices.indices, using: &random)]
            switch Int.random(in: 0..<24, using: &random) {
            case 0: server.state.withLock { [rate = random.oneIn(2) ? 0 : Int.random(in: 2...6, using: &random)] in $0.lossRate = rate }
            case 1: server.goAway()
            case 2, 3: server.comeBack()
            case 4: await crash(device)
            case 5, 6: if device.client == nil { try start(device) }
            case 7: change(device.user)
            case 8:
                let position = oneOf(store)
                _ = try store.eraseContent(of: PositionSet([position...position]), reason: "a-test")
            case 9, 10:
                // May fail without a network.
                _ = try? await device.client?.timeline(thread(), page: PageRequest(limit: Int.random(in: 1...5, using: &random)))
            case 11:
                let before = oneOf(store)
                _ = try? await device.client?.timeline(thread(), page: PageRequest(limit: 3, before: before))
            default: try write(device)
            }
            if random.oneIn(3) { try await Task.sleep(for: .milliseconds(Int.random(in: 1...4, using: &random))) }
        }

        private func oneOf(_ store: ChatStore) -> Position { UInt64.random(in: 1...store.head.position, using: &random) }

        private func thread() -> ThreadID { threads[Int.random(in: threads.indices, using: &random)] }

        /// Changes the rights of a user, behind the back of the user's client.
        private func change(_ user: UserID) {
            let command: ChatCommand =
                switch Int.random(in: 0..<4, using: &random) {
                case 0: .leaveThread(user: user, thread: thread())
                case 1: .mute(user: user, thread: thread(), by: owner, reason: "loud")
                case 2: .unmute(user: user, thread: thread(), by: owner)
                default: .joinThread(user: user, thread: thread())
                }
            // Some are rejected.
            _ = try? store.executeBlocking(command)
        }

        private func write(_ device: Device) throws {
            guard let client = device.client else { return }
            let posts = device.written.compactMap { $0.command.createdPost }
            let command: ChatCommand
            switch (Int.random(in: 0..<6, using: &random), posts.randomElement(using: &random)) {
            case (0, .message(let message)?): command = .reply(message: message, author: device.user, body: "reply \(random.next())")
            case (1, let post?): command = .edit(post, by: device.user, body: "edit \(random.next())")
            case (2, let post?): command = .retract(post, by: device.user)
            case (3, _): command = .setNotifications(user: device.user, thread: thread(), level: random.oneIn(2) ? .all : .none)
            default: command = .postMessage(thread: thread(), author: device.user, body: "post \(random.next())")
            }
            let item = try client.enqueue(CommandRequest(command))
            device.written.append(item.request)
        }

        /// Mends the network, and waits until nothing happens any more.
        func settle() async throws {
            server.state.withLock { $0.lossRate = 0 }
            server.comeBack()
            for device in devices where device.client == nil { try start(device) }
            for device in devices {
                let client = try #require(device.client)
                let copy = client.copy
                for attempt in 0... {
                    let isDone = try client.pendingCount == 0 && client.connection == .connected && copy.stalePosts() == nil
                    if isDone { break }
                    try #require(attempt < 2_000, "the client of \(device.user) does not settle: \(client.connection)")
                    client.engine.readNow()
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
            // What the last commands have caused arrives.
            for device in devices {
                let client = try #require(device.client)
                let marker = try store.executeBlocking(.openThread(name: "marker", by: device.user)).position
                for attempt in 0... {
                    if try client.copy.token?.position ?? 0 >= marker { break }
                    try #require(attempt < 2_000)
                    try await Task.sleep(for: .milliseconds(5))
                }
                for attempt in 0... {
                    if try client.copy.stalePosts() == nil { break }
                    try #require(attempt < 2_000)
                    client.engine.readNow()
                    try await Task.sleep(for: .milliseconds(5))
                }
            }
        }

        func expectOutboxesToBeDone() throws {
            var events: [RecordedEvent] = []
            try store.forEachEvent(matching: EventFilter(as: .host)) { event, _ in events.append(event) }
            for device in devices {
                let left = try #require(device.client).outbox(limit: 1_000)
                let isDone = left.allSatisfy { if case .rejected = $0.state { true } else { false } }
                #expect(isDone)
                let rejected = Set(left.map(\.request))
                var last: [ThreadID: Position] = [:]
                for request in device.written {
                    guard let id = request.command.createdPost else { continue }
                    let found = events.filter { [.messagePosted, .replyPosted].contains($0.kind) && $0.createdPost == id }
                    #expect(
                        found.count == (rejected.contains(request) ? 0 : 1),
                        "\(request.command.name) \(id) was \(rejected.contains(request) ? "rejected" : "confirmed")")
                    guard let event = found.first, let thread = event.thread else { continue }
                    #expect(event.position > last[thread, default: 0], "the order of \(device.user)")
                    last[thread] = event.position
                }
            }
        }

        func expectCopiesToEqualTheServer() throws {
            for device in devices {
                let copy = try #require(device.client).copy
                for thread in threads {
                    let ranges = try copy.knownRanges(of: .messages(thread))
                    guard let answer = try? store.timeline(thread, page: .all, as: .user(device.user)).entries else {
                        #expect(ranges.isEmpty, "the copy has a thread that its user cannot read")
                        continue
                    }
                    for range in ranges {
                        let expected = answer.filter { range.contains($0.position) }
                        let found = try copy.posts(in: .messages(thread), before: range.upperBound + 1, limit: 1_000).posts
                            .filter { range.contains($0.position) }
                        #expect(found == expected)
                    }
                }
            }
        }
    }

    extension RecordedEvent {
        fileprivate var createdPost: PostID? { reply.map(PostID.reply) ?? message.map(PostID.message) }
    }
#endif
