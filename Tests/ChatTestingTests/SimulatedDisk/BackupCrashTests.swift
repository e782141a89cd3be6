import ChatTesting
import EventJournal
import TestSupport
import Testing

/// Power failures at every operation of a journal and its backups: the backup is always a prefix of
/// the journal.
@Suite struct BackupCrashTests {
    @Test(arguments: [160, 1500]) func backupIsAlwaysAPrefix(longest: Int) throws {
        var model = JournalModel()
        // Several unsynced commits share a segment, so that a cut can keep only the first ones.
        model.segmentSize = 2048
        var explorer = CrashExplorer("backup-\(longest)", model: model) { disk, recorder in
            try BackupLife.run(disk, recorder, longest: longest)
        } recovery: { disk, recorder in
            try BackupLife.recover(disk, recorder)
        }
        explorer.crashesInRecovery = longest == 160 ? 1 : 0
        explorer.crashesAfterKill = 2
        explorer.exhaustiveLimit = 2
        explorer.outcomesPerCrash = 4
        try explorer.check(atLeast: 300)
    }
}

extension BackupCrashTests {
    /// A backup that adds only the footer to a segment can be cut off with only the footer's frame
    /// on the disk.
    @Test func tornFooterInBackupIsRewritten() throws {
        var model = JournalModel()
        model.segmentSize = 2048
        var explorer = CrashExplorer("backup-footer", model: model) { disk, recorder in
            try BackupLife.addFooter(disk, recorder)
        } recovery: { disk, recorder in
            try BackupLife.recover(disk, recorder)
        }
        explorer.crashesInRecovery = 0
        explorer.crashesAfterKill = 4
        explorer.exhaustiveLimit = 8
        explorer.outcomesPerCrash = 4
        try explorer.check(atLeast: 100)
    }

    /// An interrupted salvage leaves no journal or a complete one, and never changes the damaged
    /// one.
    @Test func salvageIsAtomic() throws {
        let disk = try RepairLife.damagedDisk()
        let expected = try RepairLife.repair(disk.crash(.everything), to: "new")
        var explorer = CrashExplorer("repair", model: false) { disk, recorder in
            _ = try RepairLife.repair(disk, to: "new")
            recorder.update { $0 = true }
        } recovery: { disk, recorder in
            try RepairLife.recover(disk, isDone: recorder.model, expected)
        }
        explorer.disk = disk
        explorer.crashesInRecovery = 0
        explorer.exhaustiveLimit = 8
        explorer.outcomesPerCrash = 16
        try explorer.check(atLeast: 100)
    }
}

extension CrashExplorer {
    /// Tests a random state of ten, or all in the long form.
    ///
    /// Records an issue for each failure, and for too few states.
    func check(atLeast states: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        var explorer = self
        if !Repetitions.areAll { explorer.sampling = CrashSampling(oneIn: 20, seed: Repetitions.seed) }
        let report = try explorer.run()
        report.printReplay()
        if !report.failures.isEmpty { Issue.record("\(report)", sourceLocation: sourceLocation) }
        #expect(
            report.isReplay || report.states + report.skippedStates >= states, "\(report)",
            sourceLocation: sourceLocation)
    }
}

extension CrashReport {
    /// Prints that a state was replayed.
    ///
    /// Without the message, a path that matches no explorer would look like success.
    func printReplay() {
        if isReplay && states > 0 { print("replayed: \(self)") }
    }
}

/// Salvage of a damaged journal.
enum RepairLife {
    /// A disk with a journal of several segments and a damaged byte in the first one.
    static func damagedDisk() throws -> SimulatedDisk {
        let disk = SimulatedDisk(seed: 1)
        let recorder = CrashRecorder(JournalModel())
        var random = SeededRandom(seed: 5)
        let writer = try ModelWriter(disk, recorder)
        for _ in 0..<8 { try writer.append(&random) }
        try writer.close()
        try disk.write([0xFF, 0xFF, 0xFF], at: 300, to: "journal/00000000000000000001.segment")
        return disk.crash(.everything)
    }

    static func repair(_ disk: SimulatedDisk, to destination: String) throws -> RepairReport {
        let options = RepairOptions(
            storage: disk, destinationStorage: disk, segmentSize: 1024, entropy: SeededEntropy(seed: 4))
        return try Journal.repair("journal", to: destination, options: options) { _, _ in [0xEE] }
    }

