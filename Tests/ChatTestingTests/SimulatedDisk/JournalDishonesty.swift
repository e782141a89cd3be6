import ChatTesting
import EventJournal
import Testing

/// Disks that break the guarantees of an honest disk.
///
/// A journal cannot keep its own guarantees on them. With the last head as the expected head,
/// opening detects lost records: an opened journal holds all acknowledged records and only appended
/// ones.
enum JournalDishonesty: String, CaseIterable, CustomTestStringConvertible {
    /// A torn sector is half old and half new.
    case tornSectors
    /// An acknowledged sync has no effect.
    case lostSyncs

    var testDescription: String { rawValue }

    /// Returns the explorer of a workload on such a disk.
    func explorer(seed: UInt64) -> CrashExplorer<JournalModel> {
        var model = JournalModel()
        if seed % 3 == 0 { model.durability = .written }
        var explorer = CrashExplorer("journal-\(rawValue)-\(seed)", model: model) { disk, recorder in
            var random = SeededRandom(seed: seed)
            if self == .lostSyncs { disk.inject(DiskFault(.losesSync, at: .chance(0.3, of: [.sync, .syncDirectory]))) }
            let writer = try ModelWriter(disk, recorder)
            for _ in 0..<8 { try writer.append(&random, wait: random.oneIn(2)) }
            try writer.close()
        } recovery: { disk, recorder in
            do {
                // If a lost sync removes all or part of a footer, the journal reads the records
                // instead and verification reports it, which counts as detection. Any other finding
                // is a loss that the opening missed.
                try JournalRecovery.check(disk, recorder, tolerated: ["footer"])
            } catch let error as JournalError where [.damaged, .headMismatch, .notFound].contains(error.code) {
                // A failed opening is sufficient detection; a salvaged or restored journal is
                // another journal.
            }
        }
        explorer.seed = seed
        explorer.disk = SimulatedDisk(seed: seed, tearsSectors: self == .tornSectors)
        explorer.crashesInRecovery = 0
        return explorer
    }

    /// Workloads on such a disk, one per seed.
    func series() -> CrashSeries<JournalModel> { CrashSeries { explorer(seed: $0) } }
}
