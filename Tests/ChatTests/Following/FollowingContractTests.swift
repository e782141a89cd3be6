@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Locking
import TestSupport
import Testing

/// Random subscriptions against concurrent writers and segment rotations.
///
/// Each follower receives exactly the durable events after its position that pass its filter: once,
/// in order.
///
/// `CHATJOURNAL_FOLLOW_ROUNDS` sets the number of rounds, 200 by default. Each round has one seed
/// and four followers.
@Suite struct FollowingContractTests {
    @Test func followersReceiveEachEventAfterTheirPositionOnce() async throws {
        let rounds =
            ProcessInfo.processInfo.environment["CHATJOURNAL_FOLLOW_ROUNDS"].flatMap { Int($0) }
            ?? Repetitions.few(60, of: 200)
        for seed in Seeds.seeds(rounds) {
            let round = try FollowingRound(seed: seed)
            try await within(limit: .seconds(180), "the end of the round of seed \(seed)") { try await round.run() }
            let problems = round.problems
            #expect(problems == [], "seed \(seed)")
            if !problems.isEmpty { return }
        }
    }
}

/// One round: a journal, its writers and its followers.
final class FollowingRound: Sendable {
    struct Follower {
        var start: Position
        var filter: EventFilter
        var received: [Delivery] = []
        var isOver = false
    }

    private let seed: UInt64
    private let store: ChatStore
    private let log: GatedLog
    private let followers: Lock<[Follower]>
    private let found = Lock<[String]>([])

    var problems: [String] { found.withLock { $0 } }

    init(seed: UInt64, in place: LogPlace = .memory) throws {
        self.seed = seed
        var random = SeededRandom(seed: Self.mixed(seed, 0))
        let options = JournalOptions(
            durability: random.oneIn(2) ? .synced : .written, segmentSize: pick([700, 2_000, 20_000], &random),
            storage: MemoryStorage(),
            entropy: SeededEntropy(seed: seed))
        log = GatedLog(try place.open(options))
        store = try ChatStore.open(
            log: log,
            options: StoreOptions(
                clock: ManualClock(), ids: SeededIDs(seed: seed), recentEventCount: pick([1, 3, 17, 4_096], &random)))
        followers = Lock([])
    }

    func run() async throws {
        var random = SeededRandom(seed: Self.mixed(seed, 1))
        try await write(Int.random(in: 0...40, using: &random), as: 0)
        let endsByClosing = random.oneIn(2)
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            for number in 0..<3 { tasks.addTask { try await self.follow(as: number) } }
            try await withThrowingTaskGroup(of: Void.self) { writers in
                for number in 1...2 { writers.addTask { try await self.write(20, as: number) } }
                try await writers.waitForAll()
            }
            // The last follower subscribes after all writes.
            tasks.addTask { try await self.follow(as: 3) }
            await untilEverythingCame()
            let all = try store.allEvents()
            if endsByClosing { try store.close() } else { tasks.cancelAll() }
            try await tasks.waitForAll()
            check(all)
        }
        if !endsByClosing { try store.close() }
    }

    private func write(_ count: Int, as writer: Int) async throws {
        var generator = CommandGenerator(seed: Self.mixed(seed, 10 + writer))
        var random = SeededRandom(seed: Self.mixed(seed, 20 + writer))
        var left = count
        while left > 0 {
            // Some batches exceed the capacity of the ring.
            let batch = (0..<min(left, random.oneIn(5) ? 12 : 1)).map { _ in generator.nextRequest() }
            left -= batch.count
            _ = try await store.execute(batch)
            if random.oneIn(3) { await Task.yield() }
        }
    }

    private func follow(as number: Int) async throws {
        var random = SeededRandom(seed: Self.mixed(seed, 30 + number))
        for _ in 0..<Int.random(in: 0...20, using: &random) { await Task.yield() }
        let start = Position.random(in: 0...log.durablePosition, using: &random)
        let filter = try filter(&random)
        let index = followers.withLock { followers in
            followers.append(Follower(start: start, filter: filter))
            return followers.count - 1
        }
        let events =
            random.oneIn(3)
            ? store.events(after: try store.resumeToken(after: start), matching: filter)
            : store.events(after: start, matching: filter)
        var since = log.durablePosition
        for try await event in events {
            let durable = log.durablePosition
            if event.position > durable { note("event \(event.position) was delivered at durable position \(durable)") }
            let delivery = Delivery(event: event.recorded, since: since, until: durable)
            followers.withLock { $0[index].received.append(delivery) }
            since = durable
            // Some followers are slower than the writers.
            while random.oneIn(4) { await Task.yield() }
        }
        followers.withLock { $0[index].isOver = true }
    }

    /// Returns a random filter for existing users and threads.
    private func filter(_ random: inout SeededRandom) throws -> EventFilter {
        let facts = try store.allEvents().map(\.event)
        let users = Array(Set(facts.compactMap(\.user))).sorted()
        let threads = Array(Set(facts.compactMap(\.thread))).sorted()
        var filter = EventFilter(as: .host)
        if random.oneIn(3), !threads.isEmpty { filter.threads = [pick(threads, &random), pick(threads, &random)] }
        if random.oneIn(4), !users.isEmpty { filter.users = [pick(users, &random), pick(users, &random)] }
        if random.oneIn(4) { filter.kinds = Set((0..<4).map { _ in pick(EventKind.allCases, &random) }) }
        if random.oneIn(4) { filter.outwardCodes = Set(["SW1A", "E1"].compactMap { OutwardCode($0) }) }
        if random.oneIn(2), let viewer = users.randomElement(using: &random), try store.isUser(viewer) {
            filter.viewer = .user(viewer)
        }
        return filter
    }

    /// Waits until every follower has received its required events.
    ///
    /// `check` finds surplus events.
    private func untilEverythingCame() async {
        guard let all = try? store.allEvents() else { return note("reading the events failed") }
        var required: [Set<Position>] = []
        for turn in 0... {
            let followers = followers.withLock { $0 }
            for follower in followers.dropFirst(required.count) {
                required.append(
                    Set(NaiveFilter(filter: follower.filter).required(all, after: follower.start).map(\.position)))
            }
            let late = zip(followers, required).filter { !$1.isSubset(of: $0.received.map(\.event.position)) }.map(\.0)
            if followers.count == 4, late.isEmpty { return }
            if turn == 30_000 { return note("followers still wait after \(turn) turns: \(late)") }
            // Followers are fast as a rule; a turn of one that is late takes a millisecond or more.
            if turn > 1_000 { try? await Task.sleep(for: .milliseconds(1)) }
            for _ in 0..<20 { await Task.yield() }
        }
    }

    private func check(_ all: [RecordedEvent]) {
        for follower in followers.withLock({ $0 }) {
            if let problem = NaiveFilter(filter: follower.filter).problem(all, after: follower.start, follower.received)
            {
                note("after \(follower.start) \(follower.filter): \(problem)")
            }
            if !follower.isOver { note("a follower did not end") }
        }
    }

    /// Returns a separate seed for each part of the round.
    private static func mixed(_ seed: UInt64, _ part: Int) -> UInt64 {
        var random = SeededRandom(seed: seed)
        return (0...part).reduce(0) { _, _ in random.next() }
    }

    private func note(_ problem: String) { found.withLock { $0.append(problem) } }
}

private func pick<Value>(_ values: [Value], _ random: inout SeededRandom) -> Value {
    values[Int.random(in: values.indices, using: &random)]
}
