import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

/// After an answer, every query shows the events that the answer depends on.
///
/// The events may belong to another caller's command.
@Suite(.timeLimit(.minutes(2))) struct ReadYourWritesTests {
    private let ann = UserID(bits: 1)
    private let eve = UserID(bits: 5)

    /// A command that depends on another command whose caller still waits.
    enum Following: CaseIterable {
        case accepted, duplicate, refused, unchanged

        func request(_ eve: UserID) -> CommandRequest {
            switch self {
            case .accepted: CommandRequest(.setPostcode(postcode: "SW1A 1AA", by: eve))
            case .duplicate: CommandRequest(.registerUser(id: eve, username: "Eve"))
            case .refused: CommandRequest(.registerUser(id: UserID(bits: 6), username: "eve"))
            case .unchanged: CommandRequest(.changeUsername(username: "Eve", by: eve))
            }
        }
    }

    /// Returns a store, its log, and a task that has registered Eve and waits for durability.
    private func makeStore() async throws -> (HoldingLog, ChatStore, Task<Receipt, any Error>) {
        let log = HoldingLog()
        let store = try ChatStore.open(log: log, options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1)))
        try await store.execute(.registerUser(id: ann, username: "Ann"))
        log.holdNextWait()
        let eve = eve
        let task = Task { try await store.execute(.registerUser(id: eve, username: "Eve", subject: "eve")) }
        try await FollowingFixture.until("a blocked wait") { log.isHolding }
        #expect(try !store.isUser(eve) && store.userID(named: "Eve") == nil && store.head.position == 1)
        return (log, store, task)
    }

    private func expectEve(in store: ChatStore) throws {
        #expect(
            try store.isUser(eve) && store.userID(named: "eve") == eve
                && store.reader(as: .host).user(eve).username == "Eve")
        #expect(store.userID(withSubject: "eve") == eve && store.statistics.userCount == 2)
        #expect(try store.allEvents().count >= 2)
    }

    @Test(arguments: Following.allCases) func queriesShowAnswerOfSynchronousExecute(_ following: Following) async throws
    {
        let (log, store, task) = try await makeStore()
        try execute(following, store)
        try expectEve(in: store)
        log.letGo()
        _ = try await task.value
    }

    private func execute(_ following: Following, _ store: ChatStore) throws {
        _ = try store.executeBlocking([following.request(eve)])
    }

    @Test(arguments: Following.allCases) func queriesShowAnswerOfAsynchronousExecute(_ following: Following)
        async throws
    {
        let (log, store, task) = try await makeStore()
        _ = try await store.execute([following.request(eve)])
        try expectEve(in: store)
        log.letGo()
        _ = try await task.value
    }

    @Test func queriesShowReturnedHead() async throws {
        let (log, store, task) = try await makeStore()
        try waitForEverything(log)
        #expect(store.head.position == 2)
        try expectEve(in: store)
        log.letGo()
        _ = try await task.value
    }

    @Test func queriesAcceptDurablePosition() async throws {
        let (log, store, task) = try await makeStore()
        try waitForEverything(log)
        #expect(try store.isUser(eve, asOf: .position(2)))
        log.letGo()
        _ = try await task.value
    }

    private func waitForEverything(_ log: HoldingLog) throws { try log.waitUntilDurable(log.lastPosition) }
}
