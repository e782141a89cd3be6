import ChatTesting
import EventJournal
import Foundation
import Testing

/// Power cuts at every operation of a journal's life, on an honest disk: opening succeeds, every promise is kept, nothing else is there.
///
/// Of some thousands of states a sample is tried, in the long form all. The long run tries as many as the environment variable asks for, best in a
/// release build:
///
///     CHATJOURNAL_CRASH_STATES=1000000 swift test -c release -Xswiftc -enable-testing --filter JournalCrashTests
///
/// A failure prints the way to its state; `CHATJOURNAL_CRASH='...' swift test` tries that state alone, also one of the long run.
@Suite struct JournalCrashTests {
    @Test(arguments: JournalWorkload.allCases) func everyPromiseIsKept(_ workload: JournalWorkload) throws {
        var explorer = workload.explorer(seed: 1, commits: 6)
        explorer.exhaustiveOutcomes = workload.isSlow ? 2 : 4
        explorer.outcomesPerCrash = workload.isSlow ? 2 : 8
        try explorer.check(atLeast: 200)
    }

    /// A fault, then power cuts: what a failed operation leaves must not make recovery refuse or forget.
    @Test(arguments: JournalFault.examples) func everyPromiseIsKeptAfterAFault(_ fault: JournalFault) throws {
        var explorer = fault.explorer()
        explorer.crashesInRecovery = 0
        explorer.exhaustiveOutcomes = 2
        explorer.outcomesPerCrash = 2
        try explorer.check(atLeast: 1)
    }

    /// Torn sectors and lost syncs: no disk of ours to make promises on, but never silence.
    @Test(arguments: JournalDishonesty.allCases) func whatADishonestDiskTakesIsDetected(_ dishonesty: JournalDishonesty) throws {
        var explorer = dishonesty.explorer(seed: 1)
        explorer.exhaustiveOutcomes = 2
        explorer.outcomesPerCrash = 2
        try explorer.check(atLeast: 1)
    }

    /// The same cuts in the running program: every operation from some point on fails, and the journal stops with an error and no trap.
    @Test(arguments: [PowerCut.Side.before, .after]) func theDiskMayDieUnderTheJournal(_ side: PowerCut.Side) throws {
        var operation = 0
        var hasPower = false
        while !hasPower {
            operation += 1
            let disk = SimulatedDisk(seed: UInt64(operation))
            disk.cutPower(PowerCut(side, operation: operation))
            let witness = CrashWitness(JournalModel())
            var random = SeededRandom(seed: 1)
            do {
                let writer = try ModelWriter(disk, witness)
                for _ in 0..<8 { try writer.append(&random, wait: random.oneIn(2)) }
                try writer.close()
            } catch let error as JournalError {
                #expect([.ioFailed, .syncFailed].contains(error.code), "operation \(operation): \(error)")
            }
            hasPower = disk.hasPower
            #expect(throws: Never.self, "operation \(operation)") {
                try JournalRecovery.check(disk.crash(.random(seed: UInt64(operation))), witness)
            }
        }
        #expect(operation > 50)
    }

    static let longRun = ProcessInfo.processInfo.environment["CHATJOURNAL_CRASH_STATES"].flatMap { Int($0) }
    /// The path of a failure of the long run is tried without it.
    static let isLongRun = longRun != nil || CrashPath.isRequested

    @Test(.enabled(if: isLongRun, "set CHATJOURNAL_CRASH_STATES"), arguments: JournalWorkload.allCases)
    func everyPromiseIsKeptInTheLongRun(_ workload: JournalWorkload) throws {
        try run(share: JournalWorkload.allCases.count, workload.series())
    }

    @Test(.enabled(if: isLongRun, "set CHATJOURNAL_CRASH_STATES")) func everyPromiseIsKeptAfterAFaultInTheLongRun() throws {
        try run(share: 5, JournalFault.series())
    }

    @Test(.enabled(if: isLongRun, "set CHATJOURNAL_CRASH_STATES"), arguments: JournalDishonesty.allCases)
    func whatADishonestDiskTakesIsDetectedInTheLongRun(_ dishonesty: JournalDishonesty) throws {
        try run(share: 10, dishonesty.series())
    }

    /// Explores one seed after another until this share of the states has been tried.
    private func run(share: Int, _ series: CrashSeries<JournalModel>) throws {
        var series = series
        let report = try series.run(states: (Self.longRun ?? 0) / share)
        if report.isReplay {
            report.printReplay()
        } else {
            print("\(report); seeds below \(series.nextSeed)")
        }
        if !report.failures.isEmpty { Issue.record("\(report)") }
    }
}
