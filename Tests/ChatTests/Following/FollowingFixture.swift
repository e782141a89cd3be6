@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

/// A store with Ann, Bob and Cat, a garden in which the first two are, and a log that tells what following costs.
struct FollowingFixture {
    static let ann = UserID(bits: 1)
    static let bob = UserID(bits: 2)
    static let cat = UserID(bits: 3)
    static let garden = ThreadID(bits: 31)

    let storage = MemoryStorage()
    let log: GatedLog
    let store: ChatStore

    init(recentEventCount: Int = 4_096, segmentSize: UInt64 = 2_000) throws {
        log = GatedLog(
            try Journal.open(
                "journal", options: JournalOptions(segmentSize: segmentSize, storage: storage, entropy: SeededEntropy(seed: 1))))
        store = try ChatStore.open(
            log: log, options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1), recentEventCount: recentEventCount))
        try store.execute(.registerUser(user: Self.ann, username: "Ann"))  // 1
        try store.execute(.registerUser(user: Self.bob, username: "Bob"))  // 2
        try store.execute(.registerUser(user: Self.cat, username: "Cat"))  // 3
        try store.execute(.openThread(thread: Self.garden, name: "Garden", by: Self.ann))  // 4, 5
        try store.execute(.joinThread(user: Self.bob, thread: Self.garden))  // 6
    }

    /// Posts into the garden.
    @discardableResult
    func post(_ body: String, by author: UserID = ann, in thread: ThreadID = garden) throws -> Position {
        try #require(try store.execute(.postMessage(message: nil, thread: thread, author: author, body: body)).positions?.upperBound)
    }

    /// Follows in a task that ends with the sequence.
    func follow(_ events: ChatEvents) -> Task<[Position], any Error> {
        Task {
            var positions: [Position] = []
            for try await event in events { positions.append(event.position) }
            return positions
        }
    }

    /// Waits until so many followers wait.
    func untilWaiting(_ count: Int = 1) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while store.feed.waiterCount != count {
            try #require(ContinuousClock.now < deadline, "\(store.feed.waiterCount) wait, not \(count)")
            await Task.yield()
        }
    }

    /// Waits until a condition holds.
    static func until(_ condition: () throws -> Bool) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !condition() {
            try #require(ContinuousClock.now < deadline, "it never came")
            await Task.yield()
        }
    }
}

/// The error with which something ends.
func chatError(of body: () async throws -> Void) async -> ChatError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? ChatError
    }
}

extension ChatEvents {
    /// The positions of the next events.
    func prefix(_ count: Int) async throws -> [Position] {
        var iterator = makeAsyncIterator()
        return try await iterator.next(count)
    }
}

extension ChatEvents.AsyncIterator {
    /// The positions of the next events, at most so many.
    mutating func next(_ count: Int) async throws -> [Position] {
        var positions: [Position] = []
        while positions.count < count, let event = try await next() { positions.append(event.position) }
        return positions
    }
}
