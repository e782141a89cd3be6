#if Postgres
    @testable import Chat
    import ChatDomain
    import ChatTesting
    import Dispatch
    import EventJournal
    import Foundation
    import JournalPostgres
    import Locking
    import TestSupport
    import Testing

    /// A store on PostgreSQL keeps every promise of a store on files.
    @Suite(.enabled(if: PostgresServer.isAvailable, "PostgreSQL is not installed")) struct StoreOnPostgresTests {
        private let ann = UserID(bits: 1)
        private let bob = UserID(bits: 2)
        private let options = StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1))

        private func open(_ address: String) throws -> ChatStore {
            var log = PostgresOptions()
            log.lockTimeout = .seconds(30)
            return try ChatStore.open(log: try PostgresLog.open(address, options: log), options: options)
        }

        @Test func followersReceiveEachEventAfterTheirPositionOnce() async throws {
            for seed in Seeds.seeds(Repetitions.few(8, of: 40)) {
                let round = try FollowingRound(seed: seed, in: .postgres)
                try await within(limit: .seconds(180), "the end of the round of seed \(seed)") { try await round.run() }
                #expect(round.problems == [], "seed \(seed)")
            }
        }

        @Test func concurrentHistoriesAreLinearizable() async throws {
            let count = ProcessInfo.processInfo.environment["CHATJOURNAL_LINEARIZABLE_HISTORIES"].flatMap { Int($0) }
            try await LinearizabilityTests().check(count ?? Repetitions.few(10, of: 40)) { seed in
                let history = try ConcurrentHistory(seed: seed, in: .postgres)
                return (history.setting, try await history.run())
            }
        }

        @Test(arguments: Seeds.seeds(2)) func decisionsAreTheSameAsOnFiles(seed: UInt64) throws {
            let address = try LogPlace.newAddress()
            let onFiles = StoreFixture(seed: seed)
            let log = try PostgresLog.open(address)
            let same = StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: seed))
            let stores = [try onFiles.open(), try ChatStore.open(log: log, options: same)]
            var generator = CommandGenerator(seed: seed)
            for _ in 0..<300 {
                let request = generator.nextRequest()
                let answers = try stores.map { try answer(request, of: $0) }
                #expect(answers[0] == answers[1])
            }
            let events = try stores[0].allEvents()
            #expect(try stores[1].allEvents() == events)
            try stores[1].close()
            let again = try open(address)
            #expect(try again.allEvents() == events)
            for thread in try stores[0].reader(as: .host).threads() {
                #expect(
                    try again.reader(as: .host).timeline(thread.id).entries
                        == stores[0].reader(as: .host).timeline(thread.id).entries
                )
                #expect(
                    try again.reader(as: .host).members(of: thread.id)
                        == stores[0].reader(as: .host).members(of: thread.id))
            }
            try again.close()
        }

        @Test func storeSurvivesReopening() async throws {
            let address = try LogPlace.newAddress()
            var store = try open(address)
            try await store.execute(.registerUser(id: ann, username: "Ann"))
            let moved = try await store.execute(.setPostcode(postcode: "SW1A 1AA", by: ann))
            let thread = try #require(moved.events.last?.event.thread)
            let message = MessageID(bits: 5)
            #expect(
                try await store.execute(.postMessage(id: message, thread: thread, body: "Milk?", by: ann))
                    .positions == 5...5)
            let token = try store.resumeToken(after: 5)
            try store.close()
            store = try open(address)
            #expect(
                try await store.execute(.postMessage(id: message, thread: thread, body: "Milk?", by: ann))
                    .isDuplicate)
            try await store.execute(.postMessage(thread: thread, body: "Thanks", by: ann))
            var bodies: [String] = []
            for try await event in store.events(after: token, matching: EventFilter(as: .host)) {
                if case .body(let body) = event.recorded.event.content { bodies.append(body) }
                if event.position == 6 { break }
            }
            #expect(bodies == ["Thanks"])
            try store.close()
        }

        @Test func readerInAnotherProcessFollows() async throws {
            let address = try LogPlace.newAddress()
            let writer = try open(address)
            try await writer.execute(.registerUser(id: ann, username: "Ann"))
            let reader = try ChatStore.open(log: try PostgresLog.openReadOnly(address), options: options)
            let following = Task {
                var names: [String] = []
                for try await event in reader.events(after: 0, matching: EventFilter(as: .host)) {
                    if case .registration(let name, _) = event.recorded.event.content { names.append(name.text) }
                    if names.count == 2 { break }
                }
                return names
            }
            try await writer.execute(.registerUser(id: bob, username: "Bob"))
            #expect(try await following.value == ["Ann", "Bob"])
            expectError("readOnly") { try reader.executeBlocking(.registerUser(username: "Cat")) }
            try reader.close()
            try writer.close()
        }

        @Test func erasedUserIsGone() throws {
            let address = try LogPlace.newAddress()
            var store = try open(address)
            try store.executeBlocking(.registerUser(id: ann, username: "Ann"))
            try store.executeBlocking(.setPostcode(postcode: "SW1A 1AA", by: ann))
            try store.executeBlocking(.registerUser(id: bob, username: "Bob"))
            try store.executeBlocking(.setPostcode(postcode: "SW1A 2AA", by: bob))
            let thread = ThreadID(try #require(OutwardCode("SW1A")))
            let secret = try store.executeBlocking(
                .postMessage(thread: thread, body: "a secret that must go", by: ann)
            ).position
            try store.executeBlocking(.postMessage(thread: thread, body: "kept", by: bob))
            let head = try store.treeHead()
            let proof = try store.inclusionProof(of: secret)
            let erasure = try store.eraseUser(ann, reason: "asked")
            #expect(erasure.user == ann)
            let server = try #require(try PostgresServer.shared.get())
            let number = "(SELECT number FROM chat_journal.log WHERE name = '\(try PostgresAddress(address).log)')"
            let rows =
                "SELECT count(*) FROM chat_journal.record WHERE log = \(number) AND position('secret'::bytea IN record) > 0"
            #expect(try server.execute(rows) == "0")
            #expect(try store.reader(as: .host).timeline(thread).map(\.body) == [nil, "kept"])
            let (size, after) = (head.size, try store.treeHead(at: head.size))
            #expect(after == head && size == 11 || after == head)
            #expect(try store.inclusionProof(of: secret, at: proof.head.size) == proof)
            try store.close()
            store = try open(address)
            #expect(try store.reader(as: .host).timeline(thread).map(\.body) == [nil, "kept"])
            #expect(try !store.isErasureUnfinished && store.isUser(ann))
            try store.close()
        }

        /// A read of a database can take seconds, so no task may make one on the cooperative pool.
        @Test func tasksReadOnTheExecutorOfTheLog() async throws {
            let log = ObservedLog(try PostgresLog.open(try LogPlace.newAddress()))
            let store = try ChatStore.open(
                log: log, options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1), recentEventCount: 2))
            try await store.execute(.registerUser(id: ann, username: "Ann"))
            try await store.execute(.setPostcode(postcode: "SW1A 1AA", by: ann))
            let thread = ThreadID(try #require(OutwardCode("SW1A")))
            for number in 0..<20 {
                try await store.execute(
                    .postMessage(id: MessageID(bits: 100 + UInt128(number)), thread: thread, body: "\(number)", by: ann)
                )
            }
            log.begin()
            #expect(
                try await store.execute(
                    .postMessage(id: MessageID(bits: 100), thread: thread, body: "0", by: ann)
                ).isDuplicate)
            var count = 0
            for try await _ in store.events(after: 0, matching: EventFilter(as: .host)) {
                count += 1
                if count == 24 { break }
            }
            let live = await LiveTimeline(store, thread: thread, as: .user(ann))
            let following = Task { await live.follow() }
            while await live.state.value?.count != 20 { try await Task.sleep(for: .milliseconds(1)) }
            following.cancel()
            await following.value
            let reads = log.end()
            #expect(reads.count > 2 && !reads.contains(false), "\(reads)")
            try store.close()
        }
    }

    /// A log that notes for each read whether it is on the executor of the log.
    private final class ObservedLog: RemoteLog {
        private let log: PostgresLog
        private let reads = Lock<[Bool]?>(nil)

        init(_ log: PostgresLog) { self.log = log }

        func begin() { reads.withLock { $0 = [] } }

        func end() -> [Bool] { reads.withLock { $0 ?? [] } }

        private func note() {
            let isOnExecutor = PostgresLog.isOnReadExecutor
            reads.withLock { $0?.append(isOnExecutor) }
        }

        var readExecutor: any TaskExecutor { log.readExecutor }
        var contact: LogContact { log.contact }
        var id: JournalID { log.id }
        var isReadOnly: Bool { log.isReadOnly }
        var lastPosition: Position { log.lastPosition }
        var failure: JournalError? { log.failure }
        var durablePosition: Position { log.durablePosition }
        var head: JournalHead { log.head }
        func reserve(_ byteCount: Int) throws(JournalError) { try log.reserve(byteCount) }
        func append(_ draft: borrowing CommitDraft, expecting head: Position) throws(JournalError) -> ClosedRange<
            Position
        > {
            try log.append(draft, expecting: head)
        }
        func waitUntilDurable(_ position: Position) throws(JournalError) { try log.waitUntilDurable(position) }
        func waitUntilDurable(_ position: Position) async throws(JournalError) {
            try await log.waitUntilDurable(position)
        }
        func waitForRecords(after position: Position) async throws(JournalError) -> Position {
            try await log.waitForRecords(after: position)
        }
        func close() throws(JournalError) { try log.close() }
        func forEachRecord(
            in positions: ClosedRange<Position>, _ body: (Position, RecordContentState, RawSpan, RawSpan) -> Bool
        ) throws(JournalError) {
            note()
            try log.forEachRecord(in: positions, body)
        }
        func forEachRecord(
            at positions: [Position], _ body: (Position, RecordContentState, RawSpan, RawSpan) -> Bool
        ) throws(JournalError) {
            note()
            try log.forEachRecord(at: positions, body)
        }
    }
#endif
