import Chat
import ChatDomain
import EventJournal

/// The command that lets times begin lower, after events were recorded under a wrong clock.
extension ToolCommand {
    static let correctClock = ToolCommand(
        spec: CommandSpec(
            "correct-clock", "lets times begin lower, after the clock was wrong and is right again",
            positionals: [.journal],
            options: [.json],
            discussion: """
                An event, clockCorrected, records it. Events keep the times that they have. Mutes and bans that only
                the wrong clock ended are in force again. Those that were set under it are listed: their ends may be
                wrong too. Set the clock first, because later times follow it.
                """)
    ) { arguments, output in
        var options = StoreOptions()
        options.journal.createIfMissing = false
        let store = try arguments.journal.openStore(options)
        let correction = try store.closing { try store.correctClock() }
        if arguments.hasFlag("json") {
            try output.writeLine(json: correction)
            return true
        }
        guard let position = correction.position else {
            try output.writeLine(
                "nothing to correct: the last time, \(correction.formerTime), is not ahead of the clock, \(correction.time)"
            )
            return true
        }
        try output.writeLine(
            "times begin at \(correction.time) from position \(position) on; the last one before is \(correction.formerTime)"
        )
        guard !correction.sanctions.isEmpty else { return true }
        try output.writeLine("sanctions set under the wrong clock; look at their ends:")
        try output.show(
            correction.sanctions, asJSON: false,
            [.init("POSITION", .right), .init("KIND"), .init("USER"), .init("UNTIL"), .init("THREAD"), .init("ID")]
        ) {
            [
                "\($0.position)", $0.kind.rawValue, $0.user.displayName, $0.until.map { "\($0)" } ?? "-",
                "\($0.thread)", "\($0.user.id)",
            ]
        }
        return true
    }
}
