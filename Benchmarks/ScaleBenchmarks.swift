import Chat
import EventJournal
import Foundation

/// Measures the cost of an event in histories of 10,000 messages, ten times as many, and so on.
struct ScaleBenchmarks {
    let directory: String
    let messages: Int
    let repetitions: Int
    /// Returns the history with a number of messages; writes it first if it does not exist.
    let history: (Int) throws -> WrittenHistory

    private var lengths: [Int] {
        let lengths = [10_000, 100_000, 1_000_000, 10_000_000].filter { $0 < messages } + [messages]
        return lengths.count < 2 ? [] : lengths
    }

    /// The seconds for each event, at each length.
    private struct Curve {
        var workload: String
        var subject: String
        var target: Double
        var costs: [Median] = []
    }

    func run(_ report: inout Report) async throws {
        guard report.wants("scale"), !lengths.isEmpty else { return }
        var curves = [
            Curve(workload: "W3b", subject: "Journal", target: 1 / 1.3),
            Curve(workload: "W3b", subject: "Chat", target: 1 / 2.5),
            Curve(workload: "R1", subject: "Chat", target: 1 / 1.3),
            Curve(workload: "R1b", subject: "Chat", target: 1 / 2.5),
        ]
        for length in lengths {
            // A short run ends before the machine has settled, so short runs are repeated more
            // often.
            let count = max(repetitions, min(25, repetitions * messages / length))
            let costs = [try await writing(length, count), try replaying(length, count)].flatMap { $0 }
            for (index, cost) in costs.enumerated() { curves[index].costs.append(cost) }
        }
        for curve in curves {
            let first = curve.costs[0].value
            for (length, cost) in zip(lengths, curve.costs).dropFirst() {
                try report.add(
                    Figure(
                        workload: "scale \(curve.workload) at \(length)", subject: curve.subject,
                        value: cost.value * 1e9, unit: "ns/event",
                        floor: first * 1e9, ratio: first / cost.value, target: curve.target, spread: cost.spread))
            }
        }
    }

    private func writing(_ length: Int, _ repetitions: Int) async throws -> [Median] {
        let input = try WriteInput(count: length, in: directory)
        defer { discard(input.prepared) }
        let phase = WritePhase(
            name: "W3b", isDurable: false, batch: WriteInput.batch, count: length, limit: .seconds(86_400))
        let writers: [any EventWriter] = [JournalWriter(), ChatWriter()]
        var costs = writers.map { _ in Median() }
        for _ in 0..<repetitions {
            for (index, writer) in writers.enumerated() {
                let path = "\(directory)/scale"
                discard(path)
                settleDisk()
                costs[index].add(1 / (try await writer.rate(of: phase, input, in: path)))
                discard(path)
            }
        }
        return costs
    }

    private func replaying(_ length: Int, _ repetitions: Int) throws -> [Median] {
        let history = try history(length)
        var (replay, rebuild) = (Median(), Median())
        let journal = try Journal.openReadOnly(history.path, options: WrittenHistory.options.journal)
        defer { try? journal.close() }
        let events = Double(journal.durablePosition)
        for _ in 0..<repetitions {
            replay.add(try ReplayBenchmarks.replaySeconds(journal, .value) / events)
            rebuild.add(try seconds { try history.open().close() } / events)
        }
        return [replay, rebuild]
    }
}
