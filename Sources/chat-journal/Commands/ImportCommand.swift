import Chat
import ChatDomain
import ChatWire
import EventJournal

extension ToolCommand {
    static let `import` = ToolCommand(
        spec: CommandSpec(
            "import", "imports the history of another chat, one JSON object a line",
            positionals: [.journal, CommandSpec.Positional("FILE", "the messages")],
            options: [
                CommandSpec.Option(
                    "format", .choice(["messages", "events"]),
                    "the format of the file: messages (the default), or events as export prints them"),
                CommandSpec.Option(
                    "policy", .choice(["inviteOnly", "open"]),
                    "who may join the new named threads: users with an invitation (the default), or everyone"),
                CommandSpec.Option("dry-run", .flag, "report what an import would do, and write nothing"),
                CommandSpec.Option(
                    "sort", .flag, "import the lines by their times; lines without one stay after the line before them"),
                CommandSpec.Option(
                    "lenient", .flag, "leave out unknown fields, and count them, instead of rejecting their lines"),
                CommandSpec.Option(
                    "find-mentions", .flag, "also mention the members whose names follow an @ in a text"),
                .durability, .waitForLock, .takeOver, .acceptClock, .json,
            ],
            discussion: """
                A line is {"t": ISO-8601 or null, "channel", "user", "id", "replyTo": id or null, "body"}, with
                "editedAt" for an edited message and "mentions": [user, ...] for those whom it mentions, or a join,
                {"t", "channel", "user", "join": true}. "replyTo" can be left out. A user is a string, one person in
                all channels whatever its case, or {"id", "name", "subject"} (the subject is optional), one person by
                the id. An import never takes over a user of the journal: a name that is taken gets a suffix such as
                ~2, which the summary lists. A channel that is an outward code is that thread, any other becomes a
                named thread. A named thread takes only users with an invitation, unless --policy or the line of its
                channel says otherwise: {"channel", "policy": "open" or "inviteOnly", "members": [user, ...]}, before
                the first line of the channel. Its members are optional; authors and mentioned users are members too.
                set-policy closes the threads that earlier imports left open.

                With --find-mentions a text also mentions the members whom it names, by their names in the journal:
                who is a member when the line is imported, not the author, and at most 50 with those of "mentions".

                A message can have "reactions": [{"emoji", "users": [user, ...]}], with at most 10,000 users in all.
                An emoji is one of Unicode, or a name: "wave" and ":Wave:" become :wave:. Reactions are added only to
                a message that never had one, and their users join as authors do, unless they have left. What is no
                emoji, or more than 20 of a user or 50 different ones, is left out and counted (reactionsLeftOut).

                A reply to a reply becomes a reply to its message. A reply that stands before its message follows
                directly after it. A reply whose message is neither in the file nor in the journal is posted as a
                message, and stays one. Names are cleaned and shortened. A body over 16,384 bytes is split; an edit
                replaces its first part. An edit before the time of its message is ignored. The summary counts what
                was adapted in new lines, by kind, each with the first line (JSON: "adapted").

                Importing the same file again appends nothing. A rejected line is reported and does not stop the
                rest. FILE can be - for standard input. The file is read twice; a pipe is first copied to a temporary
                file without a name. Memory is about 60 bytes for each line, and half of that again with --sort.
                --sort also moves the lines of channels to the front. --dry-run needs the memory of an import.

                With --format events a line is an event as export prints it, of this version or an earlier one. The
                journal is empty or holds the first of the events: an interrupted import continues when it is run
                again. The events are imported as they were recorded. The first line that the rules do not allow ends
                the import, and the lines before it stay imported.
                """)
    ) { arguments, output in
        let policy = arguments[option: "policy"]
        if arguments[option: "format"] == "events" {
            if policy != nil { throw arguments.error("--policy is for messages: events keep their policies") }
            for flag in ["dry-run", "sort", "lenient", "find-mentions"] where arguments.hasFlag(flag) {
                throw arguments.error("--\(flag) is for messages: events are imported as they are")
            }
            return try importEvents(arguments, &output)
        }
        if arguments.hasFlag("dry-run"), arguments.hasFlag("take-over") {
            throw arguments.error("--dry-run writes nothing: leave out --take-over")
        }
        let file = try RereadFile(path: arguments[positional: "FILE"])
        let ignoredFields = arguments.hasFlag("lenient") ? IgnoredFields() : nil
        let userInfo: [CodingUserInfoKey: any Sendable] = ignoredFields.map { [IgnoredFields.key: $0] } ?? [:]
        var order = ImportOrder<RereadFile.Place>(byTime: arguments.hasFlag("sort"))
        var progress = Progress("import: reading")
        defer { progress.clear() }
        let lineCount = try file.forEachLine { line, place in
            // The second pass reports a line that cannot be read.
            order.learn(try? line.decode(ImportedLine.self, userInfo: userInfo).get(), at: place)
            // The second pass counts them.
            _ = ignoredFields?.take()
            progress.update(Int(place.line))
        }

        let store = try arguments.hasFlag("dry-run") ? arguments.openForDryRun() : arguments.openForWriting()
        let report = ImportReport(isJSON: arguments.hasFlag("json"), isDryRun: arguments.hasFlag("dry-run"))
        var importer = MessageImporter(
            into: store, policy: policy.flatMap(ThreadPolicy.init) ?? .inviteOnly, isOrdered: true,
            findMentions: arguments.hasFlag("find-mentions"))
        progress = Progress("import")
        var (imported, unreadable) = (0, 0)
        while let (place, isMoved) = order.next() {
            let decoded = try file.line(at: place).decode(ImportedLine.self, userInfo: userInfo)
            let fields = ignoredFields?.take() ?? []
            switch decoded {
            case .success(let content):
                let rejected = try importer.add(content, line: Int(place.line), isMoved: isMoved, ignoredFields: fields)
                try report.print(rejected, &output, &progress)
            case .failure(let error):
                unreadable += 1
                try report.print(CommandAnswer(line: Int(place.line), error), &output, &progress)
            }
            imported += 1
            progress.update(imported)
        }
        try report.print(try importer.finish(), &output, &progress)
        try store.close()
        try report.print(importer.summary, lines: lineCount, unreadable: unreadable, &output)
        return unreadable == 0 && importer.summary.rejected == 0
    }
}

