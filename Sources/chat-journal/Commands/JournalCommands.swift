import Chat
import ChatDomain
import ChatWire
import EventJournal
import MerkleLog

/// The commands about the journal itself: its events, its check, its head and its copies.
extension ToolCommand {
    static let events = ToolCommand(
        spec: CommandSpec(
            "events", "shows the matching events, oldest first, with the time of creation", positionals: [.journal],
            options: [
                .after,
                CommandSpec.Option("up-to", .text("P"), "end after position P"),
                CommandSpec.Option("thread", .text("T"), "only events of this thread"),
                CommandSpec.Option("user", .text("U"), "only events by or about this user"),
                CommandSpec.Option("kind", .choice(EventKind.allCases.map(\.name)), "only events of this kind"),
                CommandSpec.Option(
                    "follow", .flag, "continue with new events, also of other processes, until interrupted"),
                .viewer, .json,
            ])
    ) { arguments, output in
        let after: Position = try arguments.integer("after", in: 0...Position.max) ?? 0
        let last: Position? = try arguments.integer("up-to", in: 0...Position.max)
        let store = try arguments.openReadOnly()
        let kind = arguments[option: "kind"].flatMap(EventKind.init(name:))
        let viewer = try arguments.viewer(in: store)
        let filter = EventFilter(
            threads: try arguments.thread(option: "thread", in: store, viewer: viewer).map { [$0] },
            users: try arguments.users(option: "user", in: store, viewer: viewer),
            kinds: kind.map { [$0] }, viewer: viewer)
        // The scan looks at the journal again in its course, so the store has a newer head afterwards.
        let end = min(store.head.position, last ?? .max)
        try output.writeEvents(of: store, after: after, upTo: end, matching: filter, asJSON: arguments.hasFlag("json"))
        if arguments.hasFlag("follow") {
            try output.flush()
            try await printEvents(
                store.events(after: max(after, end), upTo: last, matching: filter), asJSON: arguments.hasFlag("json"))
        }
        return true
    }

