import Chat
import EventJournal

/// The commands that copy a journal to a directory, and that salvage a damaged one.
extension ToolCommand {
    static let backup = ToolCommand(
        spec: CommandSpec(
            "backup", "copies a journal, or updates a copy, while a writer appends to it",
            positionals: [.journal, CommandSpec.Positional("DEST", "the directory of the copy")],
            options: [
                CommandSpec.Option(
                    "up-to", .text("P"), "end the copy at or before position P; default the last durable position"),
                .json,
            ],
            discussion:
                "A second run copies what is new. To restore, use the copy as a journal. "
                + "A copy that was written to cannot be updated."
        )
    ) { arguments, output in
        let upTo: Position? = try arguments.integer("up-to", in: 0...Position.max)
        guard case .directory(let destination) = LogPlace(arguments[positional: "DEST"]) else {
            throw arguments.error("DEST is a directory; 'copy' copies to PostgreSQL")
        }
        let report: BackupReport
        switch arguments.journal {
        case .directory(let path):
            report = try ChatStore.backup(ofJournalAt: path, to: destination, options: BackupOptions(upTo: upTo))
        case .database:
            report = try ChatStore.backup(of: try arguments.journal.openReadOnly(), to: destination, upTo: upTo)
        }
        if arguments.hasFlag("json") {
            try output.writeLine(json: report)
        } else {
            for name in report.rewrittenSegments {
                try output.writeLine("\(name): copied again, because the journal has rewritten it")
            }
            let copied = report.copiedSegments.count + report.rewrittenSegments.count
            try output.writeLine(
                "copied up to position \(report.head.position): \(report.bytesCopied) bytes in \(copied) "
                    + "\(copied == 1 ? "segment" : "segments"), \(report.skippedSegments.count) already present"
            )
            try output.writeLine(report.head.description)
        }
        return true
    }

    static let repair = ToolCommand(
        spec: CommandSpec(
            "repair", "salvages the readable events of a damaged journal into a new one, and lists the lost ones",
            positionals: [.journal],
            options: [
                CommandSpec.Option(
                    "to", .text("DEST"), "the directory of the new journal, which is empty or does not exist"), .json,
            ],
            discussion:
                "The new journal has a new id and the same positions; "
                + "an event of the kind lost replaces each event that cannot be read, and historyRepaired ends the history. "
                + "Threads that may have lost an event are in doubt: only their members read them, until an owner or set-policy sets "
                + "the policy again. "
                + "The damaged journal is only read. The exit status is 1 if an event is lost.")
    ) { arguments, output in
        guard let destination = arguments[option: "to"] else {
            throw arguments.error("--to is missing: the directory of the new journal")
        }
        guard case .directory(let path) = arguments.journal, case .directory = LogPlace(destination) else {
            throw arguments.error(
                "repair is for directories; PostgreSQL repairs its tables by a restore from a backup or a replica")
        }
        let report = try ChatStore.repair(journalAt: path, to: destination)
        // The remaining events tell which threads may have lost some.
        let verification = report.isComplete ? nil : try ChatStore.verify(destination)
        if arguments.hasFlag("json") {
            try output.writeLine(json: report)
            if let verification { try output.writeLossesJSON(of: verification) }
        } else {
            for loss in report.losses {
                let bytes = loss.bytes.map { " bytes \($0)" } ?? ""
                try output.writeLine(
                    "\(loss.segment.map { escapedForTerminal($0) } ?? "journal")\(bytes) "
                        + "positions \(loss.positions): lost: \(loss.problem)"
                )
            }
            try output.writeLine(
                "salvaged \(report.salvagedCount) of \(report.salvagedCount + report.lostCount) events up to position \(report.head.position)"
            )
            if let verification { try output.showDoubts(of: verification) }
            try output.writeLine(report.head.description)
        }
        return report.isComplete
    }
}
