import ChatTesting
import EventJournal
import TestSupport
import Testing

/// Power cuts at every operation of a journal's life and of the backups in it: the copy is always the beginning of the journal.
@Suite struct BackupCrashTests {
    @Test(arguments: [160, 1500]) func aCopyIsNeverAnythingElse(longest: Int) throws {
        var model = JournalModel()
        // Some commits are added to a segment at once, so that of those that were not synced a cut may take the first ones alone.
        model.segmentSize = 2048
        var explorer = CrashExplorer("backup-\(longest)", model: model) { disk, witness in
            try BackupLife.run(disk, witness, longest: longest)
        } recovery: { disk, witness in
            try BackupLife.recover(disk, witness)
        }
        explorer.crashesInRecovery = longest == 160 ? 1 : 0
        explorer.crashesAfterKill = 2
        explorer.exhaustiveOutcomes = 2
        explorer.outcomesPerCrash = 4
        try explorer.check(atLeast: 300)
    }
}

extension BackupCrashTests {
    /// A backup that adds nothing but the footer to a segment may be cut off with the footer's frame on the disk and its rest not.
    @Test func aFooterTornInTheCopyIsWrittenAgain() throws {
        var model = JournalModel()
        model.segmentSize = 2048
        var explorer = CrashExplorer("backup-footer", model: model) { disk, witness in
            try BackupLife.addFooter(disk, witness)
        } recovery: { disk, witness in
            try BackupLife.recover(disk, witness)
        }
        explorer.crashesInRecovery = 0
        explorer.crashesAfterKill = 4
        explorer.exhaustiveOutcomes = 8
        explorer.outcomesPerCrash = 4
        try explorer.check(atLeast: 100)
    }

    /// A repair that is cut off leaves no journal or the whole one, and does not touch the damaged one.
    @Test func aRepairIsThereWholeOrNotAtAll() throws {
        let disk = try RepairLife.damagedDisk()
        let expected = try RepairLife.repair(disk.crash(.everything), to: "new")
        var explorer = CrashExplorer("repair", model: false) { disk, witness in
            _ = try RepairLife.repair(disk, to: "new")
            witness.update { $0 = true }
        } recovery: { disk, witness in
            try RepairLife.recover(disk, isDone: witness.model, expected)
        }
        explorer.disk = disk
        explorer.crashesInRecovery = 0
        explorer.exhaustiveOutcomes = 8
        explorer.outcomesPerCrash = 16
        try explorer.check(atLeast: 100)
    }
}

extension CrashExplorer {
    /// Tries one state in five at random, in the long form all; records an issue for each failure, and if there are too few states.
    func check(atLeast states: Int, sourceLocation: SourceLocation = #_sourceLocation) throws {
        var explorer = self
        if !Repetitions.areAll { explorer.sampling = CrashSampling(oneIn: 5, seed: Repetitions.seed) }
        let report = try explorer.run()
        report.printReplay()
        if !report.failures.isEmpty { Issue.record("\(report)", sourceLocation: sourceLocation) }
        #expect(report.isReplay || report.states + report.statesLeftOut >= states, "\(report)", sourceLocation: sourceLocation)
    }
}

extension CrashReport {
    /// Prints that a state was replayed: a path that no explorer of the tests has leads nowhere, and would pass for one that is sound.
    func printReplay() {
        if isReplay && states > 0 { print("replayed: \(self)") }
    }
}

/// A damaged journal that is repaired.
enum RepairLife {
    /// A disk with a journal of some segments, in the first of which a byte is wrong.
    static func damagedDisk() throws -> SimulatedDisk {
        let disk = SimulatedDisk(seed: 1)
        let witness = CrashWitness(JournalModel())
        var random = SeededRandom(seed: 5)
        let writer = try ModelWriter(disk, witness)
        for _ in 0..<8 { try writer.append(&random) }
        try writer.close()
        try disk.write([0xFF, 0xFF, 0xFF], at: 300, to: "journal/00000000000000000001.segment")
        return disk.crash(.everything)
    }

    static func repair(_ disk: SimulatedDisk, to destination: String) throws -> RepairReport {
        let options = RepairOptions(storage: disk, destinationStorage: disk, segmentSize: 1024, entropy: SeededEntropy(seed: 4))
        return try Journal.repair("journal", to: destination, options: options) { _, _ in [0xEE] }
    }

