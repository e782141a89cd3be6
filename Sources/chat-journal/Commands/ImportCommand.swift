import Chat
import ChatDomain

extension Command {
    static let `import` = Command(
        spec: CommandSpec(
            "import", "takes in the history of another chat, one JSON object a line",
            positionals: [.journal, CommandSpec.Positional("FILE", "the messages")],
            options: [
                CommandSpec.Option(
                    "format", .choice(["messages", "events"]),
                    "the format of the file: messages (the default), or events as export prints them"), .durability, .waitForLock, .json,
            ],
            discussion: """
                A line is {"t": ISO-8601 or null, "channel", "user", "id", "replyTo": id or null, "body"}, with "editedAt" for a message that was edited, or a join, {"t", "channel", "user",
                "join": true}. A user is a string, one person in all channels however its case, or {"id", "name", "subject"} (the subject may be missing), one person by the id. A user of the journal's own is
                never taken for one of them: a name that is taken gets a suffix such as ~2, and the sum at the end says so. A channel that is an outward code is that thread, another becomes a named thread.
                A reply to a reply joins the replies of its message. Importing the same file again appends nothing. A refused line is reported and does not stop the rest.

                With --format events a line is an event as export prints it, of this version or an earlier one. The journal is empty or holds the first of
                the events, so that an import that was cut off is continued by running it again. Events are taken as they were recorded, and only if they are
                a history that the rules allow: the first line that is not ends the import, and what was taken before it stays.
                """)
    ) { arguments, output in
        if arguments[option: "format"] == "events" { return try importEvents(arguments, &output) }
        var lines = try LineReader(path: arguments[positional: "FILE"])
        let store = try arguments.openToWrite()
        let report = ImportReport(isJSON: arguments.has("json"))
        var importer = MessageImporter(into: store)
        var progress = Progress("import")
        var unreadable = 0
        while let line = try lines.next() {
            switch line.decode(ImportedLine.self) {
            case .success(let content): try report.print(try importer.add(content, line: lines.lineNumber), &output, &progress)
            case .failure(let error):
                unreadable += 1
                try report.print(RunAnswer(line: lines.lineNumber, outcome: .error(error)), &output, &progress)
            }
            progress.update(lines.lineNumber)
        }
        try report.print(try importer.finish(), &output, &progress)
        progress.finish()
        try store.close()
        try report.print(importer.summary, lines: lines.lineNumber, unreadable: unreadable, &output)
        return unreadable == 0 && importer.summary.refused == 0
    }
}

/// How an import tells what became of the lines: refused ones as they come, and the sum at the end.
private struct ImportReport {
    let isJSON: Bool

    func print(_ refused: [RefusedMessage], _ output: inout StandardOutput, _ progress: inout Progress) throws {
        for message in refused { try print(RunAnswer(line: message.line, outcome: .rejection(message.rejection)), &output, &progress) }
    }

    func print(_ answer: RunAnswer, _ output: inout StandardOutput, _ progress: inout Progress) throws {
        if isJSON { return try output.writeLine(json: answer) }
        progress.finish()
        switch answer.outcome {
        case .rejection(let rejection): StandardError.writeLine("line \(answer.line): \(rejection)")
        case .error(let error): StandardError.writeLine("line \(answer.line): \(error.code.rawValue): \(visible(error.description))")
        case .receipt: break
        }
    }

    func print(_ summary: ImportSummary, lines: Int, unreadable: Int, _ output: inout StandardOutput) throws {
        let sum = ImportSum(lines: lines, unreadable: unreadable, summary: summary)
        if isJSON { return try output.writeLine(json: sum) }
        try output.writeLine(
            "\(lines) lines: \(summary.messages) messages and \(summary.replies) replies taken in, \(summary.duplicates) there already, "
                + "\(summary.refused) refused, \(unreadable) unreadable; \(summary.users) users and \(summary.threads) threads are new")
        if summary.joins > 0 || summary.edits > 0 { try output.writeLine("\(summary.joins) joins and \(summary.edits) edits taken in") }
        for user in summary.renamed { try output.writeLine("\(visible(user.name)) is \(visible(user.username)) here") }
        for user in summary.withoutSubject {
            try output.writeLine("\(visible(user.username)) has no subject here: another user has \(visible(user.subject))")
        }
    }
}

private struct ImportSum: Encodable {
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
