import Chat
import ChatDomain

/// The command by which the host sets policies: it closes the threads that an import left open, and
/// ends the doubt after a repair.
extension ToolCommand {
    /// Ends the doubt of a thread.
    private static func settle(_ name: String, _ arguments: Arguments, _ output: inout BufferedOutput) throws -> Bool {
        guard arguments[option: "imported"] == nil else {
            throw arguments.error("--thread and --imported exclude each other")
        }
        guard let policy = arguments[option: "policy"].flatMap(ThreadPolicy.init) else {
            throw arguments.error("--policy is missing")
        }
        let history = arguments[option: "history"].flatMap(ThreadHistory.init)
        let store = try arguments.openForWriting()
        let settled = try store.closing {
            let thread = try store.findThread(name, as: .host, asOf: .now)
            let position = try store.setPolicy(ofThreadInDoubt: thread, policy, history: history)
            return SettledThread(thread: thread, policy: policy, position: position)
        }
        if arguments.hasFlag("json") {
            try output.writeLine(json: settled)
        } else {
            try output.writeLine("thread \(settled.thread) is \(policy.rawValue) from position \(settled.position) on")
        }
        return true
    }

    static let setPolicy = ToolCommand(
        spec: CommandSpec(
            "set-policy", "sets who may join the threads of earlier imports, or a thread in doubt after a repair",
            positionals: [.journal],
            options: [
                CommandSpec.Option(
                    "imported", .choice(["inviteOnly"]),
                    "only users with an invitation may join the imported threads that are open"),
                CommandSpec.Option("thread", .text("THREAD"), "the thread in doubt"),
                CommandSpec.Option(
                    "policy", .choice(["open", "listed", "inviteOnly"]), "who may join the thread in doubt from now on"),
                CommandSpec.Option(
                    "history", .choice(["all", "sinceJoining"]), "what who joins then may read; default sinceJoining"),
                .durability, .waitForLock, .takeOver, .acceptClock, .json,
            ],
            discussion: """
                Earlier versions opened imported threads to every user; import --policy open does so still. The command
                makes those threads inviteOnly that never were, and prints them. Their members stay, with what they can
                read: look for strangers with the command members. The owners, or the operators
                where there is none, set the policy of a single thread with the command setThreadPolicy of run.

                After a repair, verify lists threads in doubt: an event that made them more private may be lost. With
                --thread and --policy the command ends the doubt in the name of the first owner that is left, or
                else of the first member. A direct thread takes no other policy, and neither does a thread
                that may be one, because its opening is lost and it has no owner: it stays with its members.
                """)
    ) { arguments, output in
        if let name = arguments[option: "thread"] { return try settle(name, arguments, &output) }
        guard arguments[option: "imported"] != nil else {
            throw arguments.error("--imported inviteOnly, or --thread THREAD --policy POLICY, is missing")
        }
        let store = try arguments.openForWriting()
        let threads = try store.closing {
            try store.makeImportedThreadsInviteOnly().map { try store.reader(as: .host).thread($0) }
        }
        if arguments.hasFlag("json") {
            try output.writeLine(json: ClosedThreads(threads: threads.map(\.id)))
        } else {
            for thread in threads { try output.writeLine("\(thread.id)  \(escapedForTerminal(thread.name ?? "-"))") }
            try output.writeLine(
                "\(threads.count) imported \(threads.count == 1 ? "thread is" : "threads are") inviteOnly from now on")
        }
        return true
    }
}

private struct ClosedThreads: Encodable {
    let policy = ThreadPolicy.inviteOnly
    let threads: [ThreadID]
}

private struct SettledThread: Encodable {
    let thread: ThreadID
    let policy: ThreadPolicy
    let position: Position
}
