import ChatTesting
import EventJournal
import Testing

/// An operation that fails in the life of a journal, which is then opened again and goes on.
struct JournalFault: CustomTestStringConvertible {
    var seed: UInt64
    var fault: DiskFault

    var testDescription: String { "\(fault.effect) at \(fault.moment) \(fault.pathSuffix)" }

    /// Whether the fault has to show: not all of any do, because the life may be shorter, or the operation tried in another way.
    var mustShow = false

    /// One for each operation that a journal has to recover from.
    ///
    /// A new segment is written through the name that it was made under.
    static let examples = [
        JournalFault(1, .fails(.failed), at: .occurrence(2, of: .sync), ".segment"),
        JournalFault(2, .fails(.failed), at: .occurrence(2, of: .sync), "durable"),
        JournalFault(3, .fails(.full), at: .occurrence(3, of: .write), ".segment"),
        JournalFault(4, .fails(.full), at: .chance(1, of: [.allocate]), ""),
        JournalFault(5, .fails(.failed), at: .occurrence(3, of: .rename), ""),
        // The durable file or the first segment has its name then, and a later opening finds it: who took it for durable would lose it.
        JournalFault(10, .fails(.failed), at: .occurrence(2, of: .syncDirectory), ""),
        JournalFault(11, .fails(.failed), at: .occurrence(3, of: .syncDirectory), ""),
        // Syncs that somebody waits for, in either durability: who believed a second one, or what is read, would lose it.
        JournalFault(7, .fails(.failed), at: .occurrence(1, of: .sync), ".segment"),
        JournalFault(8, .fails(.failed), at: .occurrence(3, of: .sync), ".segment"),
        JournalFault(9, .fails(.failed), at: .occurrence(1, of: .sync), ".segment"),
    ]

    private init(_ seed: UInt64, _ effect: DiskFault.Effect, at moment: DiskFault.Moment, _ pathSuffix: String) {
        self.seed = seed
        fault = DiskFault(effect, at: moment, pathSuffix: pathSuffix)
        mustShow = true
    }

    /// Any operation, in a way that follows from the seed.
    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        self.seed = seed
        // A life like this one has about 150 operations, some ten of them syncs.
        let isSync = random.oneIn(3)
        fault = DiskFault(
            .fails(random.oneIn(2) ? .failed : .full),
            at: isSync
                ? .occurrence(Int.random(in: 1...6, using: &random), of: .sync) : .operation(Int.random(in: 10...150, using: &random)),
            pathSuffix: isSync ? ".segment" : "")
    }

    /// The explorer of this life.
    func explorer() -> CrashExplorer<JournalModel> {
        var model = JournalModel()
        if seed % 3 == 0 { model.durability = .written }
        var explorer = CrashExplorer("journal-\(mustShow ? "example" : "fault")-\(seed)", model: model) { disk, witness in
            var random = SeededRandom(seed: seed)
            disk.inject(fault)
            do {
                try live(disk, witness, &random)
                if mustShow { throw Surprise("the fault did not show") }
            } catch let error as JournalError where [.ioFailed, .syncFailed, .storageFull].contains(error.code) {
                // It has stopped, as it should.
            }
            disk.removeFaults()
            // What was promised before the fault is promised still.
            try live(disk, witness, &random)
        } recovery: { disk, witness in
            try JournalRecovery.check(disk, witness)
        }
        explorer.seed = seed
        explorer.crashesAfterKill = mustShow ? 1 : 16
        explorer.disk = SimulatedDisk(seed: seed)
        return explorer
    }

    /// Lives with one fault after another.
    static func series() -> CrashSeries<JournalModel> { CrashSeries { JournalFault(seed: $0).explorer() } }

    private func live(_ disk: SimulatedDisk, _ witness: CrashWitness<JournalModel>, _ random: inout SeededRandom) throws {
        let writer = try ModelWriter(disk, witness)
        for _ in 0..<5 { try writer.append(&random, wait: random.oneIn(2)) }
        try writer.synchronize()
        try writer.close()
    }
}