    /// Checks that the new journal is complete or, only before the salvage returns, absent.
    static func recover(_ disk: SimulatedDisk, isDone: Bool, _ expected: RepairReport) throws {
        if expected.lostCount == 0 { throw Surprise("nothing was damaged") }
        let isThere = try isWhole(disk, expected)
        if isDone && !isThere { throw Surprise("the new journal is missing") }
        let again = try repair(disk, to: "again")
        if again != expected { throw Surprise("a second salvage reports another result: \(again)") }
    }

    private static func isWhole(_ disk: SimulatedDisk, _ expected: RepairReport) throws -> Bool {
        do throws(JournalError) {
            let journal = try Journal.openReadOnly(
                "new", options: JournalOptions(storage: disk, expectedHead: expected.head))
            if journal.head != expected.head {
                throw JournalError(.conflict, "The new journal is incomplete: it ends at \(journal.head).")
            }
            return true
        } catch {
            // Segments without a durable file do not form a journal.
            guard error.code == .notFound || error.code == .damaged && error.path == "new/durable" else { throw error }
            return false
        }
    }
}

/// A journal with repeated backups.
enum BackupLife {
    /// Alternates appends and backups: a first full backup, additions to a segment, backups after
    /// rotations, and one without new records.
    static func run(_ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>, longest: Int) throws {
        var random = SeededRandom(seed: 3)
        let writer = try ModelWriter(disk, recorder)
        for commits in [2, 1, 4, 0, 4] {
            for _ in 0..<commits { try writer.append(&random, longest: longest) }
            let report = try writer.journal.backup(to: "copy")
            recorder.update { $0.copied = report.head }
        }
        try writer.close()
    }

    /// Backs up a segment that ends 42 bytes before a sector boundary, which fits the 40 bytes of a
    /// footer's frame; then the next one.
    static func addFooter(_ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>) throws {
        let writer = try ModelWriter(disk, recorder)
        // The record's content follows the headers of the segment (128) and the commit (40) and of
        // the record with its salt (23).
        for count in [470 - 128 - 40 - 23, 1900] {
            try writer.append([JournalModel.Record(kept: [], erasable: [UInt8](repeating: 1, count: count))])
            let report = try writer.journal.backup(to: "copy")
            recorder.update { $0.copied = report.head }
        }
        try writer.close()
    }

    /// Reads the backup, backs up the recovered journal, and reads the backup again.
    static func recover(_ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>) throws {
        _ = try checkCopy(disk, recorder.model)
        guard let journal = try open("journal", recorder.model.options(disk)) else {
            if recorder.model.exists { throw Surprise("the journal is missing") }
            return
        }
        let report = try Journal.backup(
            "journal", to: "copy", options: BackupOptions(storage: disk, destinationStorage: disk))
        if report.head != journal.head {
            throw Surprise("the copy ends at \(report.head), the journal at \(journal.head)")
        }
        recorder.update { $0.copied = report.head }
        let copy = try checkCopy(disk, recorder.model)
        if copy?.recovery.wasClean != true { throw Surprise("the copy was not closed cleanly") }
    }

    /// Opens the backup and checks that it is a prefix of the journal with all backed-up records.
    ///
    /// Returns nil if no journal exists yet.
    private static func checkCopy(_ disk: SimulatedDisk, _ model: JournalModel) throws -> Journal? {
        var model = model
        model.head = model.copied
        model.promised = model.commitCount(records: Int(model.copied?.position ?? 0)) ?? 0
        guard let copy = try open("copy", model.options(disk)) else {
            if model.copied != nil { throw Surprise("the copy is missing") }
            return nil
        }
        _ = try model.check(copy, "the copy")
        var findings: [JournalFinding] = []
        try copy.verify { findings.append($0) }
        if !findings.isEmpty { throw Surprise("verification of the copy: \(findings)") }
        return copy
    }

    /// Opens a journal for reading.
    ///
    /// Returns nil if none exists.
    private static func open(_ path: String, _ options: JournalOptions) throws -> Journal? {
        do throws(JournalError) {
            return try Journal.openReadOnly(path, options: options)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }
}