extension Arguments {
    /// Opens a store on the journal, or on a new one, that writes nothing.
    fileprivate func openForDryRun() throws -> ChatStore {
        var options = StoreOptions()
        options.acceptsClock = hasFlag("accept-clock")
        let log: any ToolLog
        do {
            log = try journal.openReadOnly()
        } catch let error as JournalError where error.code == .notFound {
            return try ChatStore.openForDryRun(log: nil, options: options)
        }
        return try ChatStore.openForDryRun(log: log, options: options)
    }
}

/// The output of an import: rejected lines as they occur, and a summary at the end.
private struct ImportReport {
    let isJSON: Bool
    let isDryRun: Bool

    func print(_ rejected: [RejectedLine], _ output: inout BufferedOutput, _ progress: inout Progress) throws {
        for message in rejected {
            try print(CommandAnswer(line: message.line, outcome: .rejection(message.rejection)), &output, &progress)
        }
    }

    func print(_ answer: CommandAnswer, _ output: inout BufferedOutput, _ progress: inout Progress) throws {
        if isJSON { return try output.writeLine(json: answer) }
        progress.clear()
        switch answer.outcome {
        case .rejection(let rejection): StandardError.writeLine("line \(answer.line): \(rejection)")
        case .error(let code, let message):
            StandardError.writeLine("line \(answer.line): \(code): \(escapedForTerminal(message))")
        case .receipt: break
        }
    }

    func print(_ summary: ImportSummary, lines: Int, unreadable: Int, _ output: inout BufferedOutput) throws {
        let totals = ImportTotals(lines: lines, unreadable: unreadable, summary: summary)
        if isJSON { return try output.writeLine(json: totals) }
        try output.writeLine(
            "\(lines) lines: \(summary.messages) messages and \(summary.replies) replies imported, "
                + "\(summary.duplicates) duplicates, \(summary.rejected) rejected, \(unreadable) unreadable; "
                + "\(summary.users) new users and \(summary.threads) new threads"
        )
        if !summary.threadsByPolicy.isEmpty {
            let counts = ThreadPolicy.allCases.compactMap { policy in
                summary.threadsByPolicy[policy].map { "\($0) \(policy.rawValue)" }
            }
            try output.writeLine("new threads by policy: \(counts.joined(separator: ", "))")
        }
        if summary.earlierOpenThreads > 0 {
            try output.writeLine(
                "\(summary.earlierOpenThreads) threads of earlier imports are open to every user: "
                    + "`set-policy JOURNAL --imported inviteOnly` closes them")
        }
        if summary.joins > 0 || summary.edits > 0 {
            try output.writeLine("\(summary.joins) joins and \(summary.edits) edits imported")
        }
        if summary.reactions > 0 { try output.writeLine("\(summary.reactions) reactions imported") }
        for kind in ImportAdaptation.allCases {
            guard let lines = summary.adaptations[kind] else { continue }
            try output.writeLine(
                "adapted, \(kind.rawValue): \(lines.count), first: line \(lines.line), \(escapedForTerminal(lines.example))"
            )
        }
        for user in summary.renamed {
            try output.writeLine("\(escapedForTerminal(user.name)) is \(escapedForTerminal(user.username)) here")
        }
        for user in summary.withoutSubject {
            try output.writeLine(
                "\(escapedForTerminal(user.username)) has no subject here: another user has \(escapedForTerminal(user.subject))"
            )
        }
        if isDryRun { try output.writeLine("dry run: nothing was written") }
    }
}

