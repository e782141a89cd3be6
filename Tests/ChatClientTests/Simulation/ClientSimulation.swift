#if Client || canImport(SQLite3)
    import Chat
    import ChatTesting
    import EventJournal
    import Foundation
    import Locking
    import TestSupport
    import Testing

    @testable import ChatClient

    /// A server, three people with a device each, and two without one, in the time of an executor.
    actor ClientSimulation {
        /// A device of a user, whose client can crash.
        struct Device {
            let user: UserID
            let path: String
            let clock: ManualClock
            var client: ChatClient?
            var running: Task<Void, Never>?
            /// What has happened to the commands, in its order.
            var log = DeviceLog()
        }

        struct Outcome: Hashable {
            /// Of all that has happened.
            var hash: UInt64
            var faults: [String]
        }

        let executor: SeededExecutor
        var random: SeededRandom
        let directory: TemporaryDirectory
        private var disk: SimulatedDisk
        let serverClock = ManualClock()
        private(set) var store: ChatStore
        let server: SimulatedServer
        let owner: UserID
        /// People without a device; they can be erased.
        private(set) var neighbours: [UserID] = []
        private(set) var threads: [ThreadID] = []
        var devices: [Device] = []
        /// What has happened, for the comparison of two runs.
        var trace = Trace()
        /// Each text is written once, so that it can be searched for.
        var textCount = 0

        /// What is wrong.
        private var faults: [String] = []

        /// Runs the simulation of a seed and checks its end.
        static func run(seed: UInt64) throws -> Outcome {
            let executor = SeededExecutor(seed: seed)
            return try executor.run {
                let simulation = try ClientSimulation(seed: seed, executor)
                try await simulation.begin()
                for _ in 0..<80 { try await simulation.step() }
                try await simulation.settle()
                return try await simulation.end()
            }
        }

        init(seed: UInt64, _ executor: SeededExecutor) throws {
            (self.executor, random) = (executor, SeededRandom(seed: seed))
            directory = try TemporaryDirectory(isVolatile: true)
            disk = SimulatedDisk(seed: seed)
            store = try Self.open(disk, serverClock, executor, seed)
            server = SimulatedServer(store, seed: seed, executor: executor)
            owner = try #require(try store.executeBlocking(.registerUser(username: "Owner")).user)
        }

        private static func open(
            _ disk: SimulatedDisk, _ clock: ManualClock, _ executor: SeededExecutor, _ seed: UInt64
        ) throws -> ChatStore {
            var options = StoreOptions(clock: clock, ids: SeededIDs(seed: seed), checkpoints: nil)
            options.journal.storage = disk
            options.journal.entropy = SeededEntropy(seed: seed)
            options.journal.slotSyncDelay = nil
            options.journal.executor = executor
            return try ChatStore.open("journal", options: options)
        }

        func begin() throws {
            for number in 0..<2 {
                threads.append(try #require(host(.openThread(name: "Thread \(number)", by: owner))?.thread))
            }
            for number in 0..<5 {
                let user = try #require(host(.registerUser(username: "User \(number)"))?.user)
                for thread in threads { host(.joinThread(thread: thread, by: user)) }
                if number < 2 {
                    neighbours.append(user)
                } else {
                    devices.append(Device(user: user, path: directory.file("\(number)"), clock: ManualClock()))
                    try start(devices.count - 1)
                }
            }
        }

        func end() async throws -> Outcome {
            faults += try await faultsOfOutboxes() + faultsOfCopies() + faultsOfFiles()
            for index in devices.indices { await crash(index) }
            server.goAway()
            try store.close()
            return Outcome(hash: trace.hash, faults: faults)
        }

        // MARK: Clients

        func start(_ index: Int) throws {
            let device = devices[index]
            let copy = try LocalCopy(path: device.path, server: "https://chat.example", user: device.user)
            let client = ChatClient(
                copy, server.transport(of: device.user), credentials: "secret", environment(device.clock))
            let changes = client.outboxChanges
            devices[index].client = client
            devices[index].running = Task(executorPreference: executor) { await client.run() }
            Task(executorPreference: executor) { for await change in changes { await self.note(change, of: index) } }
        }

        private func environment(_ clock: ManualClock) -> SyncEnvironment {
            let (executor, random) = (executor, SeededGenerator(seed: self.random.next()))
            var environment = SyncEnvironment()
            environment.now = { clock.now() }
            environment.idBits = { random.bits128() }
            environment.sleep = { duration in
                do { try await executor.sleep(for: duration) } catch { /* Cancelled. */  }
            }
            environment.wait = { attempt, retryAfter in random.wait(before: attempt, retryAfter) }
            return environment
        }

        private func note(_ change: OutboxChange, of index: Int) {
            trace.add("\(index) \(change.name) \(change.item.id)")
            faults += devices[index].log.add(change, asOf: store.head.position).map { "device \(index): \($0)" }
        }

        /// Ends a client at any moment: nothing that it does afterwards reaches its file.
        func crash(_ index: Int) async {
            let (client, running) = (devices[index].client, devices[index].running)
            (devices[index].client, devices[index].running) = (nil, nil)
            client?.close()
            running?.cancel()
            await running?.value
        }

        // MARK: The server

        /// Executes a command behind the backs of the clients; a rejected one changes nothing.
        @discardableResult func host(_ command: ChatCommand, correlation: String? = nil) -> Receipt? {
            try? store.executeBlocking(command, correlation: correlation)
        }

        /// Cuts the power of the server, and starts it again with what was durable.
        func restart() throws {
            server.goAway()
            let old = store
            disk = disk.crash(.random(seed: random.next()))
            store = try Self.open(disk, serverClock, executor, random.next())
            try old.close()
            server.state.withLock { [store] in $0.store = store }
            if random.oneIn(2) { server.comeBack() }
        }

        // MARK: The end

        /// Mends the network, and waits until nothing happens any more.
        func settle() async throws {
            server.state.withLock { $0.faults = SimulatedServer.Faults() }
            server.comeBack()
            for index in devices.indices where devices[index].client == nil { try start(index) }
            // Longer than a silence, or the wait after an attempt.
            for _ in 0..<5 {
                try await executor.sleep(for: .seconds(150))
                if try devices.allSatisfy(isSettled) { return }
            }
            for (index, device) in devices.enumerated() where try !isSettled(device) {
                let stale = try String(describing: device.client?.copy.stalePosts())
                faults.append(
                    "device \(index) does not settle: \(String(describing: device.client?.connection)), \(stale)")
            }
        }

        private func isSettled(_ device: Device) throws -> Bool {
            guard let client = device.client else { return false }
            let isCurrent = try client.copy.stalePosts() == nil && client.copy.staleAnswers.isEmpty
            return try client.pendingCount == 0 && client.connection == .connected && isCurrent
        }
    }

    /// A source of random numbers for several tasks of one executor.
    private final class SeededGenerator: Sendable {
        private let random: Lock<SeededRandom>

        init(seed: UInt64) { random = Lock(SeededRandom(seed: seed)) }

        func bits128() -> UInt128 { random.withLock { $0.bits128() } }

        func wait(before attempt: Int, _ retryAfter: Duration?) -> Duration {
            random.withLock { BackOff.wait(before: attempt, retryAfter: retryAfter, using: &$0) }
        }
    }

    /// The hash of what has happened (FNV-1a).
    struct Trace {
        private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325

        mutating func add(_ text: String) { hash = text.utf8.reduce(hash) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 } }
    }
#endif
