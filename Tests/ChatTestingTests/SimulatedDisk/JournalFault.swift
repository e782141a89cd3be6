import ChatTesting
import EventJournal
import Testing

/// A failed operation in the life of a journal, which then reopens and continues.
struct JournalFault: CustomTestStringConvertible {
    var seed: UInt64
    var fault: DiskFault

    var testDescription: String { "\(fault.effect) at \(fault.trigger) \(fault.pathSuffix)" }

    /// Whether the fault must occur.
    ///
    /// A random fault can lie beyond the end of the workload, or in an operation that is retried.
    var mustShow = false

    /// One fault for each operation that a journal recovers from.
    ///
    /// A new segment is written under its temporary name.
    static let examples = [
        JournalFault(1, .fails(.failed), at: .occurrence(2, of: .sync), ".segment"),
        JournalFault(2, .fails(.failed), at: .occurrence(2, of: .sync), "durable"),
        JournalFault(3, .fails(.full), at: .occurrence(3, of: .write), ".segment"),
        JournalFault(4, .fails(.full), at: .chance(1, of: [.allocate]), ""),
        JournalFault(5, .fails(.failed), at: .occurrence(3, of: .rename), ""),
        // The durable file or the first segment has its final name, and a later opening finds it.
        // A recovery that does not sync the directory again loses the file.
        JournalFault(10, .fails(.failed), at: .occurrence(2, of: .syncDirectory), ""),
        JournalFault(11, .fails(.failed), at: .occurrence(3, of: .syncDirectory), ""),
        // Syncs with waiters, in both durabilities. A journal that trusts the next sync, or the
        // cached bytes, loses records.
        JournalFault(7, .fails(.failed), at: .occurrence(1, of: .sync), ".segment"),
        JournalFault(8, .fails(.failed), at: .occurrence(3, of: .sync), ".segment"),
        JournalFault(9, .fails(.failed), at: .occurrence(1, of: .sync), ".segment"),
    ]

    private init(_ seed: UInt64, _ effect: DiskFault.Effect, at moment: DiskFault.Trigger, _ pathSuffix: String) {
        self.seed = seed
        fault = DiskFault(effect, at: moment, pathSuffix: pathSuffix)
        mustShow = true
    }

    /// Makes a random fault that follows from the seed.
    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        self.seed = seed
        // Such a workload has about 150 operations, of which about ten are syncs.
        let isSync = random.oneIn(3)
        fault = DiskFault(
            .fails(random.oneIn(2) ? .failed : .full),
            at: isSync
                ? .occurrence(Int.random(in: 1...6, using: &random), of: .sync)
                : .operation(Int.random(in: 10...150, using: &random)),
            pathSuffix: isSync ? ".segment" : "")
    }

    /// Returns the explorer of this workload.
    func explorer() -> CrashExplorer<JournalModel> {
        var model = JournalModel()
        if seed % 3 == 0 { model.durability = .written }
        var explorer = CrashExplorer("journal-\(mustShow ? "example" : "fault")-\(seed)", model: model) {
            disk, recorder in
            var random = SeededRandom(seed: seed)
            disk.inject(fault)
            do {
                try live(disk, recorder, &random)
                if mustShow { throw Surprise("the fault did not occur") }
            } catch let error as JournalError where [.ioFailed, .syncFailed, .storageFull].contains(error.code) {
                // The journal has stopped, as required.
            }
            disk.removeFaults()
            // Records acknowledged before the fault stay acknowledged.
            try live(disk, recorder, &random)
        } recovery: { disk, recorder in
            try JournalRecovery.check(disk, recorder)
        }
        explorer.seed = seed
        explorer.crashesAfterKill = mustShow ? 1 : 16
        explorer.disk = SimulatedDisk(seed: seed)
        return explorer
    }

    /// Workloads with one fault each, one per seed.
    static func series() -> CrashSeries<JournalModel> { CrashSeries { JournalFault(seed: $0).explorer() } }

    private func live(_ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>, _ random: inout SeededRandom)
        throws
    {
        let writer = try ModelWriter(disk, recorder)
        for _ in 0..<5 { try writer.append(&random, wait: random.oneIn(2)) }
        try writer.synchronize()
        try writer.close()
    }
}
