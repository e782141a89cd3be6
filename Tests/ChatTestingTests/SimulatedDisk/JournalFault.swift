import ChatTesting
import EventJournal
import Testing

/// An operation that fails in the life of a journal, which is then opened again and goes on.
struct JournalFault: CustomTestStringConvertible {
    var seed: UInt64
    var fault: DiskFault

    var testDescription: String { "\(fault.effect) at \(fault.moment) \(fault.pathSuffix)" }

    /// One for each operation that a journal has to recover from.
    static let examples = [
        JournalFault(seed: 1, fault: DiskFault(.fails(.failed), at: .occurrence(4, of: .sync), pathSuffix: ".segment")),
        JournalFault(seed: 2, fault: DiskFault(.fails(.failed), at: .occurrence(2, of: .sync), pathSuffix: "durable")),
        JournalFault(seed: 3, fault: DiskFault(.fails(.full), at: .occurrence(5, of: .write), pathSuffix: ".segment")),
        JournalFault(seed: 4, fault: DiskFault(.fails(.full), at: .occurrence(2, of: .allocate))),
        JournalFault(seed: 5, fault: DiskFault(.fails(.failed), at: .occurrence(3, of: .rename))),
    ]

    private init(seed: UInt64, fault: DiskFault) {
        self.seed = seed
        self.fault = fault
    }

    /// Any operation, in a way that follows from the seed.
    init(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        self.seed = seed
        // A life like this one has about 150 operations.
        fault = DiskFault(.fails(random.oneIn(2) ? .failed : .full), at: .operation(Int.random(in: 10...150, using: &random)))
    }

    /// The explorer of this life.
    func explorer() -> CrashExplorer<JournalModel> {
        var model = JournalModel()
        if seed % 3 == 0 { model.durability = .written }
        var explorer = CrashExplorer("journal-fault-\(seed)", model: model) { disk, witness in
            var random = SeededRandom(seed: seed)
            disk.inject(fault)
            do {
                try live(disk, witness, &random)
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
        explorer.disk = SimulatedDisk(seed: seed)
        return explorer
    }

    private func live(_ disk: SimulatedDisk, _ witness: CrashWitness<JournalModel>, _ random: inout SeededRandom) throws {
        let writer = try ModelWriter(disk, witness)
        for _ in 0..<5 { try writer.append(&random, wait: random.oneIn(2)) }
        try writer.synchronize()
        try writer.close()
    }
}
