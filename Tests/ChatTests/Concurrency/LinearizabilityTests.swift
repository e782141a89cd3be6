@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import TestSupport
import Testing

/// Concurrent commands and queries are linearizable.
///
/// `CHATJOURNAL_LINEARIZABLE_HISTORIES` sets the number of histories, 60 by default. A failure
/// prints the whole history, because a seed alone does not reproduce a run on threads. A run on a
/// ``SeededExecutor`` is reproducible.
@Suite struct LinearizabilityTests {
    @Test func concurrentHistoriesAreLinearizable() async throws {
        try await check { seed in
            let history = try ConcurrentHistory(seed: seed)
            return (history.setting, try await history.run())
        }
    }

    @Test func seededHistoriesAreLinearizable() async throws {
        try await check { seed in
            let executor = SeededExecutor(seed: seed)
            let history = try ConcurrentHistory(seed: seed, on: executor)
            return (history.setting, try executor.run { try await history.run() })
        }
    }

    /// The members of a set open its direct thread at once, while they block each other, leave and
    /// are erased.
    @Test func directThreadsAreOpenedOnce() async throws {
        try await check(isOfEverything: false) { seed in
            let history = try ConcurrentHistory(seed: seed, about: .directThreads)
            let checker = try await history.run()
            let sets = checker.events.filter { $0.event.kind == .directOpened }.map { Set($0.event.people) }
            #expect(Set(sets).count == sets.count, "seed \(seed)")
            return (history.setting, checker)
        }
    }

    func check(
        _ number: Int? = nil, isOfEverything: Bool = true,
        _ run: (UInt64) async throws -> (setting: String, checker: HistoryChecker)
    ) async throws {
        let count =
            number ?? ProcessInfo.processInfo.environment["CHATJOURNAL_LINEARIZABLE_HISTORIES"].flatMap { Int($0) }
            ?? Repetitions.few(30, of: 60)
        let seeds = Seeds.seeds(count)
        var tally = Tally()
        for seed in seeds {
            let (setting, checker) = try await run(seed)
            let problems = checker.problems()
            #expect(problems.isEmpty, "seed \(seed), \(setting)\n\(report(problems, checker))")
            if !problems.isEmpty { return }
            tally.count(checker)
        }
        // Without overlapping calls the check would prove nothing.
        if seeds.count >= 20, isOfEverything { #expect(tally.isOfEverything, "\(tally)") }
        if count > 60 { print("\(seeds.count) histories: \(tally)") }
    }

    @Test(arguments: UnsteadyLog.Flaw.allCases) func injectedFlawIsFoundReproducibly(flaw: UnsteadyLog.Flaw) throws {
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
        Issue.record("the flaw \(flaw) was not found")
    }

    @Test(arguments: UnsteadyLog.Flaw.allCases) func injectedFlawIsFound(flaw: UnsteadyLog.Flaw) async throws {
        let expected: HistoryProblem.Kind = flaw == .goesBack ? .stale : .beforeDurable
        for seed in 1...100 as ClosedRange<UInt64> {
            let problems = try await ConcurrentHistory(seed: seed, flaw: flaw).run().problems()
            if problems.contains(where: { $0.kind == expected }) { return }
        }
        Issue.record("the flaw \(flaw) was not found")
    }

    private func report(_ problems: [HistoryProblem], _ checker: HistoryChecker) -> String {
        let history = checker.operations.map(\.description).joined(separator: "\n")
        return problems.map(\.description).joined(separator: "\n") + "\nthe history:\n" + history
    }
}

/// Counts of the features that make a history worth checking.
private struct Tally: CustomStringConvertible {
    var operations = 0
    /// Operations in progress at another's invocation.
    var overlaps = 0
    var events = 0
    var refused = 0
    var duplicates = 0
    var unchanged = 0

    var isOfEverything: Bool {
        overlaps > operations / 10 && events > 0 && refused > 0 && duplicates > 0 && unchanged > 0
    }

    var description: String {
        "\(operations) operations, \(overlaps) overlapping, \(events) events, \(refused) rejected, \(duplicates) duplicates, \(unchanged) unchanged"
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
                case .success(let receipt):
                    if receipt.isDuplicate { duplicates += 1 } else if receipt.positions == nil { unchanged += 1 }
                }
            }
        }
    }
}
