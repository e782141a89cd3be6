import Chat
import ChatDomain
import Projections

extension CommandSpec.Option {
    /// The option of commands whose answer is for the host only: a clear error instead of an
    /// unknown option.
    fileprivate static let rejectedViewer = CommandSpec.Option(
        "viewer", .text("USER"), "always rejected: the answer is for the host")
}

/// The commands that show memberships, access and activity.
extension ToolCommand {
    static let members = ToolCommand(
        spec: CommandSpec(
            "members", "lists the members of a thread, in the order in which they joined",
            positionals: [.journal, .thread], options: CommandSpec.Option.list)
    ) { arguments, output in
        let page = try arguments.listPage()
        return try showMembers(arguments, &output) { reader, thread throws(ChatError) in
            try reader.members(of: thread, page: page).entries
        }
    }

    static let readers = ToolCommand(
        spec: CommandSpec(
            "readers", "lists the users who could read a thread, in the order in which they joined; for the host",
            positionals: [.journal, .thread],
            options: [.asOf, .rejectedViewer, .json])
    ) { arguments, output in
        try showMembers(arguments, &output) { reader, thread throws(ChatError) in
            try requireHost(reader.viewer)
            return try reader.store.readers(of: thread, asOf: reader.point)
        }
    }

    private static func showMembers(
        _ arguments: Arguments, _ output: inout BufferedOutput,
        _ query: (ChatReader, ThreadID) throws(ChatError) -> [ThreadMember]
    ) throws -> Bool {
        try arguments.withThread { reader, thread in
            try output.show(members: try query(reader, thread), asJSON: arguments.hasFlag("json"))
        }
    }

    static let access = ToolCommand(
        spec: CommandSpec(
            "access", "lists when a user gained and lost access to each thread, in the order in which they gained it",
            positionals: [.journal, .user], options: [.asOf, .viewer, .json],
            discussion: """
                FROM is the position since which the user could read the thread: by joining, or as an operator of the
                community. TO is the one since which they could not; - if they still can. A reader can read the whole
                thread, also what is older, unless the history of the thread begins at the join of each member.
                """)
    ) { arguments, output in
        try arguments.withUser { reader, user in
            try output.show(
                try reader.access(of: user), asJSON: arguments.hasFlag("json"),
                [.init("FROM", .right), .init("TO", .right), .init("THREAD"), .init("ID")]
            ) {
                [
                    "\($0.from)", $0.to.map { "\($0)" } ?? "-", $0.name ?? "(erased)", "\($0.thread)",
                ]
            }
        }
    }

    static let residents = ToolCommand(
        spec: CommandSpec(
            "residents", "lists the residents of an outward code, in the order in which they moved there",
            positionals: [.journal, CommandSpec.Positional("OUTWARD", "an outward code, such as SW1A")],
            options: CommandSpec.Option.list)
    ) { arguments, output in
        guard let code = OutwardCode(arguments[positional: "OUTWARD"]) else {
            throw arguments.error("OUTWARD must be an outward code, such as SW1A")
        }
        let page = try arguments.listPage()
        return try arguments.withReader { reader in
            let residents = try reader.residents(of: code, page: page)
            try output.show(
                residents.entries, asJSON: arguments.hasFlag("json"),
                [.init("SINCE", .right), .init("USER"), .init("POSTCODE"), .init("ID")]
            ) {
                [
                    "\($0.since)", $0.user.displayName, $0.postcode?.description ?? "\($0.outwardCode)",
                    "\($0.user.id)",
                ]
            }
        }
    }

    static let activity = ToolCommand(
        spec: CommandSpec(
            "activity", "counts registrations, sessions, active users, messages and replies by day",
            positionals: [.journal],
            options: [
                CommandSpec.Option("from", .text("DAY"), "the first day to show, such as 2026-11-21"),
                CommandSpec.Option("to", .text("DAY"), "the last day to show"), .asOf, .rejectedViewer, .json,
            ],
            discussion: """
                Days are in UTC, by the time of creation, which for an import is the original time. A user is active
                on a day with any event of theirs except the end of a session. Days without events are left out. The
                counts include all users, so only the host may see them.
                """)
    ) { arguments, output in
        let (first, last) = (try arguments.day("from"), try arguments.day("to"))
        return try arguments.withReader { reader in
            try requireHost(reader.viewer)
            try output.show(
                try reader.store.activity(from: first, to: last, asOf: reader.point),
                asJSON: arguments.hasFlag("json"),
                [
                    .init("DAY"), .init("REGISTRATIONS", .right), .init("SESSIONS", .right),
                    .init("ACTIVE USERS", .right),
                    .init("MESSAGES", .right), .init("REPLIES", .right),
                ]
            ) {
                [
                    "\($0.day)", "\($0.registrationCount)", "\($0.sessionCount)", "\($0.activeUserCount)",
                    "\($0.messageCount)",
                    "\($0.replyCount)",
                ]
            }
        }
    }
}

extension Arguments {
    fileprivate func day(_ name: String) throws(UsageError) -> CalendarDay? {
        guard let text = self[option: name] else { return nil }
        guard let day = CalendarDay(text) else {
            throw error("--\(name) takes a day such as 2026-11-21, not '\(escapedForTerminal(text))'")
        }
        return day
    }
}
