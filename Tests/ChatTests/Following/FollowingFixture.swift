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
    func untilWaiting(_ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await Self.until("\(count) waiting followers", sourceLocation: sourceLocation) { store.feed.waiterCount == count }
    }

    /// Waits until a condition holds.
    static func until(
        _ awaited: String = "a condition", sourceLocation: SourceLocation = #_sourceLocation, _ condition: () throws -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while try !condition() {
            guard ContinuousClock.now < deadline else { throw NeverCame(awaited: awaited, sourceLocation: sourceLocation) }
            await Task.yield()
        }
    }
}

/// The error of the store with which something ends; another one is recorded.
func chatError(sourceLocation: SourceLocation = #_sourceLocation, of body: () async throws -> Void) async -> ChatError? {
    do {
        try await body()
    } catch let error as ChatError {
        return error
    } catch {
        Issue.record(error, sourceLocation: sourceLocation)
    }
    return nil
}

extension ChatEvents {
    /// The positions of the next events.
    func prefix(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws -> [Position] {
        var iterator = makeAsyncIterator()
        return try await iterator.next(count, sourceLocation: sourceLocation)
    }
}

extension ChatEvents.AsyncIterator {
    /// The positions of the next events, at most so many; ends with an error where they do not come.
    mutating func next(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws -> [Position] {
        try await advance(awaiting: "\(count) events after position \(position)", sourceLocation) { iterator in
            var positions: [Position] = []
            while positions.count < count, let event = try await iterator.next() { positions.append(event.position) }
            return positions
        }
    }

    /// The next event; ends with an error where it does not come.
    mutating func nextEvent(sourceLocation: SourceLocation = #_sourceLocation) async throws -> RecordedEvent? {
        try await advance(awaiting: "an event after position \(position), or the end", sourceLocation) { try await $0.next() }
    }

    /// Works on a copy, which a wait without an end keeps; the failure of the body is that of the copy as well.
    private mutating func advance<Value: Sendable>(
        awaiting awaited: String, _ sourceLocation: SourceLocation, _ body: @escaping @Sendable (inout Self) async throws -> Value
    ) async throws -> Value {
        let start = self
        let (result, end) = try await within(awaited, sourceLocation: sourceLocation) {
            var iterator = start
            do {
                let value = try await body(&iterator)
                return (Result<Value, any Error>.success(value), iterator)
            } catch {
                return (.failure(error), iterator)
            }
        }
        self = end
        return try result.get()
    }
}
