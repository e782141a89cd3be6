@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import TestSupport
import Testing

/// Concurrent commands and questions are answered as if they came one after another, in an order that keeps the real time between them.
///
/// `CHATJOURNAL_LINEARIZABLE_HISTORIES` says how many histories, each from a seed; 60 unless it is set. A failure prints the whole history, because of one on threads the
/// seed alone does not bring it back; of one on a ``SeededExecutor`` it does.
@Suite struct LinearizabilityTests {
    @Test func concurrentHistoriesAreLinearizable() async throws {
        try await check { seed in
            let history = try ConcurrentHistory(seed: seed)
            return (history.setting, try await history.run())
        }
    }

    @Test func historiesThatReplayFromTheirSeedAreLinearizable() async throws {
        try await check { seed in
            let executor = SeededExecutor(seed: seed)
            let history = try ConcurrentHistory(seed: seed, on: executor)
            return (history.setting, try executor.run { try await history.run() })
        }
    }

    private func check(_ run: (UInt64) async throws -> (setting: String, checker: HistoryChecker)) async throws {
        let count =
            ProcessInfo.processInfo.environment["CHATJOURNAL_LINEARIZABLE_HISTORIES"].flatMap { Int($0) } ?? Repetitions.few(30, of: 60)
        let seeds = Seeds.seeds(count)
        var tally = Tally()
        for seed in seeds {
            let (setting, checker) = try await run(seed)
            let problems = checker.problems()
            #expect(problems.isEmpty, "seed \(seed), \(setting)\n\(report(problems, checker))")
            if !problems.isEmpty { return }
            tally.count(checker)
        }
        // Histories of calls that never meet would show nothing.
        if seeds.count >= 20 { #expect(tally.isOfEverything, "\(tally)") }
        if count > 60 { print("\(seeds.count) histories: \(tally)") }
    }

    @Test(arguments: UnsteadyLog.Flaw.allCases) func aPlantedFlawIsFoundAndReplays(flaw: UnsteadyLog.Flaw) throws {
        func problems(_ seed: UInt64) throws -> [HistoryProblem] {
            let executor = SeededExecutor(seed: seed)
            let history = try ConcurrentHistory(seed: seed, flaw: flaw, on: executor)
            return try executor.run { try await history.run() }.problems()
        }
        let expected: HistoryProblem.Kind = flaw == .goesBack ? .stale : .beforeDurable
        for seed in 1...100 as ClosedRange<UInt64> {
            let found = try problems(seed)
            guard found.contains(where: { $0.kind == expected }) else { continue }
            #expect(try problems(seed).map(\.description) == found.map(\.description))
            return
        }
        Issue.record("a log that \(flaw) went unnoticed")
    }

    @Test(arguments: UnsteadyLog.Flaw.allCases) func aPlantedFlawIsFound(flaw: UnsteadyLog.Flaw) async throws {
        let expected: HistoryProblem.Kind = flaw == .goesBack ? .stale : .beforeDurable
        for seed in 1...100 as ClosedRange<UInt64> {
            let problems = try await ConcurrentHistory(seed: seed, flaw: flaw).run().problems()
            if problems.contains(where: { $0.kind == expected }) { return }
        }
        Issue.record("a log that \(flaw) went unnoticed")
    }

    private func report(_ problems: [HistoryProblem], _ checker: HistoryChecker) -> String {
        let history = checker.operations.map(\.description).joined(separator: "\n")
        return problems.map(\.description).joined(separator: "\n") + "\nthe history:\n" + history
    }
}

/// How often what makes a history worth checking came about.
private struct Tally: CustomStringConvertible {
    var operations = 0
    /// Operations that were under way when another was invoked.
    var overlaps = 0
    var events = 0
    var refused = 0
    var duplicates = 0
    var unchanged = 0

    var isOfEverything: Bool { overlaps > operations / 10 && events > 0 && refused > 0 && duplicates > 0 && unchanged > 0 }

    var description: String {
        "\(operations) operations, \(overlaps) overlapping, \(events) events, \(refused) refused, \(duplicates) duplicates, \(unchanged) unchanged"
    }

    mutating func count(_ checker: HistoryChecker) {
        operations += checker.operations.count
        events += checker.events.count
        overlaps += zip(checker.operations, checker.operations.dropFirst()).count { $0.returned > $1.invoked }
        for operation in checker.operations {
            guard case .results(let results) = operation.answer else { continue }
            for result in results {
                switch result {
                case .failure: refused += 1
                case .success(let receipt): if receipt.isDuplicate { duplicates += 1 } else if receipt.positions == nil { unchanged += 1 }
                }
            }
        }
    }
}