    static let export = ToolCommand(
        spec: CommandSpec(
            "export", "prints all events as JSON lines, for other programs and for 'import --format events'",
            positionals: [.journal],
            options: [
                CommandSpec.Option(
                    "erasures-after", .text("P"),
                    "instead print the erasures that were ordered after position P, with the events to delete elsewhere"),
                .json,
            ])
    ) { arguments, output in
        // `--json` is accepted as by the other commands; the output is always JSON.
        if let position: Position = try arguments.integer("erasures-after", in: 0...Position.max) {
            for erasure in try arguments.openReadOnly().erasures(after: position) { try output.writeLine(json: erasure) }
            return true
        }
        // The closure cannot throw; the error is kept.
        var failure: (any Error)?
        var progress = Progress("export")
        defer { progress.clear() }
        try ChatStore.forEachExportedEvent(of: try arguments.journal.openReadOnly()) { event, end in
            progress.update(Int(event.recorded.position), of: Int(end))
            do {
                try output.writeLine(json: event)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
        return true
    }

    static let verify = ToolCommand(
        spec: CommandSpec(
            "verify", "checks everything that can be checked, and prints every finding", positionals: [.journal],
            options: [
                CommandSpec.Option(
                    "expect", .text("HEAD|FILE"),
                    "a token printed by head, or a file with a checkpoint, which the journal must still contain"),
                CommandSpec.Option(
                    "ledger", .text("FILE"),
                    "a copy of the journal's file 'ledger': find content that it lists as erased and that is present"),
                CommandSpec.Option(
                    "deep", .flag,
                    "also rebuild the read models, and compare them with the state of the rules and the checkpoint"),
                .json,
            ])
    ) { arguments, output in
        var options = JournalOptions()
        var treeHead: TreeHead?
        switch try arguments.expectation() {
        case .head(let head): options.expectedHead = head
        case .tree(let head): treeHead = head
        case nil: break
        }
        let ledger = try arguments[option: "ledger"].map {
            try TextFile.parse($0, byteLimit: JournalLimits.ledgerBytes, ErasureLedger.init(parsing:))
        }
        let checked =
            ["bytes", "checksums", "chain", "events", "rules"] + (options.expectedHead == nil ? [] : ["expected head"])
            + (treeHead == nil ? [] : ["checkpoint"]) + (ledger == nil ? [] : ["ledger"])
            + (arguments.hasFlag("deep") ? ["read models"] : [])
        var progress = Progress("verify")
        defer { progress.clear() }
        let isDeep = arguments.hasFlag("deep")
        let report: VerificationReport
        switch arguments.journal {
        case .directory(let path):
            report = try ChatStore.verify(
                path, options: options, expecting: treeHead, deep: isDeep, ledger: ledger ?? ErasureLedger()
            ) { position, last in progress.update(Int(position), of: Int(last)) }
        case .database:
            report = try ChatStore.verify(
                log: try arguments.journal.openReadOnly(), containing: options.expectedHead, expecting: treeHead, deep: isDeep,
                ledger: ledger ?? ErasureLedger()
            ) { position, last in progress.update(Int(position), of: Int(last)) }
        }
        progress.clear()
        if arguments.hasFlag("json") {
            try output.writeLine(json: report)
        } else {
            for finding in report.findings { try output.writeLine(escapedForTerminal(finding.description)) }
            try output.writeLine(
                report.isValid
                    ? "sound up to position \(report.position): \(checked.joined(separator: ", "))"
                    : "\(report.findings.count) \(report.findings.count == 1 ? "finding" : "findings"); "
                        + "whole up to position \(report.position)"
            )
            if report.withheldEventCount > 0 {
                try output.writeLine(
                    "\(report.withheldEventCount) \(report.withheldEventCount == 1 ? "event has" : "events have") no content in this copy, "
                        + "and no event orders its erasure.")
            }
            if report.lostEventCount > 0 {
                try output.writeLine(
                    "\(report.lostEventCount) \(report.lostEventCount == 1 ? "event is" : "events are") lost; "
                        + "'events --kind lost' lists them. "
                        + "Their effects, such as a join, are missing from all views.")
            }
            if report.findings.contains(where: { $0.segment != nil && $0.problem != "treeDiffers" }) {
                try output.writeLine(
                    "'\(ToolSpec.name) repair \(escapedForTerminal(arguments[positional: "JOURNAL"])) --to NEW' "
                        + "salvages the readable events."
                )
            }
        }
        return report.isValid
    }

    static let head = ToolCommand(
        spec: CommandSpec(
            "head", "prints a token of the journal's present state, for verify --expect", positionals: [.journal],
            options: [.json])
    ) { arguments, output in
        let head = try arguments.journal.openReadOnly().head
        if arguments.hasFlag("json") {
            try output.writeLine(
                json: HeadLine(journal: head.journal.description, position: head.position, head: head.description))
        } else {
            try output.writeLine(head.description)
        }
        return true
    }
}

extension Arguments {
    fileprivate enum Expectation {
        case head(JournalHead)
        case tree(TreeHead)
    }

    /// The token or the checkpoint of `--expect`.
    fileprivate func expectation() throws -> Expectation? {
        guard let text = self[option: "expect"] else { return nil }
        if let head = JournalHead(text) { return .head(head) }
        let usage = error("--expect takes a token printed by 'head', or a file with a checkpoint")
        if text.hasPrefix("cj1-") { throw usage }
        do {
            return .tree(try TextFile.parse(text, TreeHead.init(parsing:)))
        } catch let error as ToolError where error.code == .fileNotFound {
            throw usage
        }
    }
}

private struct HeadLine: Encodable {
    let journal: String
    let position: Position
    let head: String
}

extension BufferedOutput {
    fileprivate mutating func writeEvents(
        of store: ChatStore, after position: Position, upTo last: Position, matching filter: EventFilter, asJSON: Bool
    ) throws {
        // The closure cannot throw; the error is kept.
        var failure: (any Error)?
        try store.forEachEvent(after: position, upTo: last, matching: filter) { event in
            do {
                try write(event, asJSON: asJSON)
                return true
            } catch {
                failure = error
                return false
            }
        }
        if let failure { throw failure }
    }

    /// Writes an event as a JSON line or for people.
    mutating func write(_ event: RecordedEvent, asJSON: Bool) throws {
        if asJSON { try writeLine(json: event) } else { try writeLine(line(of: event)) }
    }

    /// An event for people: its position, time and kind, and its fields as JSON.
    private func line(of recorded: RecordedEvent) throws -> String {
        var fields: [UInt8] = []
        try JSONLineMembers.appendObject(to: &fields) { members in try recorded.encodeFields(to: &members) }
        return "\(recorded.position)  \(recorded.event.createdAt)  \(recorded.event.details.kind?.name ?? "unknown")  "
            + String(decoding: fields, as: UTF8.self)
    }
}

/// Prints each event at once; ends with an error when the journal fails or the output has no reader
/// any more.
private func printEvents(_ events: ChatEvents, asJSON: Bool) async throws {
    try await withThrowingTaskGroup { tasks in
        tasks.addTask {
            var output = BufferedOutput()
            for try await event in events {
                try output.write(event.recorded, asJSON: asJSON)
                try output.flush()
            }
        }
        tasks.addTask {
            // Notices a closed pipe within 50 ms, even if no event arrives.
            while true {
                try SystemIO.requireReader()
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        // The task that ends first ends the other.
        defer { tasks.cancelAll() }
        try await tasks.next()
    }
}

// MARK: Copies

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
                + "an event of the kind lost replaces each event that cannot be read. "
                + "The damaged journal is only read. The exit status is 1 if an event is lost.")
    ) { arguments, output in
        guard let destination = arguments[option: "to"] else {
            throw arguments.error("--to is missing: the directory of the new journal")
        }
        guard case .directory(let path) = arguments.journal, case .directory = LogPlace(destination) else {
            throw arguments.error("repair is for directories; PostgreSQL repairs its tables by a restore from a backup or a replica")
        }
        let report = try ChatStore.repair(journalAt: path, to: destination)
        if arguments.hasFlag("json") {
            try output.writeLine(json: report)
        } else {
            for loss in report.losses {
                let bytes = loss.bytes.map { " bytes \($0)" } ?? ""
                try output.writeLine(
                    "\(loss.segment.map(escapedForTerminal) ?? "journal")\(bytes) "
                        + "positions \(loss.positions): lost: \(loss.problem)"
                )
            }
            try output.writeLine(
                "salvaged \(report.salvagedCount) of \(report.salvagedCount + report.lostCount) events up to position \(report.head.position)"
            )
            try output.writeLine(report.head.description)
        }
        return report.isComplete
    }
}
