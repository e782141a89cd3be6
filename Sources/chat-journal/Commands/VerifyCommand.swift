import Chat
import ChatDomain
import EventJournal
import MerkleLog

/// The commands that check a journal, and that print the token of its state for a later check.
extension ToolCommand {
    static let verify = ToolCommand(
        spec: CommandSpec(
            "verify", "checks everything that can be checked, and prints every finding", positionals: [.journal],
            options: [
                CommandSpec.Option(
                    "expect", .text("HEAD|FILE"),
                    "a token printed by head, or a file with an auditor's checkpoint, which the journal must still contain"
                ),
                CommandSpec.Option(
                    "ledger", .text("FILE"),
                    "a copy of the journal's file 'ledger': find content that it lists as erased and that is present"),
                CommandSpec.Option(
                    "deep", .flag,
                    "also rebuild the read models, compare them with the state of the rules and their stored checkpoint, and check the "
                        + "checksums of checkpoints and of 'tree'"),
                .json,
            ])
    ) { arguments, output in
        let expectation = try arguments.expectation()
        let ledger = try arguments[option: "ledger"].map {
            try TextFile.parse($0, byteLimit: JournalLimits.ledgerBytes, ErasureLedger.init(parsing:))
        }
        let isDeep = arguments.hasFlag("deep")
        var progress = Progress("verify")
        defer { progress.clear() }
        let report = try verify(arguments.journal, expectation, ledger ?? ErasureLedger(), deep: isDeep) {
            position, last in
            progress.update(Int(position), of: Int(last))
        }
        progress.clear()
        if arguments.hasFlag("json") {
            try output.writeLine(json: report)
            try output.writeLossesJSON(of: report)
        } else {
            let checked =
                ["bytes", "checksums", "chain", "events", "rules"]
                + [expectation?.name, ledger == nil ? nil : "ledger", isDeep ? "read models" : nil].compactMap { $0 }
            try output.show(report, of: arguments[positional: "JOURNAL"], checked: checked)
        }
        return report.isValid
    }

    private static func verify(
        _ place: LogPlace, _ expectation: Expectation?, _ ledger: ErasureLedger, deep: Bool,
        _ progress: (Position, Position) -> Void
    ) throws -> VerificationReport {
        switch place {
        case .directory(let path):
            var options = JournalOptions()
            options.expectedHead = expectation?.head
            return try ChatStore.verify(
                path, options: options, expecting: expectation?.treeHead, deep: deep, ledger: ledger, progress: progress
            )
        case .database:
            return try ChatStore.verify(
                log: try place.openReadOnly(), containing: expectation?.head, expecting: expectation?.treeHead,
                deep: deep,
                ledger: ledger, progress: progress)
        }
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

extension BufferedOutput {
    /// Writes what may be lost for people, and the threads in doubt, as lines of JSON.
    mutating func writeLossesJSON(of report: VerificationReport) throws {
        let kinds = report.possibleLosses.map(\.name)
        if !kinds.isEmpty { try writeLine(json: PossibleLosses(mayBeLost: kinds)) }
        for thread in report.threadsInDoubt { try writeLine(json: thread) }
    }

    /// Writes what may be lost for people, and the threads in doubt.
    mutating func showDoubts(of report: VerificationReport) throws {
        let kinds = report.possibleLosses.map(\.name)
        if !kinds.isEmpty { try writeLine("may be lost, and is not undone: \(kinds.joined(separator: ", "))") }
        for thread in report.threadsInDoubt {
            try writeLine(
                "thread \(thread.thread) is in doubt: events after position \(thread.after) may be lost, so only its members read it"
            )
        }
        if !report.threadsInDoubt.isEmpty {
            try writeLine("An owner sets the policy of such a thread again, or '\(ToolSpec.name) set-policy' does.")
        }
    }
}

private struct PossibleLosses: Encodable {
    let mayBeLost: [String]
}

/// What the journal must still contain: the value of `--expect`.
private enum Expectation {
    case head(JournalHead)
    case tree(TreeHead)

    /// The name in the list of what was checked.
    var name: String {
        switch self {
        case .head: "expected head"
        case .tree: "checkpoint"
        }
    }

    var head: JournalHead? { if case .head(let head) = self { head } else { nil } }

    var treeHead: TreeHead? { if case .tree(let head) = self { head } else { nil } }
}

extension Arguments {
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
    /// Writes a report for people: its findings, and what follows from them.
    fileprivate mutating func show(_ report: VerificationReport, of journal: String, checked: [String]) throws {
        func count(_ count: some BinaryInteger, _ one: String, _ several: String) -> String {
            "\(count) \(count == 1 ? one : several)"
        }
        for finding in report.findings { try writeLine(escapedForTerminal(finding.description)) }
        try writeLine(
            report.isValid
                ? "sound up to position \(report.position): \(checked.joined(separator: ", "))"
                : "\(count(report.findings.count, "finding", "findings")); whole up to position \(report.position)")
        if report.withheldEventCount > 0 {
            try writeLine(
                "\(count(report.withheldEventCount, "event has", "events have")) no content in this copy, "
                    + "and no event orders its erasure.")
        }
        if let warning = ClockStatus(now: SystemClock().now(), lastRecordedAt: report.lastRecordedAt).warning {
            try writeLine(warning)
        }
        for note in report.earlierRules {
            let positions =
                note.first == note.last ? "at position \(note.first)" : "from position \(note.first) to \(note.last)"
            try writeLine(
                "\(count(note.eventCount, "event follows", "events follow")) an earlier rule, \(positions), which is no finding: "
                    + note.rule.message)
        }
        if report.lostEventCount > 0 {
            try writeLine(
                "\(count(report.lostEventCount, "event is", "events are")) lost; 'events --kind lost' lists them. "
                    + "Their effects, such as a join, are missing from all views.")
            try showDoubts(of: report)
        }
        if report.findings.contains(where: { $0.segment != nil && !$0.isRebuildable }) {
            try writeLine(
                "'\(ToolSpec.name) repair \(escapedForTerminal(journal)) --to NEW' salvages the readable events.")
        }
    }
}
