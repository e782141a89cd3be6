import Chat
import ChatDomain

/// The commands that show roles, sanctions, pins, reports, invitations, inboxes and people.
extension ToolCommand {
    /// These commands, in the order of the help.
    static let community: [ToolCommand] = [
        .roles, .bans, .pins, .reactions, .reports, .invitations, .inbox, .people, .person,
    ]

    static let roles = ToolCommand(
        spec: CommandSpec(
            "roles", "lists the owners and moderators of a thread; without THREAD, the operators of the community",
            positionals: [
                .journal, CommandSpec.Positional("THREAD", "an id, an outward code, or a name", isOptional: true),
            ], options: CommandSpec.Option.list,
            discussion: "SINCE is the position of the event that gave the role. Only operators may list the operators.")
    ) { arguments, output in
        let page = try arguments.listPage()
        guard arguments[optional: "THREAD"] != nil else {
            return try arguments.withReader { reader in
                let operators = try reader.operators(page: page).entries
                try output.show(
                    operators, asJSON: arguments.hasFlag("json"),
                    [.init("SINCE", .right), .init("OPERATOR"), .init("ID")]
                ) {
                    ["\($0.since)", $0.user.displayName, "\($0.user.id)"]
                }
            }
        }
        return try arguments.withThread { reader, thread in
            try output.show(
                try reader.roles(in: thread, page: page).entries,
                asJSON: arguments.hasFlag("json"),
                [.init("SINCE", .right), .init("ROLE"), .init("USER"), .init("ID")]
            ) {
                ["\($0.since)", $0.role.rawValue, $0.user.displayName, "\($0.user.id)"]
            }
        }
    }

    static let bans = ToolCommand(
        spec: CommandSpec(
            "bans", "lists the bans and mutes of a thread that are in effect, oldest first; for its moderators",
            positionals: [.journal, .thread], options: CommandSpec.Option.list)
    ) { arguments, output in
        // The end of a sanction is compared with a time as asked, not with that of the last event.
        let (page, asked) = (try arguments.listPage(), try arguments.point())
        return try arguments.withThread { reader, thread in
            try output.show(
                try reader.store.reader(as: reader.viewer, asOf: asked).sanctions(in: thread, page: page).entries,
                asJSON: arguments.hasFlag("json"),
                [
                    .init("POSITION", .right), .init("KIND"), .init("USER"), .init("UNTIL"), .init("BY"),
                    .init("REASON"), .init("ID"),
                ]
            ) {
                [
                    "\($0.position)", $0.kind.rawValue, $0.user.displayName, $0.until.map { "\($0)" } ?? "-",
                    $0.by.displayName,
                    $0.reason ?? "(erased)", "\($0.user.id)",
                ]
            }
        }
    }

    static let pins = ToolCommand(
        spec: CommandSpec(
            "pins", "lists the pinned messages of a thread, in the order in which they were pinned",
            positionals: [.journal, .thread], options: [.asOf, .viewer, .json])
    ) { arguments, output in
        try arguments.withThread { reader, thread in
            try output.show(
                timeline: try reader.pins(in: thread), to: reader.viewer,
                asJSON: arguments.hasFlag("json"))
        }
    }

    static let reactions = ToolCommand(
        spec: CommandSpec(
            "reactions", "lists the reactions to a message or a reply with their users, oldest first",
            positionals: [.journal, .post],
            options: CommandSpec.Option.list + [
                CommandSpec.Option("emoji", .text("EMOJI"), "only the reactions with this emoji or :name:"), .reply,
            ])
    ) { arguments, output in
        let page = try arguments.listPage()
        let posts = try arguments.posts()
        let emoji = try arguments[option: "emoji"].map { text in
            guard let emoji = Emoji(text) else {
                throw arguments.error("--emoji must be an emoji of Unicode, or a name such as :wave:")
            }
            return emoji
        }
        return try arguments.withReader { reader in
            let found = try reader.store.firstAnswer(about: posts) { post throws(ChatError) in
                try reader.reactions(to: post, emoji: emoji, page: page)
            }
            try output.show(
                found.entries, asJSON: arguments.hasFlag("json"),
                [.init("POSITION", .right), .init("EMOJI"), .init("USER"), .init("ID")]
            ) { ["\($0.position)", $0.emoji, $0.user.displayName, "\($0.user.id)"] }
        }
    }

    static let reports = ToolCommand(
        spec: CommandSpec(
            "reports", "lists the open reports of a thread's posts, oldest first; for its moderators",
            positionals: [.journal, .thread], options: CommandSpec.Option.list,
            discussion: """
                The text is that of the moment, for a viewer the present one, also of a post that a moderator has
                removed.
                """)
    ) { arguments, output in
        let page = try arguments.listPage()
        return try arguments.withThread { reader, thread in
            try output.show(
                try reader.reports(in: thread, page: page).entries,
                asJSON: arguments.hasFlag("json"),
                [
                    .init("POSITION", .right), .init("REPORTED"), .init("BY"), .init("REASON"), .init("AUTHOR"),
                    .init("TEXT"),
                    .init("POST"),
                ]
            ) {
                [
                    "\($0.position)", "\($0.reportedAt)", $0.by.displayName, $0.reason ?? "(erased)",
                    $0.author.displayName,
                    ($0.body ?? "(retracted or erased)") + ($0.isRemoved ? " (removed)" : ""), $0.post.name,
                ]
            }
        }
    }

