import Chat
import ChatDomain
import EventJournal
import Foundation
import Locking

/// Measures ten thousand connected followers: F.
///
/// Each follower is a viewer in one thread of a given size. One message is posted every
/// millisecond. The delay lasts from before the command until a follower has the event, so the
/// synced command is its floor.
struct FollowerBenchmarks {
    private static let followers = 10_000
    private static let posts = 3_000
    let directory: String

    func run(_ report: inout Report) async throws {
        guard report.wants("F") else { return }
        for concerned in [1, 10, 100] { try await follow(concerned: concerned, &report) }
    }

    private func follow(concerned: Int, _ report: inout Report) async throws {
        let path = "\(directory)/followers-\(concerned)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let store = try ChatStore.open(path)
        let threads = try await setUp(store, concerned: concerned)
        let start = store.head.position
        let before = residentBytes()
        let delivered = Deliveries(expected: Self.posts * concerned)
        let tasks = (0..<Self.followers).map { number in
            Task {
                let filter = EventFilter(as: .user(Self.user(number)), kinds: [.messagePosted])
                for try await event in store.events(after: start, matching: filter) { delivered.add(event.position) }
            }
        }
        // Until all followers wait.
        try await Task.sleep(for: .seconds(2))
        let after = residentBytes()
        try report.add(
            Figure(
                workload: "F \(concerned) idle", subject: "Chat",
                value: Double(after - before) / Double(Self.followers), unit: "B/follower"
            ))
        var commands = Median()
        let clock = ContinuousClock()
        var next = clock.now
        for number in 0..<Self.posts {
            next += .milliseconds(1)
            try await Task.sleep(until: next)
            let began = clock.now
            delivered.expect(start + Position(number) + 1, at: began)
            try await store.execute(
                .postMessage(
                    id: nil, thread: threads[number % threads.count], body: "Milk?",
                    by: Self.user(number % threads.count * concerned)))
            commands.add(seconds(clock.now - began))
        }
        while !delivered.isComplete { try await Task.sleep(for: .milliseconds(10)) }
        let delays = delivered.sorted()
        for (name, share) in [("median", 0.5), ("99 %", 0.99), ("last", 1.0)] {
            let delay = delays[min(delays.count - 1, Int(Double(delays.count) * share))]
            try report.add(
                Figure(
                    workload: "F \(concerned) delay, \(name)", subject: "Chat", value: delay * 1e6, unit: "us",
                    floor: commands.value * 1e6,
                    ratio: commands.value / delay))
        }
        try store.close()
        for task in tasks { try await task.value }
    }

    /// Registers all users, in threads of `concerned` members each.
    private func setUp(_ store: ChatStore, concerned: Int) async throws -> [ThreadID] {
        let threads = (0..<Self.followers / concerned).map { ThreadID(bits: UInt128($0) + 1 << 64) }
        for start in stride(from: 0, to: Self.followers, by: 1_000) {
            let requests = (start..<start + 1_000).flatMap { number in
                let (user, thread) = (Self.user(number), threads[number / concerned])
                return [
                    CommandRequest(.registerUser(id: user, username: "User \(number)")),
                    CommandRequest(
                        number % concerned == 0
                            ? .openThread(id: thread, name: "Thread \(number)", by: user)
                            : .joinThread(thread: thread, by: user)),
                ]
            }
            for answer in try await store.execute(requests) { _ = try answer.get() }
        }
        return threads
    }

    private static func user(_ number: Int) -> UserID { UserID(bits: UInt128(number) + 1) }

    private func seconds(_ duration: Duration) -> Double { duration / .seconds(1) }
}

/// The start of each command, and the delay until each follower in its thread had the event.
private final class Deliveries: Sendable {
    private struct State {
        var began: [Position: ContinuousClock.Instant] = [:]
        var delays: [Double] = []
    }

    private let state = Lock(State())
    private let expected: Int

    init(expected: Int) { self.expected = expected }

    var isComplete: Bool { state.withLock { $0.delays.count >= expected } }

    func expect(_ position: Position, at instant: ContinuousClock.Instant) {
        state.withLock { $0.began[position] = instant }
    }

    func add(_ position: Position) {
        let now = ContinuousClock.now
        state.withLock { state in
            if let began = state.began[position] { state.delays.append((now - began) / .seconds(1)) }
        }
    }

    func sorted() -> [Double] { state.withLock { $0.delays.sorted() } }
}