    /// The new journal is whole, or there is none, which is right only as long as the repair has not ended.
    static func recover(_ disk: SimulatedDisk, isDone: Bool, _ expected: RepairReport) throws {
        if expected.lostCount == 0 { throw Surprise("nothing was damaged") }
        let isThere = try isWhole(disk, expected)
        if isDone && !isThere { throw Surprise("the new journal is gone") }
        let again = try repair(disk, to: "again")
        if again != expected { throw Surprise("a second repair finds something else: \(again)") }
    }

    private static func isWhole(_ disk: SimulatedDisk, _ expected: RepairReport) throws -> Bool {
        do throws(JournalError) {
            let journal = try Journal.openReadOnly("new", options: JournalOptions(storage: disk, expectedHead: expected.head))
            if journal.head != expected.head { throw JournalError(.conflict, "The new journal is not whole: it ends at \(journal.head).") }
            return true
        } catch {
            // Segments without a durable file are no journal.
            guard error.code == .notFound || error.code == .damaged && error.path == "new/durable" else { throw error }
            return false
        }
    }
}

/// A journal that is backed up now and then.
enum BackupLife {
    /// Appends and backs up in turn: the first whole copy, one that adds to a segment, ones that come after roll-overs, one of nothing new.
    static func run(_ disk: SimulatedDisk, _ witness: CrashWitness<JournalModel>, longest: Int) throws {
        var random = SeededRandom(seed: 3)
        let writer = try ModelWriter(disk, witness)
        for commits in [2, 1, 4, 0, 4] {
            for _ in 0..<commits { try writer.append(&random, longest: longest) }
            let report = try writer.journal.backup(to: "copy")
            witness.update { $0.copied = report.head }
        }
        try writer.close()
    }

    /// Copies a segment that ends 42 bytes before the end of a sector, which takes the 40 of a footer's frame; then the next one as well.
    static func addFooter(_ disk: SimulatedDisk, _ witness: CrashWitness<JournalModel>) throws {
        let writer = try ModelWriter(disk, witness)
        // Before the content are the segment's header (128), the commit's (40) and that of the record with its salt (23).
        for count in [470 - 128 - 40 - 23, 1900] {
            try writer.append([JournalModel.Record(kept: [], erasable: [UInt8](repeating: 1, count: count))])
            let report = try writer.journal.backup(to: "copy")
            witness.update { $0.copied = report.head }
        }
        try writer.close()
    }

    /// Reads the copy, backs up what the crash left of the journal, and reads the copy again.
    static func recover(_ disk: SimulatedDisk, _ witness: CrashWitness<JournalModel>) throws {
        _ = try checkCopy(disk, witness.model)
        guard let journal = try open("journal", witness.model.options(disk)) else {
            if witness.model.exists { throw Surprise("the journal is gone") }
            return
        }
        let report = try Journal.backup("journal", to: "copy", options: BackupOptions(storage: disk, destinationStorage: disk))
        if report.head != journal.head { throw Surprise("the copy ends at \(report.head), the journal at \(journal.head)") }
        witness.update { $0.copied = report.head }
        let copy = try checkCopy(disk, witness.model)
        if copy?.recovery.wasClean != true { throw Surprise("the copy was not closed in good order") }
    }

    /// Opens the copy, which must be the beginning of the journal and hold what was copied; nil when it is no journal yet.
    private static func checkCopy(_ disk: SimulatedDisk, _ model: JournalModel) throws -> Journal? {
        var model = model
        model.head = model.copied
        model.promised = model.commitCount(records: Int(model.copied?.position ?? 0)) ?? 0
        guard let copy = try open("copy", model.options(disk)) else {
            if model.copied != nil { throw Surprise("the copy is gone") }
            return nil
        }
        _ = try model.check(copy, "the copy")
        var findings: [JournalFinding] = []
        try copy.verify { findings.append($0) }
        if !findings.isEmpty { throw Surprise("verifying the copy: \(findings)") }
        return copy
    }

    /// Opens a journal for reading; nil when there is none.
    private static func open(_ path: String, _ options: JournalOptions) throws -> Journal? {
        do throws(JournalError) {
            return try Journal.openReadOnly(path, options: options)
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }
}