private struct ImportTotals: Encodable {
    let lines: Int
    let unreadable: Int
    let summary: ImportSummary

    private enum CodingKeys: CodingKey { case lines, unreadable }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(lines, forKey: .lines)
        try container.encode(unreadable, forKey: .unreadable)
        try summary.encode(to: encoder)
    }
}

// MARK: Events

/// `import --format events`: imports an export.
private func importEvents(_ arguments: Arguments, _ output: inout BufferedOutput) throws -> Bool {
    var lines = try LineReader(path: arguments[positional: "FILE"], limit: EventImportReport.longestLine)
    var importer = try EventImporter(
        into: try arguments.journal.open(try arguments.journalOptions(), takesOver: arguments.hasFlag("take-over")))
    let report = EventImportReport(isJSON: arguments.hasFlag("json"))
    var progress = Progress("import")
    defer { progress.clear() }
    var isClean = true
    do {
        while isClean, let line = try lines.next() {
            switch line.decode(ExportedEvent.self, limit: EventImportReport.longestLine) {
            case .success(let event): try importer.add(event, line: lines.lineNumber)
            case .failure(let error):
                isClean = false
                progress.clear()
                try report.print(error.code.rawValue, error.description, line: lines.lineNumber, &output)
            }
            progress.update(lines.lineNumber)
        }
        progress.clear()
        if isClean { try importer.finish() } else { try importer.close() }
    } catch let error as EventImportError {
        isClean = false
        progress.clear()
        // Makes the commits before the line durable. The error of the line is the one to report.
        try? importer.close()
        try report.print(error.code, error.message, line: error.line, &output)
    }
    try report.print(importer.summary, head: importer.head, lines: lines.lineNumber, &output)
    return isClean
}

/// The output of an import of events.
private struct EventImportReport {
    /// The limit in bytes for a line of an export.
    ///
    /// A scalar of text takes up to twelve bytes in JSON, a byte of an unknown event two.
    static let longestLine = 16 << 20

    let isJSON: Bool

    func print(_ code: String, _ message: String, line: Int, _ output: inout BufferedOutput) throws {
        if isJSON {
            return try output.writeLine(json: Rejected(line: line, error: .init(code: code, message: message)))
        }
        StandardError.writeLine("line \(line): \(code): \(escapedForTerminal(message))")
    }

    func print(_ summary: EventImportSummary, head: JournalHead, lines: Int, _ output: inout BufferedOutput) throws {
        if isJSON {
            return try output.writeLine(
                json: Totals(
                    lines: lines, events: summary.events, present: summary.existing, commits: summary.commits,
                    position: head.position,
                    head: head.description, sameChain: false))
        }
        try output.writeLine(
            "\(lines) lines: \(summary.events) events imported as \(summary.commits) commits, "
                + "\(summary.existing) already present; "
                + "the journal ends at position \(head.position)")
        try output.writeLine(
            "Each record is salted anew, so the journal has its own id and chain values: "
                + "a head of the exported journal does not match."
        )
        try output.writeLine(head.description)
    }

    private struct Rejected: Encodable {
        struct Problem: Encodable {
            let code: String
            let message: String
        }
        let line: Int
        let error: Problem
    }

    private struct Totals: Encodable {
        let lines: Int
        let events: Int
        let present: Int
        let commits: Int
        let position: Position
        let head: String
        /// Always false: the head differs from that of the exported journal.
        let sameChain: Bool
    }
}
