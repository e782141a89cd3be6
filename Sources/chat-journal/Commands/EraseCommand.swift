import Chat
import ChatDomain
import EventJournal

/// The command that erases content for good.
extension ToolCommand {
    static let erase = ToolCommand(
        spec: CommandSpec(
            "erase", "erases the content of a user or of an event for good, from every file of the journal",
            positionals: [.journal],
            options: [
                CommandSpec.Option(
                    "user", .text("USER"),
                    "everything that this user wrote or was given; the user can do nothing any more"),
                CommandSpec.Option("event", .text("P"), "the content of the event at position P"),
                CommandSpec.Option(
                    "reason", .text("CODE"), "1 to 32 lower-case letters, digits and hyphens, which are kept"),
                .acceptClock, .json,
            ],
            discussion: """
                Nothing brings the content back. Ids, times, memberships and outward codes stay, and the auditors'
                checkpoints and proofs stay valid. An event records the erasure. Copies elsewhere are not changed: back up
                again, and delete older copies. After an interruption, the next opening for writing completes it.
                """)
    ) { arguments, output in
        let position: Position? = try arguments.integer("event", in: 1...Position.max)
        let name = arguments[option: "user"]
        guard (name == nil) != (position == nil) else {
            throw arguments.error("either --user USER or --event P is needed")
        }
        guard let reason = arguments[option: "reason"] else {
            throw arguments.error("--reason is missing: a code such as user-request")
        }
        var options = StoreOptions()
        options.journal.createIfMissing = false
        options.acceptsClock = arguments.hasFlag("accept-clock")
        let store = try arguments.journal.openStore(options)
        let erasure = try store.closing {
            if let name { return try store.eraseUser(try store.findUser(name, asOf: .now), reason: reason) }
            return try store.eraseContent(of: PositionSet(position.map { [$0...$0] } ?? []), reason: reason)
        }
        if arguments.hasFlag("json") {
            try output.writeLine(json: erasure)
        } else {
            let count = erasure.positions.count
            let erased = "erased the content of \(count) \(count == 1 ? "event" : "events")"
            if let orders = erasure.orders {
                try output.writeLine("\(erased), ordered at position \(orders.lowerBound)")
            } else {
                try output.writeLine(
                    count > 0
                        ? "\(erased), ordered earlier"
                        : "nothing to erase: there is no content, or it was erased earlier")
            }
            try output.writeLine(erasure.head.description)
        }
        return true
    }
}
