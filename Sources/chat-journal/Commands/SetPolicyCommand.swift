import Chat
import ChatDomain

/// The command that closes the threads that an import left open.
extension ToolCommand {
    static let setPolicy = ToolCommand(
        spec: CommandSpec(
            "set-policy", "sets who may join the threads of earlier imports",
            positionals: [.journal],
            options: [
                CommandSpec.Option(
                    "imported", .choice(["inviteOnly"]), "only users with an invitation may join the imported threads that are open"),
                .durability, .waitForLock, .takeOver, .acceptClock, .json,
            ],
            discussion: """
                Earlier versions opened imported threads to every user; import --policy open does so still. The command
                makes those threads inviteOnly that never were, and prints them. Their members stay, with what they can
                read: look for strangers with the command members. The owners, or the operators
                where there is none, set the policy of a single thread with the command setThreadPolicy of run.
                """)
    ) { arguments, output in
        guard arguments[option: "imported"] != nil else { throw arguments.error("--imported inviteOnly is missing") }
        let store = try arguments.openForWriting()
        let threads = try store.closing { try store.makeImportedThreadsInviteOnly().map { try store.thread($0, as: .host) } }
        if arguments.hasFlag("json") {
            try output.writeLine(json: ClosedThreads(threads: threads.map(\.id)))
        } else {
            for thread in threads { try output.writeLine("\(thread.id)  \(escapedForTerminal(thread.name ?? "-"))") }
            try output.writeLine("\(threads.count) imported \(threads.count == 1 ? "thread is" : "threads are") inviteOnly from now on")
        }
        return true
    }
}

private struct ClosedThreads: Encodable {
    let policy = ThreadPolicy.inviteOnly
    let threads: [ThreadID]
}
