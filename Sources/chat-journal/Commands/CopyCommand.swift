import Chat
import EventJournal

extension ToolCommand {
    static let copy = ToolCommand(
        spec: CommandSpec(
            "copy",
            "copies a journal record by record, between directories and PostgreSQL, and can move it to the copy",
            positionals: [
                CommandSpec.Positional("FROM", "the journal"),
                CommandSpec.Positional("TO", "the copy: a directory or an address, new or of an earlier run"),
            ],
            options: [
                CommandSpec.Option(
                    "finish", .flag, "move the journal: TO takes its place, and FROM accepts no events any more"),
                .json,
            ],
            discussion: """
                The copy has the same id, positions, times, tokens and proofs. A run that was interrupted is continued by
                the next one, also while a writer appends to FROM. TO opens for reading only, until --finish: stop the
                writer of FROM first. FROM stays readable, and names TO when it is opened for writing. An interrupted
                --finish is completed by running it again.
                """)
    ) { arguments, output in
        let (from, to) = (LogPlace(arguments[positional: "FROM"]), LogPlace(arguments[positional: "TO"]))
        let name = try to.name
        guard try from.name != name else { throw arguments.error("FROM and TO are the same") }
        var progress = Progress("copy")
        defer { progress.clear() }
        let report: CopyReport
        if arguments.hasFlag("finish") {
            report = try move(from, to, named: name) { progress.update(Int(clamping: $0), of: Int(clamping: $1)) }
        } else {
            report = try copy(try from.openReadOnly(), to) { progress.update(Int(clamping: $0), of: Int(clamping: $1)) }
        }
        progress.clear()
        if arguments.hasFlag("json") {
            try output.writeLine(json: report)
        } else {
            try output.writeLine(
                "copied \(report.copiedCount) \(report.copiedCount == 1 ? "event" : "events"), up to position \(report.head.position)"
            )
            if report.isFinished {
                try output.writeLine("\(escapedForTerminal(name)) is open for writing; the former place is not")
            }
            try output.writeLine(report.head.description)
        }
        return true
    }

    private static func copy(
        _ source: some MovableLog, _ place: LogPlace, _ progress: (Position, Position) -> Void
    ) throws -> CopyReport {
        // Before anything is created.
        try LogCopy.checkSource(source)
        var copy = try place.openCopy(of: source)
        let first = copy.position
        do {
            try LogCopy.copy(source, to: &copy, progress: progress)
        } catch {
            // The first error is the one to report.
            try? copy.close()
            throw error
        }
        let report = CopyReport(head: copy.head, copiedCount: copy.position - first, isFinished: false)
        try copy.close()
        return report
    }

    private static func move(
        _ from: LogPlace, _ to: LogPlace, named name: String, _ progress: (Position, Position) -> Void
    ) throws -> CopyReport {
        var options = JournalOptions()
        options.createIfMissing = false
        let source: any MovableLog
        do {
            source = try from.open(options)
        } catch let error as JournalError where error.code == .moved {
            // Perhaps to this place, by a run that was interrupted.
            source = try from.openReadOnly()
        }
        do {
            let report = try finish(source, to, named: name, progress)
            try closeMoved(source)
            return report
        } catch {
            // The first error is the one to report.
            try? source.close()
            throw error
        }
    }

    /// Closes a log that has moved; it may have stopped because of that.
    private static func closeMoved(_ source: some MovableLog) throws(JournalError) {
        do throws(JournalError) { try source.close() } catch { if error.code != .moved { throw error } }
    }

    private static func finish(
        _ source: some MovableLog, _ place: LogPlace, named name: String, _ progress: (Position, Position) -> Void
    ) throws -> CopyReport {
        // An earlier run has done everything, and was interrupted before its answer at most.
        if try source.movedTo() == name, let successor = try openSuccessor(of: source, place) { return successor }
        try LogCopy.checkSource(source, movingTo: name)
        var copy = try place.openCopy(of: source)
        let first = copy.position
        do {
            try LogCopy.finish(source, to: &copy, named: name, progress: progress)
        } catch {
            try? copy.close()
            throw error
        }
        return CopyReport(head: source.head, copiedCount: source.head.position - first, isFinished: true)
    }

    /// Returns the report of a finished move; nil if the copy is not finished.
    private static func openSuccessor(of source: some MovableLog, _ place: LogPlace) throws -> CopyReport? {
        let successor = try place.openReadOnly()
        guard try !successor.isUnfinishedCopy(), try successor.contains(source.head) else { return nil }
        return CopyReport(head: successor.head, copiedCount: 0, isFinished: true)
    }
}

/// What a run of `copy` has done.
private struct CopyReport: Encodable {
    let head: JournalHead
    let copiedCount: Position
    let isFinished: Bool

    private enum Key: CodingKey { case head, position, copied, finished }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(head, forKey: .head)
        try container.encode(head.position, forKey: .position)
        try container.encode(copiedCount, forKey: .copied)
        try container.encode(isFinished, forKey: .finished)
    }
}
