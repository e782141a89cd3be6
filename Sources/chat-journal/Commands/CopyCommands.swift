import Chat
import EventJournal

/// The commands that make one journal of another.
extension Command {
    static let backup = Command(
        spec: CommandSpec(
            "backup", "makes a copy of a journal, or continues one, while a writer goes on with it",
            positionals: [.journal, CommandSpec.Positional("DEST", "the directory of the copy")],
            options: [
                CommandSpec.Option("up-to", .text("P"), "end the copy at or before position P; all that is durable unless given"), .json,
            ],
            discussion:
                "Run again, it copies what is new. To restore, use the copy as a journal. A copy that was itself written to is refused.")
    ) { arguments, output in
        let upTo: Position? = try arguments.integer("up-to", in: 0...Position.max)
        let report = try ChatStore.backup(
            ofJournalAt: arguments[positional: "JOURNAL"], to: arguments[positional: "DEST"], options: BackupOptions(upTo: upTo))
        if arguments.has("json") {
            try output.writeLine(json: report)
        } else {
            for name in report.rewritten { try output.writeLine("\(name): copied anew, the journal has rewritten it") }
            let copied = report.copied.count + report.rewritten.count
            try output.writeLine(
                "copied up to position \(report.head.position): \(report.bytes) bytes in \(copied) \(copied == 1 ? "segment" : "segments"), \(report.skipped.count) were there"
            )
            try output.writeLine(report.head.description)
        }
        return true
    }

    static let repair = Command(
        spec: CommandSpec(
            "repair", "salvages what can be read of a damaged journal into a new one, and names what is lost", positionals: [.journal],
            options: [CommandSpec.Option("to", .text("DEST"), "the directory of the new journal, absent or empty"), .json],
            discussion:
                "The new journal has a new id and the same positions; a lost event stands in the place of each one that could not be "
                + "salvaged. The damaged journal is only read. The exit status is 1 if anything was lost.")
    ) { arguments, output in
        guard let destination = arguments[option: "to"] else { throw arguments.error("--to must name the directory of the new journal") }
        let report = try ChatStore.repair(journalAt: arguments[positional: "JOURNAL"], to: destination)
        if arguments.has("json") {
            try output.writeLine(json: report)
        } else {
            for loss in report.losses {
                let bytes = loss.bytes.map { " bytes \($0[0])..<\($0[1])" } ?? ""
                try output.writeLine(
                    "\(loss.segment.map(visible) ?? "journal")\(bytes) positions \(loss.positions[0])...\(loss.positions[1]): lost: \(loss.problem)"
                )
            }
            try output.writeLine(
                "salvaged \(report.salvaged) of \(report.salvaged + report.lost) events up to position \(report.head.position)")
            try output.writeLine(report.head.description)
        }
        return report.isComplete
    }
}
