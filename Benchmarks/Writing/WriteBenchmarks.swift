import EventJournal
import Foundation

/// A store that events are written to.
protocol EventWriter {
    /// The name of the store in the report.
    var subject: String { get }

    /// Whether the store supports a phase.
    func canWrite(_ phase: WritePhase) -> Bool

    /// Writes the first events of the input into a new directory.
    ///
    /// - Returns: The events per second.
    func rate(of phase: WritePhase, _ input: WriteInput, in directory: String) async throws -> Double
}

extension EventWriter {
    func canWrite(_ phase: WritePhase) -> Bool { true }
}

/// Measures writing: W1 to W4, in turns with plain system calls that write the same bytes.
struct WriteBenchmarks {
    let directory: String
    let messages: Int
    let repetitions: Int
    let isQuick: Bool
    var storesTree = true

    /// A phase and its targets.
    private struct Row {
        var phase: WritePhase
        var journal: Double
        var chat: Double
    }

    private var rows: [Row] {
        let (w1, w4) = isQuick ? (1_000, 10_000) : (4_000, 40_000)
        let w2 = min(messages, 500_000)
        return [
            Row(phase: WritePhase(name: "W1", isDurable: true, count: w1), journal: 0.93, chat: 0.90),
            Row(
                phase: WritePhase(name: "W1 async", isDurable: true, callers: .task, count: w1), journal: 0.70,
                chat: 0.70),
            Row(
                phase: WritePhase(name: "W2", isDurable: true, batch: WriteInput.batch, count: w2), journal: 0.70,
                chat: 0.30),
            Row(phase: WritePhase(name: "W3", isDurable: false, count: messages), journal: 0.80, chat: 0.50),
            Row(
                phase: WritePhase(
                    name: "W3b", isDurable: false, batch: WriteInput.batch, count: messages, limit: .seconds(86_400)),
                journal: 0.60,
                chat: 0.20),
            Row(
                phase: WritePhase(name: "W4 threads", isDurable: true, callers: .threads(64), count: w4), journal: 1.25,
                chat: 1.0),
            Row(
                phase: WritePhase(name: "W4 tasks", isDurable: true, callers: .tasks(64), count: w4), journal: 1.25,
                chat: 1.0),
        ]
    }

    func run(_ report: inout Report) async throws {
        let rows = rows.filter { report.wants($0.phase.name) }
        if rows.isEmpty { return }
        let input = try WriteInput(count: rows.map(\.phase.count).max() ?? 0, in: directory)
        defer { discard(input.prepared) }
        for row in rows { try await measure(row, input, &report) }
    }

    private func measure(_ row: Row, _ input: WriteInput, _ report: inout Report) async throws {
        // No page of 16 million records is ever due.
        let layout = storesTree ? TreeLayout() : TreeLayout(pageHeight: 24)
        var writers: [(writer: any EventWriter, target: Double?)] = [
            (JournalWriter(treeLayout: layout), row.journal), (ChatWriter(treeLayout: layout), row.chat),
        ]
        #if PeerBenchmarks
            writers.append((SQLiteWriter(), nil))
        #endif
        writers.removeAll { !$0.writer.canWrite(row.phase) }
        var rates = writers.map { _ in Median() }
        var floor = Median()
        var growing = Median()
        for _ in 0..<repetitions {
            floor.add(try floorRate(of: row.phase, input.events, preallocated: true))
            for (index, writer) in writers.enumerated() {
                let path = "\(directory)/\(row.phase.name)"
                discard(path)
                settleDisk()
                rates[index].add(try await writer.writer.rate(of: row.phase, input, in: path))
                discard(path)
            }
            if row.phase.name == "W1" { growing.add(try floorRate(of: row.phase, input.events, preallocated: false)) }
        }
        for (index, writer) in writers.enumerated() {
            try report.add(
                Figure(
                    workload: row.phase.name, subject: writer.writer.subject, value: rates[index].value,
                    unit: "events/s",
                    floor: floor.value, ratio: rates[index].value / floor.value, target: writer.target,
                    spread: rates[index].spread))
        }
        if !growing.values.isEmpty {
            try report.add(
                Figure(
                    workload: row.phase.name, subject: "a file that grows", value: growing.value, unit: "events/s",
                    floor: floor.value,
                    ratio: growing.value / floor.value, spread: growing.spread))
        }
    }

    private func floorRate(of phase: WritePhase, _ events: PackedEvents, preallocated: Bool) throws -> Double {
        let file = try WriteFloor("\(directory)/floor", preallocated: preallocated)
        settleDisk()
        switch phase.callers {
        case .one, .task: return try phase.rate { range in try file.append(events, range, durable: phase.isDurable) }
        case .threads(let count), .tasks(let count):
            return try file.appendConcurrently(
                events, count: phase.count, callers: count, seconds: phase.limit / .seconds(1))
        }
    }
}
