import Chat
import ChatDomain
import EventJournal
import MerkleLog

/// The commands about the Merkle tree of a journal: its heads and its proofs.
extension ToolCommand {
    static let checkpoint = ToolCommand(
        spec: CommandSpec(
            "checkpoint", "prints an auditor's checkpoint: the head of the journal's Merkle tree",
            positionals: [.journal],
            options: [
                CommandSpec.Option(
                    "at", .text("P"), "the tree of the events up to position P; default the last durable position"),
                .json,
            ],
            discussion: """
                The text is a C2SP tlog-checkpoint without signatures: sign it with an outside tool. It shows an
                auditor who keeps it later that no event up to this position was changed, removed, inserted or moved.
                """)
    ) { arguments, output in
        let size: Position? = try arguments.integer("at", in: 0...Position.max)
        let journal = try arguments.journal.openReadOnly()
        let head = try journal.treeHead(at: size ?? journal.durablePosition)
        if arguments.hasFlag("json") {
            try output.writeLine(json: CheckpointLine(head))
        } else {
            try output.write(head.text)
        }
        return true
    }

    static let prove = ToolCommand(
        spec: CommandSpec(
            "prove",
            "prints a proof that an event is in the journal, or that the journal only grew since an auditor's checkpoint",
            positionals: [.journal],
            options: [
                CommandSpec.Option(
                    "event", .text("P"), "prove that the event at position P is in the tree (C2SP tlog-proof)"),
                CommandSpec.Option(
                    "from", .text("SIZE"),
                    "prove that the tree begins with that of the checkpoint of SIZE (C2SP add-checkpoint)"),
                CommandSpec.Option(
                    "at", .text("SIZE"), "the size of the tree, a position; default the last durable position"),
                CommandSpec.Option(
                    "entry", .text("FILE"), "with --event: also write the event to FILE, a new file, for check-proof"),
                CommandSpec.Option(
                    "without-content", .flag, "with --entry: write a digest in the place of the event's texts"),
            ])
    ) { arguments, output in
        let position: Position? = try arguments.integer("event", in: 1...Position.max)
        let oldSize: Position? = try arguments.integer("from", in: 0...Position.max)
        let size: Position? = try arguments.integer("at", in: 0...Position.max)
        guard (position == nil) != (oldSize == nil) else {
            throw arguments.error("either --event P or --from SIZE is needed")
        }
        let file = arguments[option: "entry"]
        guard file == nil || position != nil else { throw arguments.error("--entry needs --event P") }
        guard file != nil || !arguments.hasFlag("without-content") else {
            throw arguments.error("--without-content needs --entry FILE")
        }
        let journal = try arguments.journal.openReadOnly()
        if let oldSize {
            try output.write(try journal.consistencyProof(from: oldSize, at: size ?? journal.durablePosition).text)
        } else if let position {
            let proof = try journal.inclusionProof(of: position, at: size ?? journal.durablePosition)
            if let file {
                // The store hides what an unfinished erasure has left in the files.
                let record = try arguments.openReadOnly().disclosedRecord(at: position)
                try TextFile.create(
                    file, with: arguments.hasFlag("without-content") ? record.withholdingContent().text : record.text)
            }
            try output.write(proof.text)
        }
        return true
    }

    static let checkProof = ToolCommand(
        spec: CommandSpec(
            "check-proof", "verifies a proof without a journal",
            positionals: [CommandSpec.Positional("FILE", "the proof, as printed by prove")],
            options: [
                CommandSpec.Option(
                    "checkpoint", .text("FILE"),
                    "the auditor's checkpoint that you trust: that of the tree for an event, the earlier one for a growth"
                ),
                CommandSpec.Option(
                    "later", .text("FILE"), "for a growth: the later auditor's checkpoint, if you trust one"),
                CommandSpec.Option("event", .text("FILE"), "the event that is proved, as written by prove --entry"),
                .json,
            ],
            discussion: """
                Verify the signatures of the checkpoints with an outside tool first. Without --event, the proof shows
                that the tree has the leaf hash of the proof's line 'extra', but not of which event it is.
                """)
    ) { arguments, output in
        guard let trusted = arguments[option: "checkpoint"] else {
            throw arguments.error("--checkpoint is missing: the file of the checkpoint that you trust")
        }
        let name = arguments[positional: "FILE"]
        let text = try TextFile.read(name, byteLimit: ProofText.byteLimit)
        let head = try TextFile.parse(trusted, TreeHead.init(parsing:))
        if text.hasPrefix("old ") {
            guard arguments[option: "event"] == nil else {
                throw arguments.error("--event needs the proof of an event")
            }
            let proof = try TextFile.naming(name) { () throws(ProofTextError) in try ConsistencyProof(parsing: text) }
            try checkGrowth(proof, from: head, arguments, &output)
        } else {
            guard arguments[option: "later"] == nil else {
                throw arguments.error("--later needs the proof of a growth")
            }
            let proof = try TextFile.naming(name) { () throws(ProofTextError) in try InclusionProof(parsing: text) }
            try checkInclusion(proof, in: head, arguments, &output)
        }
        return true
    }

