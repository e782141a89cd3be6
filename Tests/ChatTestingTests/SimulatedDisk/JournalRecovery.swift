import ChatTesting
import EventJournal

/// Invariants of a journal after a power failure on an honest disk: the recovery of every crash
/// suite.
enum JournalRecovery {
    /// Opens the journal as a reader and as a writer, compares both with the model, appends, closes
    /// and reopens.
    ///
    /// Verification may report only `tolerated` findings. An attended journal is also rotated,
    /// synchronized and scrubbed, with a reader that follows.
    static func check(
        _ disk: SimulatedDisk, _ recorder: CrashRecorder<JournalModel>, tolerated: Set<String> = [],
        isAttended: Bool = false
    ) throws {
        let shown = try checkReader(disk, recorder.model, "read-only")
        if disk.processWasKilled, shown ?? 0 < recorder.model.written {
            throw Surprise("\(shown ?? 0) commits remain of \(recorder.model.written) written")
        }
        if let shown {
            recorder.update { model in
                // Recovery makes these commits durable, even if a later recovery is cut off; but a
                // reader makes nothing durable.
                if !disk.processWasKilled { model.promised = max(model.promised, shown) }
                model.commits = Array(model.commits.prefix(shown))
            }
        }
        let writer = try ModelWriter(disk, recorder)
        var findings: [JournalFinding] = []
        try writer.journal.verify { if !tolerated.contains($0.problem) { findings.append($0) } }
        guard findings.isEmpty else { throw Surprise("verify: \(findings)") }
        var random = SeededRandom(seed: UInt64(recorder.model.commits.count))
        try writer.append(&random)
        try writer.append(&random, wait: false)
        if isAttended { try attend(writer, &random) }
        try writer.close()
        let model = recorder.model
        guard try checkReader(disk, model, "after closing") == model.commits.count else {
            throw Surprise("closing lost a commit")
        }
    }

    private static func attend(_ writer: ModelWriter, _ random: inout SeededRandom) throws {
        let reader = try ModelReader(writer.disk, writer.recorder)
        try writer.append(&random, longest: 700)
        try writer.append(&random, wait: false, longest: 700)
        try writer.scrub()
        try writer.synchronize()
        try reader.refresh()
        try writer.scrub()
    }

    /// Opens the journal as a reader, which must not change the disk, and returns its number of
    /// commits.
    ///
    /// Returns nil if no journal exists, which is valid only if none was ever opened.
    private static func checkReader(_ disk: SimulatedDisk, _ model: JournalModel, _ what: String) throws -> Int? {
        let before = disk.pendingChoices
        do {
            let journal = try Journal.openReadOnly("journal", options: model.options(disk))
            guard disk.pendingChoices == before else { throw Surprise("\(what): the reader has written") }
            return try model.check(journal, what)
        } catch let error as JournalError where error.code == .notFound && !model.exists {
            return nil
        }
    }
}
