import Chat
import ChatDomain
import EventJournal
import MerkleLog

/// The commands that write the evidence of a thread, and verify it without a journal.
extension ToolCommand {
    static let evidence = ToolCommand(
        spec: CommandSpec(
            "evidence",
            "writes a thread's events for a person without the journal, who can verify that none is missing",
            positionals: [.journal, .thread],
            options: [
                CommandSpec.Option(
                    "out", .text("DIR"), "the directory of the evidence, which is empty or does not exist"),
                CommandSpec.Option("from", .text("P"), "only events at position P or later"),
                CommandSpec.Option("to", .text("P"), "only events at position P or earlier"),
                CommandSpec.Option(
                    "at", .text("SIZE"), "the size of the tree, a position; default the last durable position"),
                CommandSpec.Option(
                    "with-registrations", .flag,
                    "also disclose the names: the registrations of the people in the thread"),
                .json,
            ],
            discussion: """
                The directory has the events whole, all other events of the journal as hashes only, the auditor's
                checkpoint, and a README.md for the reader. Choose the size of a checkpoint that the reader already has
                with --at. The content of the events is disclosed to everyone who gets the directory.
                """)
    ) { arguments, output in
        guard let path = arguments[option: "out"], !path.isEmpty else {
            throw arguments.error("--out is missing: the directory")
        }
        let first: Position? = try arguments.integer("from", in: 1...Position.max)
        let last: Position? = try arguments.integer("to", in: 1...Position.max)
        let size: Position? = try arguments.integer("at", in: 1...Position.max)
        let directory = try NewDirectory(path)
        let store = try arguments.openReadOnly()
        let end = size ?? store.head.position
        guard first ?? 1 <= last ?? end else {
            throw arguments.error("--from is after the last position, \(last ?? end)")
        }
        let thread = try store.findThread(arguments[positional: "THREAD"], as: .host, asOf: .position(end))
        let evidence = try store.evidence(
            of: thread, in: first == nil && last == nil ? nil : (first ?? 1)...(last ?? end), at: end,
            withRegistrations: arguments.hasFlag("with-registrations"))
        try directory.create(EvidenceFiles.files(of: evidence, in: store))
        if arguments.hasFlag("json") {
            try output.writeLine(json: WrittenLine(evidence))
        } else {
            try output.writeLine(
                "\(escapedForTerminal(path)): events number \(evidence.numbers.lowerBound) to \(evidence.numbers.upperBound) of thread "
                    + "\(thread), \(evidence.registrations.count) registrations; the checkpoint:")
            try output.write(evidence.head.text)
        }
        return true
    }

    static let checkEvidence = ToolCommand(
        spec: CommandSpec(
            "check-evidence", "verifies a directory written by evidence, without a journal",
            positionals: [CommandSpec.Positional("DIR", "the directory")],
            options: [
                CommandSpec.Option("checkpoint", .text("FILE"), "the auditor's checkpoint that you trust"),
                CommandSpec.Option("events", .flag, "also print the events"),
                CommandSpec.Option(
                    "event", .text("P"), "print only the proof of the event at position P, for check-proof"),
                CommandSpec.Option(
                    "entry", .text("FILE"), "with --event: also write the event to FILE, a new file, for check-proof"),
                .json,
            ],
            discussion: """
                Verify the signatures of the checkpoint with an outside tool first. If the checkpoint comes from the
                directory itself, the result shows only that the files agree with one another.
                """)
    ) { arguments, output in
        guard let trusted = arguments[option: "checkpoint"] else {
            throw arguments.error("--checkpoint is missing: the file of the checkpoint that you trust")
        }
        let position: Position? = try arguments.integer("event", in: 1...Position.max)
        let file = arguments[option: "entry"]
        guard file == nil || position != nil else { throw arguments.error("--entry needs --event P") }
        guard position == nil || !arguments.hasFlag("events") else {
            throw arguments.error("--event and --events exclude each other")
        }
        guard position == nil || !arguments.hasFlag("json") else {
            throw arguments.error("--event prints a proof, which has no JSON form")
        }
        let directory = arguments[positional: "DIR"]
        let head = try TextFile.parse(trusted, TreeHead.init(parsing:))
        let verified = try EvidenceFiles.verify(directory, against: head, provingRecordAt: position) { _ in }
        if let (record, proof) = verified.record {
            if let file { try TextFile.create(file, with: record.text) }
            try output.write(proof.text)
            return true
        }
        try output.show(verified.report, asJSON: arguments.hasFlag("json"))
        guard arguments.hasFlag("events") else { return true }
        // The first pass has verified the whole directory before an event is printed. A file that
        // changes between the passes is reported at the end, after some of its events may have been
        // printed.
        let printed = try EvidenceFiles.verify(directory, against: head) { event in
            try output.write(event, asJSON: arguments.hasFlag("json"))
        }
        guard printed.report == verified.report else {
            throw ArgumentError("\(directory): the files have changed during the verification")
        }
        return true
    }
}

extension BufferedOutput {
    fileprivate mutating func show(_ report: EvidenceReport, asJSON: Bool) throws {
        if asJSON { return try writeLine(json: ReportLine(report)) }
        let (numbers, positions) = (report.numbers, report.positions)
        try writeLine(
            "thread \(report.thread): events number \(numbers.lowerBound) to \(numbers.upperBound), none missing, at positions "
                + "\(positions.lowerBound) to \(positions.upperBound) of the tree of size \(report.head.size) of "
                + escapedForTerminal(report.head.origin))
        try writeLine(
            report.beginsWithFirstEvent
                ? "they begin with the first event of the thread"
                : "nothing is shown about the events before number \(numbers.lowerBound)")
        try writeLine("records without content, which is erased or withheld: \(report.withoutContentCount)")
        try writeLine("registrations and changes of usernames: \(report.registrationCount)")
        try writeLine(
            "readers after position \(positions.upperBound): \(report.provenReaders.count) proven by their join, "
                + "\(report.statedReaders.count) stated by the host only")
        for reader in report.provenReaders { try writeLine("  \(reader.user) since position \(reader.since)") }
        for reader in report.statedReaders {
            try writeLine("  \(reader.user) since position \(reader.since), as the host states")
        }
    }
}

private struct WrittenLine: Encodable {
    let thread: ThreadID
    let numbers: [UInt64]
    let positions: [Position]
    let registrations: Int
    let readers: Int
    let checkpoint: CheckpointLine

    init(_ evidence: Evidence) {
        thread = evidence.thread
        numbers = [evidence.numbers.lowerBound, evidence.numbers.upperBound]
        positions = [evidence.positions[0], evidence.positions[evidence.positions.count - 1]]
        registrations = evidence.registrations.count
        readers = evidence.readers.count
        checkpoint = CheckpointLine(evidence.head)
    }
}

private struct ReportLine: Encodable {
    let thread: ThreadID
    let numbers: [UInt64]
    let positions: [Position]
    let beginsWithFirstEvent: Bool
    let withoutContent: UInt64
    let registrations: UInt64
    let provenReaders: [EvidenceReader]
    let statedReaders: [EvidenceReader]
    let checkpoint: CheckpointLine

    init(_ report: EvidenceReport) {
        thread = report.thread
        numbers = [report.numbers.lowerBound, report.numbers.upperBound]
        positions = [report.positions.lowerBound, report.positions.upperBound]
        beginsWithFirstEvent = report.beginsWithFirstEvent
        withoutContent = report.withoutContentCount
        registrations = report.registrationCount
        (provenReaders, statedReaders) = (report.provenReaders, report.statedReaders)
        checkpoint = CheckpointLine(report.head)
    }
}
