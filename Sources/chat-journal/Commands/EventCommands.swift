import Chat
import ChatDomain
import EventJournal

/// The commands that print events.
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
                    "custom-kind", .list("KIND"),
                    "only custom events of this kind, or of one of several: org.example.poll"),
                CommandSpec.Option(
                    "follow", .flag, "continue with new events, also of other processes, until interrupted"),
                .viewer, .json,
            ],
            discussion: """
                With --follow and --viewer, a line that begins with "erased" says which of the shown events have lost
                their content, and one with "accessLost" which thread the viewer can no longer read: forget them.
                """)
    ) { arguments, output in
        let after: Position = try arguments.integer("after", in: 0...Position.max) ?? 0
        let last: Position? = try arguments.integer("up-to", in: 0...Position.max)
        let customKinds = try arguments.customKinds()
        let store = try arguments.openReadOnly()
        let kind = arguments[option: "kind"].flatMap(EventKind.init(name:))
        let viewer = try arguments.viewer(in: store)
        let filter = EventFilter(
            as: viewer, threads: try arguments.thread(option: "thread", in: store, as: viewer).map { [$0] },
            users: try arguments.users(option: "user", in: store, as: viewer),
            kinds: kind.map { [$0] }, customKinds: customKinds)
        // The scan looks at the journal again in its course, so the store has a newer head
        // afterwards.
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
                    "instead print the erasures that were ordered after position P, with the events to delete elsewhere"
                ),
                .json,
            ])
    ) { arguments, output in
        // `--json` is accepted as by the other commands; the output is always JSON.
        if let position: Position = try arguments.integer("erasures-after", in: 0...Position.max) {
            for erasure in try arguments.openReadOnly().erasures(after: position) {
                try output.writeLine(json: erasure)
            }
            return true
        }
        // The closure cannot throw; the error is kept.
        var failure: (any Error)?
        var progress = Progress("export")
        defer { progress.clear() }
        try ChatStore.forEachExportedEvent(of: try arguments.journal.openReadOnly()) { event, end, stop in
            progress.update(Int(event.recorded.position), of: Int(end))
            do {
                try output.writeLine(json: event)
            } catch {
                failure = error
                stop = true
            }
        }
        if let failure { throw failure }
        return true
    }
}

extension Arguments {
    /// The kinds of `--custom-kind`, or nil if it was left out.
    fileprivate func customKinds() throws(UsageError) -> Set<CustomKind>? {
        let kinds = try self[list: "custom-kind"].map { text throws(UsageError) in
            guard let kind = CustomKind(text) else {
                throw error(
                    "--custom-kind takes a reverse-DNS name, such as org.example.poll, not '\(escapedForTerminal(text))'"
                )
            }
            return kind
        }
        return kinds.isEmpty ? nil : Set(kinds)
    }
}

extension BufferedOutput {
    fileprivate mutating func writeEvents(
        of store: ChatStore, after position: Position, upTo last: Position, matching filter: EventFilter, asJSON: Bool
    ) throws {
        // The closure cannot throw; the error is kept.
        var failure: (any Error)?
        try store.forEachEvent(after: position, upTo: last, matching: filter) { event, stop in
            do {
                try write(event, asJSON: asJSON)
            } catch {
                failure = error
                stop = true
            }
        }
        if let failure { throw failure }
    }
}

/// Prints each event at once; ends with an error when the journal fails or the output has no reader
/// any more.
private func printEvents(_ events: ChatEvents, asJSON: Bool) async throws {
    try await withThrowingTaskGroup { tasks in
        tasks.addTask {
            var output = BufferedOutput()
            for try await update in events.updates {
                switch update {
                case .event(let event): try output.write(event.recorded, asJSON: asJSON)
                case .erased, .accessLost: try output.write(notice: update, asJSON: asJSON)
                }
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
