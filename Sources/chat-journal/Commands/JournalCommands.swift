import Chat
import ChatDomain
import EventJournal

/// The commands that show or check the journal itself.
extension Command {
    static let events = Command(
        spec: CommandSpec(
            "events", "shows the events that match, oldest first, each with the time at which it was created", positionals: [.journal],
            options: [
                .after,
                CommandSpec.Option("thread", .text("T"), "only events of this thread"),
                CommandSpec.Option("user", .text("U"), "only events by or about this user"),
                CommandSpec.Option("kind", .choice(EventKind.allCases.map(\.name)), "only events of this kind"),
                CommandSpec.Option("follow", .flag, "go on with what comes, also from another process, until interrupted"),
                .viewer, .json,
            ])
    ) { arguments, output in
        let after: Position = try arguments.integer("after", in: 0...Position.max) ?? 0
        let store = try arguments.openReadOnly()
        let kind = arguments[option: "kind"].flatMap(EventKind.init(name:))
        let viewer = try arguments.viewer(in: store)
        let filter = EventFilter(
            threads: try arguments.thread(option: "thread", in: store, viewer: viewer).map { [$0] },
            users: try arguments.users(option: "user", in: store, viewer: viewer),
            kinds: kind.map { [$0] }, viewer: viewer)
        try output.writeEvents(of: store, after: after, matching: filter, asJSON: arguments.has("json"))
        if arguments.has("follow") {
            try output.flush()
            try await follow(store.events(after: max(after, store.head.position), matching: filter), asJSON: arguments.has("json"))
        }
        return true
    }

    static let export = Command(
        spec: CommandSpec(
            "export", "prints all events as JSON lines, for another program or 'import --format events'", positionals: [.journal],
            options: [.json])
    ) { arguments, output in
        // A non-copyable writer cannot be captured; it is lent to the closure and taken back.
        var failure: (any Error)?
        var progress = Progress("export")
        try ChatStore.forEachExportedEvent(ofJournalAt: arguments[positional: "JOURNAL"]) { event, end in
            progress.update(Int(event.recorded.position), of: Int(end))
            do {
                try output.writeLine(json: event)
                return true
            } catch {
                failure = error
                return false
            }
        }
        progress.finish()
        if let failure { throw failure }
        return true
    }

    static let verify = Command(
        spec: CommandSpec(
            "verify", "checks everything that can be checked, and tells every finding", positionals: [.journal],
            options: [
                CommandSpec.Option("expect", .text("HEAD"), "a token printed by head: the journal must still contain it"),
                CommandSpec.Option(
                    "deep", .flag, "also rebuild every read model and compare it with the rules' own state and with the checkpoint"),
                .json,
            ])
    ) { arguments, output in
        var options = JournalOptions()
        if let text = arguments[option: "expect"] {
            guard let head = JournalHead(text) else { throw arguments.error("--expect takes a token that head has printed") }
            options.expectedHead = head
        }
        let checked =
            ["bytes", "checksums", "chain", "events", "rules"] + (options.expectedHead == nil ? [] : ["expected head"])
            + (arguments.has("deep") ? ["read models"] : [])
        var progress = Progress("verify")
        let report = try ChatStore.verify(arguments[positional: "JOURNAL"], options: options, deep: arguments.has("deep")) {
            position, last in
            progress.update(Int(position), of: Int(last))
        }
        progress.finish()
        if arguments.has("json") {
            try output.writeLine(json: report)
        } else {
            for finding in report.findings {
                let bytes = finding.bytes.map { " bytes \($0[0])..<\($0[1])" } ?? ""
                let positions = finding.positions.map { " positions \($0[0])...\($0[1])" } ?? ""
                try output.writeLine(
                    "\(finding.segment.map(visible) ?? "journal")\(bytes)\(positions): \(finding.problem): \(visible(finding.message))")
            }
            try output.writeLine(
                report.ok
                    ? "sound up to position \(report.position): \(checked.joined(separator: ", "))"
                    : "\(report.findings.count) \(report.findings.count == 1 ? "finding" : "findings"); whole up to position \(report.position)"
            )
            if report.lostEvents > 0 {
                try output.writeLine(
                    "\(report.lostEvents) \(report.lostEvents == 1 ? "event is" : "events are") lost, as 'events --kind lost' shows: "
                        + "what they told, a join for instance, no view can show")
            }
            if report.findings.contains(where: { $0.segment != nil }) {
                try output.writeLine(
                    "'\(ToolSpec.name) repair \(visible(arguments[positional: "JOURNAL"])) --to NEW' salvages what can be read")
            }
        }
        return report.ok
    }

    static let head = Command(
        spec: CommandSpec(
            "head", "prints a token of the journal as it is now, for verify --expect", positionals: [.journal], options: [.json])
    ) { arguments, output in
        let head = try ChatStore.head(ofJournalAt: arguments[positional: "JOURNAL"])
        if arguments.has("json") {
            try output.writeLine(json: HeadLine(journal: head.journal.description, position: head.position, head: head.description))
        } else {
            try output.writeLine(head.description)
        }
        return true
    }
}

private struct HeadLine: Encodable {
    let journal: String
    let position: Position
    let head: String
}

extension StandardOutput {
    fileprivate mutating func writeEvents(of store: ChatStore, after position: Position, matching filter: EventFilter, asJSON: Bool) throws
    {
        // A non-copyable writer cannot be captured; it is lent to the closure and taken back.
        var failure: (any Error)?
        try store.forEachEvent(after: position, matching: filter) { event in
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

    /// An event for people: position, time, kind, and its fields as JSON.
    private func line(of recorded: RecordedEvent) throws -> String {
        var fields: [UInt8] = []
        try JSONLineMembers.appendObject(to: &fields) { members in try recorded.encodeFields(to: &members) }
        return "\(recorded.position)  \(recorded.event.createdAt)  \(recorded.event.fact.kind?.name ?? "unknown")  "
            + String(decoding: fields, as: UTF8.self)
    }
}

/// Writes what comes, each event at once, for ever; ends with an error when the journal fails or nobody reads any more.
private func follow(_ events: ChatEvents, asJSON: Bool) async throws {
    try await withThrowingTaskGroup { tasks in
        tasks.addTask {
            var output = StandardOutput()
            for try await event in events {
                try output.write(event, asJSON: asJSON)
                try output.flush()
            }
        }
        tasks.addTask {
            while true {
                try SystemIO.requireReader()
                try await Task.sleep(for: .milliseconds(50))
            }
        }
        // Whichever ends first ends the other.
        defer { tasks.cancelAll() }
        try await tasks.next()
    }
}
