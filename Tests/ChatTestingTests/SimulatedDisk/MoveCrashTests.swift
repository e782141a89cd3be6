import ChatTesting
import EventJournal
import Testing

/// Power failures at every operation of a journal that is copied record by record and then moved to
/// its copy: no record is lost, and at no time are both open for writing.
@Suite struct MoveCrashTests {
    @Test(arguments: [160, 1500]) func journalIsAtOnePlaceOnly(longest: Int) throws {
        var model = JournalModel()
        model.segmentSize = 2048
        var explorer = CrashExplorer("move-\(longest)", model: model) { disk, recorder in
            try MoveLife.run(disk, recorder, longest: longest)
        } recovery: { disk, recorder in
            try MoveLife.recover(disk, recorder)
        }
        explorer.crashesInRecovery = longest == 160 ? 1 : 0
        explorer.crashesAfterKill = 2
        explorer.exhaustiveLimit = 2
        explorer.outcomesPerCrash = 4
        try explorer.check(atLeast: 300)
    }
}

/// A journal that is copied in several steps, moved to the copy, and continued there.
private enum MoveLife {
    static func run(_ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>, longest: Int) throws {
        var random = SeededRandom(seed: 11)
        let writer = try ModelWriter(disk, recorder)
        for commits in [2, 3, 0] {
            for _ in 0..<commits { try writer.append(&random, longest: longest) }
            try copy(writer.journal, disk, recorder)
        }
        try writer.append(&random, longest: longest)
        try writer.close()
        try move(try ModelWriter(disk, recorder).journal, disk, recorder)
        let successor = try ModelWriter(disk, recorder, at: "copy")
        try successor.append(&random)
        try successor.close()
    }

    private static func copy(_ source: Journal, _ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>) throws {
        var copy = try JournalCopy("copy", of: source, options: options(disk, recorder))
        try LogCopy.copyRecords(of: source, to: &copy)
        try copy.close()
        recorder.update { $0.copied = source.head }
    }

    private static func move(_ source: Journal, _ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>) throws {
        var copy = try JournalCopy("copy", of: source, options: options(disk, recorder))
        try LogCopy.finish(source, to: &copy, named: "the copy")
        recorder.update { $0.hasMoved = true }
        try source.close()
    }

    private static func options(_ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>) -> JournalOptions {
        var options = recorder.model.options(disk)
        options.expectedHead = nil
        return options
    }

    /// Completes the move from wherever it was interrupted, and continues the journal.
    static func recover(_ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>) throws {
        var random = SeededRandom(seed: 12)
        do {
            let writer = try ModelWriter(disk, recorder)
            if recorder.model.hasMoved { throw Surprise("the journal is open for writing after it has moved") }
            try checkCopyIsClosed(disk, recorder)
            try checkCopyIsReadable(disk, recorder)
            try writer.append(&random)
            try move(writer.journal, disk, recorder)
        } catch let error as JournalError {
            guard error.code == .moved, error.message.contains("the copy") else { throw error }
            try checkCopyIsReadable(disk, recorder)
            if try Journal.role(of: "copy", on: disk) != nil {
                if recorder.model.hasMoved { throw Surprise("the copy is not open for writing after the move") }
                let source = try Journal.openReadOnly("journal", options: options(disk, recorder))
                try move(source, disk, recorder)
            }
        }
        let successor = try ModelWriter(disk, recorder, at: "copy")
        try successor.append(&random)
        try successor.close()
        var findings: [JournalFinding] = []
        try Journal.verify("copy", options: options(disk, recorder)) { findings.append($0) }
        if !findings.isEmpty { throw Surprise("verification of the copy: \(findings)") }
        do throws(JournalError) {
            _ = try Journal.open("journal", options: options(disk, recorder))
        } catch {
            guard error.code == .moved else { throw error }
            let old = try Journal.openReadOnly("journal", options: options(disk, recorder))
            let new = try Journal.openReadOnly("copy", options: options(disk, recorder))
            guard try new.contains(old.head) else { throw Surprise("the journal has another history than its copy") }
            return
        }
        throw Surprise("the journal is open for writing after it has moved")
    }

    /// Throws if the copy is open for writing.
    private static func checkCopyIsClosed(_ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>) throws {
        var options = options(disk, recorder)
        options.createIfMissing = false
        do throws(JournalError) {
            _ = try Journal.open("copy", options: options)
        } catch {
            guard error.code == .copy || error.code == .notFound && recorder.model.copied == nil else { throw error }
            return
        }
        throw Surprise("the copy is open for writing before the journal has moved")
    }

    /// Throws unless the copy has what was copied, byte for byte, and nothing else.
    private static func checkCopyIsReadable(_ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>) throws {
        var model = recorder.model
        model.promised = model.commitCount(records: Int(model.copied?.position ?? 0)) ?? 0
        var options = options(disk, recorder)
        options.expectedHead = model.copied
        do throws(JournalError) {
            let copy = try Journal.openReadOnly("copy", options: options)
            _ = try Result { try model.check(copy, "the copy") }.mapError { JournalError(.damaged, "\($0)") }.get()
        } catch {
            guard error.code == .notFound, model.copied == nil else { throw error }
        }
    }
}
