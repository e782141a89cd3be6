import Chat
import ChatDomain
import EventJournal

/// `import --format events`: reads an export back.
func importEvents(_ arguments: Arguments, _ output: inout StandardOutput) throws -> Bool {
    var lines = try LineReader(path: arguments[positional: "FILE"], limit: EventImportReport.longestLine)
    var importer = try EventImporter(into: arguments[positional: "JOURNAL"], options: try arguments.journalOptions())
    let report = EventImportReport(isJSON: arguments.has("json"))
    var progress = Progress("import")
    var isClean = true
    do {
        while isClean, let line = try lines.next() {
            switch line.decode(ExportedEvent.self, limit: EventImportReport.longestLine) {
            case .success(let event): try importer.add(event, line: lines.lineNumber)
            case .failure(let error):
                isClean = false
                progress.finish()
                try report.print(error.code.rawValue, error.description, line: lines.lineNumber, &output)
            }
            progress.update(lines.lineNumber)
        }
        progress.finish()
        if isClean { try importer.finish() } else { try importer.close() }
    } catch let error as EventImportError {
        isClean = false
        progress.finish()
        // What the commits before hold is made durable; an error of the journal is the one that is told.
        try? importer.close()
        try report.print(error.code, error.message, line: error.line, &output)
    }
    try report.print(importer.summary, head: importer.head, lines: lines.lineNumber, &output)
    return isClean
}

/// How an import of events tells what it did.
private struct EventImportReport {
    /// An event of an unknown kind is printed as two hexadecimal digits a byte, and a scalar of text as up to twelve bytes.
    static let longestLine = 16 << 20

    let isJSON: Bool

    func print(_ code: String, _ message: String, line: Int, _ output: inout StandardOutput) throws {
        if isJSON { return try output.writeLine(json: Refusal(line: line, error: .init(code: code, message: message))) }
        StandardError.writeLine("line \(line): \(code): \(visible(message))")
    }

    func print(_ summary: EventImportSummary, head: JournalHead, lines: Int, _ output: inout StandardOutput) throws {
        if isJSON {
            return try output.writeLine(
                json: Sum(
                    lines: lines, events: summary.events, present: summary.present, commits: summary.commits, position: head.position,
                    head: head.description, sameChain: false))
        }
        try output.writeLine(
            "\(lines) lines: \(summary.events) events taken in as \(summary.commits) commits, \(summary.present) there already; "
                + "the journal ends at position \(head.position)")
        try output.writeLine(
            "its id and its chain value are its own, because each record is salted anew: a head of the exported journal is none of it")
        try output.writeLine(head.description)
    }

    private struct Refusal: Encodable {
        struct Fault: Encodable {
            let code: String
            let message: String
        }
        let line: Int
        let error: Fault
    }

    private struct Sum: Encodable {
        let lines: Int
        let events: Int
        let present: Int
        let commits: Int
        let position: Position
        let head: String
        /// Always false, so that nobody compares the head with that of the exported journal.
        let sameChain: Bool
    }
}
