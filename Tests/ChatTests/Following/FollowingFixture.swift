@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Testing

/// A store with the users Ann, Bob and Cat, on a log that counts reads and waits.
///
/// Ann and Bob are members of the thread "Garden".
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
                "journal",
                options: JournalOptions(segmentSize: segmentSize, storage: storage, entropy: SeededEntropy(seed: 1))))
        store = try ChatStore.open(
            log: log,
            options: StoreOptions(clock: ManualClock(), ids: SeededIDs(seed: 1), recentEventCount: recentEventCount))
        try store.executeBlocking(.registerUser(id: Self.ann, username: "Ann"))  // 1
        try store.executeBlocking(.registerUser(id: Self.bob, username: "Bob"))  // 2
        try store.executeBlocking(.registerUser(id: Self.cat, username: "Cat"))  // 3
        // An imported thread has no owner, so that Ann can leave it.
        let opening = ChatCommand.openThread(id: Self.garden, name: "Garden", by: Self.ann)
        _ = try store.executeBlocking([CommandRequest(opening, origin: .imported(sentAt: nil))])[0].get()  // 4, 5
        try store.executeBlocking(.joinThread(thread: Self.garden, by: Self.bob))  // 6
    }

    /// Posts a message and returns its position.
    @discardableResult
    func post(_ body: String, by author: UserID = ann, in thread: ThreadID = garden) throws -> Position {
        try #require(
            try store.executeBlocking(.postMessage(id: nil, thread: thread, body: body, by: author)).positions?
                .upperBound)
    }

    /// Returns a task that collects positions until the sequence ends.
    func follow(_ events: ChatEvents) -> Task<[Position], any Error> {
        Task {
            var positions: [Position] = []
            for try await event in events { positions.append(event.position) }
            return positions
        }
    }

    /// Waits until exactly `count` followers wait.
    func untilWaiting(_ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await Self.until("\(count) waiting followers", sourceLocation: sourceLocation) {
            store.feed.waiterCount == count
        }
    }

    /// Waits until a condition holds, for at most a minute in which the task pool is free.
    static func until(
        _ awaited: String = "a condition", sourceLocation: SourceLocation = #_sourceLocation,
        _ condition: () throws -> Bool
    ) async throws {
        var steps = 60_000
        while try !condition() {
            guard steps > 0 else { throw NeverCame(awaited: awaited, sourceLocation: sourceLocation) }
            // In a task of its own, because the caller may be cancelled.
            _ = await Task { try await Task.sleep(for: .milliseconds(1)) }.result
            steps -= 1
        }
    }
}

/// Returns the `ChatError` that `body` throws.
///
/// Records any other error as an issue.
func chatError(sourceLocation: SourceLocation = #_sourceLocation, of body: () async throws -> Void) async -> ChatError?
{
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
    /// Returns the positions of the next `count` events.
    func prefix(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws -> [Position] {
        var iterator = makeAsyncIterator()
        return try await iterator.next(count, sourceLocation: sourceLocation)
    }
}

extension ChatEvents.AsyncIterator {
    /// Returns the positions of at most `count` next events.
    ///
    /// Throws if they do not arrive in time.
    mutating func next(_ count: Int, sourceLocation: SourceLocation = #_sourceLocation) async throws -> [Position] {
        try await advance(awaiting: "\(count) events after position \(position)", sourceLocation) { iterator in
            var positions: [Position] = []
            while positions.count < count, let event = try await iterator.next() { positions.append(event.position) }
            return positions
        }
    }

    /// Returns the next event.
    ///
    /// Throws if none arrives in time.
    mutating func nextEvent(sourceLocation: SourceLocation = #_sourceLocation) async throws -> FollowedEvent? {
        try await advance(awaiting: "an event after position \(position), or the end", sourceLocation) {
            try await $0.next()
        }
    }

    /// Runs `body` on a copy, because a body that never ends keeps its iterator.
    private mutating func advance<Value: Sendable>(
        awaiting awaited: String, _ sourceLocation: SourceLocation,
        _ body: @escaping @Sendable (inout Self) async throws -> Value
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