    private static func checkGrowth(
        _ proof: ConsistencyProof, from head: TreeHead, _ arguments: Arguments, _ output: inout BufferedOutput
    ) throws {
        if let later = arguments[option: "later"] {
            guard try TextFile.parse(later, TreeHead.init(parsing:)) == proof.head else {
                throw ArgumentError("the proof ends at another checkpoint than that of --later")
            }
        }
        try proof.verify(from: head)
        if arguments.hasFlag("json") {
            return try output.writeLine(json: GrowthLine(from: proof.oldSize, checkpoint: CheckpointLine(proof.head)))
        }
        try output.writeLine(
            "the tree of size \(proof.head.size) begins with the tree of size \(proof.oldSize); the later checkpoint:")
        try output.write(escapedLines(proof.head))
    }

    private static func checkInclusion(
        _ proof: InclusionProof, in head: TreeHead, _ arguments: Arguments, _ output: inout BufferedOutput
    ) throws {
        guard proof.head == head else {
            throw ArgumentError("the proof is about another tree than that of --checkpoint")
        }
        let record = try arguments[option: "event"].map {
            try TextFile.parse($0, byteLimit: DisclosedRecord.textByteLimit, DisclosedRecord.init(parsing:))
        }
        guard let leaf = record?.leaf ?? MerkleHash(proof.extra) else {
            throw arguments.error("--event is missing, and the proof has no leaf hash in a line 'extra'")
        }
        try proof.verify(leaf)
        let event = try record.map { record in
            RecordedEvent(
                position: proof.position, event: try ChatEvent(keptBytes: record.kept, erasableBytes: record.erasable))
        }
        let isJSON = arguments.hasFlag("json")
        if isJSON {
            try output.writeLine(
                json: InclusionLine(position: proof.position, leaf: leaf.base64, checkpoint: CheckpointLine(head)))
        } else {
            try output.writeLine(
                "position \(proof.position) of the tree of size \(head.size) of \(escapedForTerminal(head.origin)) has the leaf \(leaf)"
            )
        }
        if let event { try output.write(event, asJSON: isJSON) }
    }

    static let tiles = ToolCommand(
        spec: CommandSpec(
            "tiles", "writes the journal's Merkle tree to a directory of static files, or continues one",
            positionals: [
                .journal, CommandSpec.Positional("DIR", "a directory that is new, empty or of an earlier run"),
            ],
            options: [
                CommandSpec.Option(
                    "entries", .flag, "also write the entries, which show who did what in which thread and when"),
                .json,
            ],
            discussion: """
                The layout is that of C2SP tlog-tiles: DIR/checkpoint without signatures, and DIR/tile. Any web server
                can serve it. A reader of the files can compute every proof. The checkpoint is written last; sign it
                with an outside tool.
                """)
    ) { arguments, output in
        let includesEntries = arguments.hasFlag("entries")
        if includesEntries {
            StandardError.writeLine(
                "warning: the entries show who did what in which thread and when; texts and names appear as digests only"
            )
        }
        let journal = try arguments.journal.openReadOnly()
        let report = try journal.writeTiles(to: arguments[positional: "DIR"], includingEntries: includesEntries)
        if arguments.hasFlag("json") {
            try output.writeLine(
                json: TilesLine(
                    checkpoint: CheckpointLine(report.head), writtenFiles: report.writtenFiles,
                    removedFiles: report.removedFiles))
        } else {
            try output.writeLine(
                "wrote \(report.writtenFiles) files, and removed \(report.removedFiles) partial tiles; the checkpoint:")
            try output.write(escapedLines(report.head))
        }
        return true
    }

    private static func escapedLines(_ head: TreeHead) -> String {
        "\(escapedForTerminal(head.origin))\n\(head.size)\n\(head.root)\n"
    }
}

private struct GrowthLine: Encodable {
    let from: UInt64
    let checkpoint: CheckpointLine
}

private struct TilesLine: Encodable {
    let checkpoint: CheckpointLine
    let writtenFiles: Int
    let removedFiles: Int
}

private struct InclusionLine: Encodable {
    let position: Position
    let leaf: String
    let checkpoint: CheckpointLine
}