    static let invitations = ToolCommand(
        spec: CommandSpec(
            "invitations", "lists the invitations that a user has neither accepted nor declined, oldest first",
            positionals: [.journal, .user], options: CommandSpec.Option.list)
    ) { arguments, output in
        let page = try arguments.listPage()
        return try arguments.withUser { reader, user in
            try output.show(
                try reader.invitations(of: user, page: page).entries,
                asJSON: arguments.hasFlag("json"),
                [.init("POSITION", .right), .init("INVITED"), .init("BY"), .init("THREAD"), .init("ID")]
            ) {
                [
                    "\($0.position)", "\($0.invitedAt)", $0.by.displayName + ($0.isFromBlockedUser ? " (blocked)" : ""),
                    $0.name ?? "(erased)", "\($0.thread)",
                ]
            }
        }
    }
}

extension ToolCommand {
    static let inbox = ToolCommand(
        spec: CommandSpec(
            "inbox",
            "lists what happened to a user, newest first: replies, mentions, reactions, invitations, moderation, reports",
            positionals: [.journal, .user], options: CommandSpec.Option.list,
            discussion: """
                An entry about a post goes with the post and with the right to read it. Unread entries are
                marked with *. One call looks at 1,000 events at most.
                """)
    ) { arguments, output in
        let page = try arguments.listPage()
        return try arguments.withUser { reader, user in
            let found = try reader.inbox(of: user, page: page)
            if found.isTruncated {
                let (before, after) = (found.older?.before ?? 0, found.newer.after ?? 0)
                StandardError.writeLine(
                    "More entries follow: --\(page.after == nil ? "before \(before)" : "after \(after)")")
            }
            try output.show(
                found.entries, asJSON: arguments.hasFlag("json"),
                [
                    .init("POSITION", .right), .init("", .left), .init("TIME"), .init("WHY"), .init("BY"),
                    .init("THREAD"), .init("WHAT"),
                ]
            ) {
                [
                    "\($0.position)", $0.isUnread ? "*" : "", "\($0.createdAt)", $0.reason.rawValue, $0.by.displayName,
                    threadDisplayName($0.name, $0.people), $0.what,
                ]
            }
        }
    }
}

extension ToolCommand {
    static let people = ToolCommand(
        spec: CommandSpec(
            "people",
            "lists the people of a user's threads, in the order in which they joined one; without a viewer, of all threads",
            positionals: [.journal],
            options: [
                CommandSpec.Option(
                    "name", .text("TEXT"), "only those whose names begin with TEXT, in any case and without accents")
            ]
                + CommandSpec.Option.list,
            discussion: """
                SINCE is the position of the first of their joins of the threads in common. One call looks at
                10,000 memberships at most.
                """)
    ) { arguments, output in
        let page = try arguments.listPage()
        return try arguments.withReader { reader in
            let found = try reader.people(named: arguments[option: "name"] ?? "", page: page)
            if found.isTruncated {
                StandardError.writeLine("People can be missing: 10,000 memberships were looked at.")
            }
            try output.show(
                found.entries, asJSON: arguments.hasFlag("json"), [.init("SINCE", .right), .init("NAME"), .init("ID")]
            ) {
                ["\($0.since)", $0.username ?? "(erased)", "\($0.id)"]
            }
        }
    }

    static let person = ToolCommand(
        spec: CommandSpec(
            "person", "shows a person: the profile text, and the threads in common with the viewer",
            positionals: [.journal, .user], options: CommandSpec.Option.list,
            discussion: """
                A viewer sees themself and the people of their threads; without a viewer, all threads of the user
                are shown. --limit, --before and --after select threads, by the positions of the person's joins.
                """)
    ) { arguments, output in
        let page = try arguments.listPage()
        return try arguments.withReader { reader in
            let user = try reader.store.findPerson(
                arguments[positional: "USER"], as: reader.viewer, asOf: reader.point)
            let person = try reader.person(user, threads: page)
            if arguments.hasFlag("json") { return try output.writeLine(json: person) }
            try output.writeLine("\(escapedForTerminal(person.username ?? "(erased)")), \(person.id)")
            if let about = person.about { try output.writeLine(escapedForTerminal(about)) }
            try output.show(
                person.threads.entries, asJSON: false, [.init("SINCE", .right), .init("THREAD"), .init("ID")]
            ) {
                ["\($0.since)", threadDisplayName($0.name, $0.people), "\($0.id)"]
            }
        }
    }
}

extension InboxEntry {
    /// What the entry is about, for tables.
    fileprivate var what: String {
        if let post { return (emoji.map { "\($0) " } ?? "") + post.name }
        guard let kind else { return "\(thread)" }
        return kind.name + (until.map { " until \($0)" } ?? "") + (moderatorNote.map { ": \($0)" } ?? "")
    }
}
