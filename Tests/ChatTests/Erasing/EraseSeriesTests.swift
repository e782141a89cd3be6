import ChatTesting
import Foundation
import TestSupport
import Testing

/// Power failures at every operation of many histories with erasures, backups and readers: no state
/// shows or keeps the content of an acknowledged erasure, and none lacks other content.
///
/// The default run tries a few states. The long run tries as many states as the environment
/// variable says, half of them here and the others in the explorers of the journal alone:
///
///     CHATJOURNAL_ERASURE_STATES=220000 swift test -c release -Xswiftc -enable-testing --filter EraseSeriesTests
@Suite struct EraseSeriesTests {
    private static let longRun = ProcessInfo.processInfo.environment["CHATJOURNAL_ERASURE_STATES"].flatMap { Int($0) }
    private static let states = longRun ?? (Repetitions.areAll ? 2_000 : 24)

    @Test func erasuresOfManyHistoriesSurvivePowerCuts() throws {
        try explore(share: 4) { ErasureLife.erasing($0) }
    }

    @Test func restoresOfManyHistoriesSurvivePowerCuts() throws {
        try explore(share: 8, ErasureLife.restoring)
    }

    @Test func backupsOfManyHistoriesSurvivePowerCuts() throws {
        try explore(share: 8, ErasureLife.copying)
    }

    private func explore(share: Int, _ history: @escaping (UInt64) throws -> CrashExplorer<ErasureModel>) throws {
        var series = CrashSeries { seed in
            var explorer: CrashExplorer<ErasureModel>
            do { explorer = try history(seed) } catch {
                Issue.record("the history of seed \(seed) cannot be made")
                throw error
            }
            // Each history has its own sample: otherwise some samples have a state in few histories
            // only.
            let sample = Repetitions.seed &+ seed &* 0x9E37_79B9_7F4A_7C15
            explorer.sampling = CrashSampling(oneIn: Self.states > 1_000 ? 5 : 250, seed: sample)
            return explorer
        }
        let report = try series.run(states: Self.states / share)
        print(report.isReplay ? "replayed: \(report)" : "\(report); seeds below \(series.nextSeed)")
        if !report.failures.isEmpty { Issue.record("\(report)") }
        #expect(report.isReplay || report.states >= Self.states / share)
    }
}
