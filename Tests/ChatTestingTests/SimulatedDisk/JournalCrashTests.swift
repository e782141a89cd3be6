import ChatTesting
import EventJournal
import Foundation
import Testing

/// Power failures at every operation of a journal on an honest disk: opening succeeds and keeps
/// every acknowledged record and nothing else.
///
/// The default run tests a sample of several thousand states, the long form all of them. The long
/// run tests as many states as the environment variable says, preferably in a release build:
///
///     CHATJOURNAL_CRASH_STATES=1000000 swift test -c release -Xswiftc -enable-testing \
///         --filter JournalCrashTests
///
/// A failure prints the path to its state; `CHATJOURNAL_CRASH='...' swift test` tests only that
/// state, also for the long run.
@Suite struct JournalCrashTests {
    @Test(arguments: JournalWorkload.allCases) func acknowledgedRecordsSurvivePowerCuts(_ workload: JournalWorkload)
        throws
    {
        var explorer = workload.explorer(seed: 1, commits: 6)
        explorer.exhaustiveLimit = workload.isSlow ? 2 : 4
        explorer.outcomesPerCrash = workload.isSlow ? 2 : 8
        try explorer.check(atLeast: 200)
    }

    /// A fault, then power failures: after a failed operation, recovery must neither fail nor lose
    /// records.
    @Test(arguments: JournalFault.examples) func acknowledgedRecordsSurviveFaultAndPowerCuts(_ fault: JournalFault)
        throws
    {
        var explorer = fault.explorer()
        explorer.crashesInRecovery = 0
        explorer.exhaustiveLimit = 2
        explorer.outcomesPerCrash = 2
        try explorer.check(atLeast: 1)
    }

    /// Torn sectors and lost syncs: a journal cannot keep its guarantees on such a disk, but it
    /// must detect the loss.
    @Test(arguments: JournalDishonesty.allCases) func lossOnDishonestDiskIsDetected(_ dishonesty: JournalDishonesty)
        throws
    {
        var explorer = dishonesty.explorer(seed: 1)
        explorer.exhaustiveLimit = 2
        explorer.outcomesPerCrash = 2
        try explorer.check(atLeast: 1)
    }

    /// The disk fails in the running program: every operation after some point fails, and the
    /// journal stops with an error and no trap.
    @Test(arguments: [PowerCut.Side.before, .after]) func failedDiskStopsJournal(_ side: PowerCut.Side) throws {
        var operation = 0
        var hasPower = false
        while !hasPower {
            operation += 1
            let disk = SimulatedDisk(seed: UInt64(operation))
            disk.cutPower(PowerCut(side, operation: operation))
            let recorder = CrashRecorder(JournalModel())
            var random = SeededRandom(seed: 1)
            do {
                let writer = try ModelWriter(disk, recorder)
                for _ in 0..<8 { try writer.append(&random, wait: random.oneIn(2)) }
                try writer.close()
            } catch let error as JournalError {
                #expect([.ioFailed, .syncFailed].contains(error.code), "operation \(operation): \(error)")
            }
            hasPower = disk.hasPower
            #expect(throws: Never.self, "operation \(operation)") {
                try JournalRecovery.check(disk.crash(.random(seed: UInt64(operation))), recorder)
            }
        }
        #expect(operation > 50)
    }

    static let longRun = ProcessInfo.processInfo.environment["CHATJOURNAL_CRASH_STATES"].flatMap { Int($0) }
    /// A failed path of the long run replays without `CHATJOURNAL_CRASH_STATES`.
    static let isLongRun = longRun != nil || CrashPath.isRequested

    @Test(.enabled(if: isLongRun, "set CHATJOURNAL_CRASH_STATES"), arguments: JournalWorkload.allCases)
    func acknowledgedRecordsSurvivePowerCutsInLongRun(_ workload: JournalWorkload) throws {
        try run(share: JournalWorkload.allCases.count, workload.series())
    }

    @Test(.enabled(if: isLongRun, "set CHATJOURNAL_CRASH_STATES"))
    func acknowledgedRecordsSurviveFaultAndPowerCutsInLongRun() throws {
        try run(share: 5, JournalFault.series())
    }

    @Test(.enabled(if: isLongRun, "set CHATJOURNAL_CRASH_STATES"), arguments: JournalDishonesty.allCases)
    func lossOnDishonestDiskIsDetectedInLongRun(_ dishonesty: JournalDishonesty) throws {
        try run(share: 10, dishonesty.series())
    }

    /// Explores seed after seed until this share of the states is tested.
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
