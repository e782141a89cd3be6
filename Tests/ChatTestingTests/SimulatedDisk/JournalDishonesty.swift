import ChatTesting
import EventJournal
import Testing

/// Disks that do not keep what every disk promises.
///
/// A journal cannot keep its own promises on them. What it can do, given the head that was taken last, is to refuse: whatever it opens must
/// hold all that it promised, and nothing that was not appended.
enum JournalDishonesty: String, CaseIterable, CustomTestStringConvertible {
    /// A sector may be left half old and half new.
    case tornSectors
    /// A sync may be acknowledged and do nothing.
    case lostSyncs

    var testDescription: String { rawValue }

    /// The explorer of a life on such a disk.
    func explorer(seed: UInt64) -> CrashExplorer<JournalModel> {
        var model = JournalModel()
        if seed % 3 == 0 { model.durability = .written }
        var explorer = CrashExplorer("journal-\(rawValue)-\(seed)", model: model) { disk, witness in
            var random = SeededRandom(seed: seed)
            if self == .lostSyncs { disk.inject(DiskFault(.losesSync, at: .chance(0.3, of: [.sync, .syncDirectory]))) }
            let writer = try ModelWriter(disk, witness)
            for _ in 0..<8 { try writer.append(&random, wait: random.oneIn(2)) }
            try writer.close()
        } recovery: { disk, witness in
            do {
                // Of a footer that was lost with a sync, whole or in part, the records are there, and are read in its place: verifying says so,
                // which is detection. Anything else that it finds is something that opening has let pass.
                try JournalRecovery.check(disk, witness, tolerated: ["footer"])
            } catch let error as JournalError where [.damaged, .headMismatch, .notFound].contains(error.code) {
                // Refused, which is all that can be asked; a repaired or restored journal is another one.
            }
        }
        explorer.seed = seed
        explorer.disk = SimulatedDisk(seed: seed, tearsSectors: self == .tornSectors)
        explorer.crashesInRecovery = 0
        return explorer
    }

    /// One life after another on such a disk.
    func series() -> CrashSeries<JournalModel> { CrashSeries { explorer(seed: $0) } }
}
