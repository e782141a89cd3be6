import Chat
import ChatDomain
import EventJournal
import Foundation
import Projections

/// Measures queries of custom projections with several checkpoints: P.
struct ProjectionBenchmarks {
    private static let count = 16
    /// A rebuild with these options writes checkpoints at even distances.
    private static let writing = CheckpointOptions(interval: 1, atClose: nil, afterReplay: nil, count: count)
    private static let reading = CheckpointOptions(interval: nil, atClose: nil, afterReplay: nil, count: count)

    let history: WrittenHistory
    let directory: String
    let repetitions: Int

    func run(_ report: inout Report) throws {
        guard report.wants("P") else { return }
        // Checkpoints are written next to a copy: the history serves other workloads.
        let path = "\(directory)/projection"
        try makeDirectory(directory)
        discard(path)
        defer { discard(path) }
        try FileManager.default.copyItem(atPath: history.path, toPath: path)
        let store = try ChatStore.open(path, options: WrittenHistory.options)
        // The middle of the posts: a small history begins with more registrations than posts.
        let middle = try store.project(PostPositions.self).readBlocking { model, _ in model.positions[model.posts / 2] }
        try measure(PostCounts.self, store, asOf: .position(middle), &report)
        try measure(PostPositions.self, store, asOf: .position(middle), &report)
        try store.close()
    }

    private func measure<Model: MeasuredProjection>(
        _ model: Model.Type, _ store: ChatStore, asOf middle: AsOf, _ report: inout Report
    ) throws {
        func read(_ moment: AsOf) throws -> Double {
            try seconds {
                let posts = try store.project(model, checkpoints: Self.reading).readBlocking(asOf: moment) { model, _ in
                    model.posts
                }
                precondition(posts > 0, "the projection must have applied events")
            }
        }
        var (replayed, asOf, present, current) = (Median(), Median(), Median(), Median())
        for _ in 0..<repetitions { replayed.add(try read(middle)) }
        let rebuild = try seconds { try store.project(model, checkpoints: Self.writing).rebuildBlocking() }
        for _ in 0..<repetitions {
            asOf.add(try read(middle))
            present.add(try read(.now))
        }
        try store.project(model, checkpoints: Self.reading).writeCheckpoint()
        for _ in 0..<repetitions { current.add(try read(.now)) }
        for (what, median, floor, target) in [
            ("as of the middle", asOf, present, 1 / 3.0),
            ("as of the middle, by now without new events", asOf, current, nil),
            ("as of the middle, without checkpoints", replayed, present, nil),
        ] as [(String, Median, Median, Double?)] {
            try report.add(
                Figure(
                    workload: "P \(Model.name), \(what)", subject: "Chat", value: median.value * 1e3, unit: "ms",
                    floor: floor.value * 1e3,
                    ratio: floor.value / median.value, target: target, spread: median.spread))
        }
        try report.add(Figure(workload: "P \(Model.name), rebuild", subject: "Chat", value: rebuild * 1e3, unit: "ms"))
    }
}

private protocol MeasuredProjection: CheckpointedProjection {
    /// The number of messages and replies.
    var posts: Int { get }
}

/// A small state, encoded as JSON: the number of posts of each thread and of each user.
private struct PostCounts: MeasuredProjection, Codable {
    static let name = "counts"
    static let contents = ContentSelection.indexed
    private var threads: [ThreadID: Int] = [:]
    private var users: [UserID: Int] = [:]
    var posts: Int { threads.values.reduce(0, +) }

    mutating func apply(_ event: ChatEvent, at position: Position) {
        guard event.kind == .messagePosted || event.kind == .replyPosted, let user = event.user else { return }
        users[user, default: 0] += 1
        if let thread = event.thread { threads[thread, default: 0] += 1 }
    }
}

/// A state that grows with the history, in an encoding of its own: the position of each post.
private struct PostPositions: MeasuredProjection {
    static let name = "positions"
    static let contents = ContentSelection.indexed
    private(set) var positions: [Position] = []
    var posts: Int { positions.count }

    init() {}

    mutating func apply(_ event: ChatEvent, at position: Position) {
        if event.kind == .messagePosted || event.kind == .replyPosted { positions.append(position) }
    }

    func encodedState() throws -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(positions.count * 8)
        for position in positions {
            for shift in stride(from: 0, to: 64, by: 8) {
                bytes.append(UInt8(truncatingIfNeeded: position >> Position(shift)))
            }
        }
        return bytes
    }

    init(encodedState: [UInt8]) throws {
        positions = stride(from: 0, to: encodedState.count, by: 8).map { start in
            (0..<8).reduce(0) { $0 | Position(encodedState[start + $1]) << Position(8 * $1) }
        }
    }
}
