import Chat
import ChatDomain

/// The commands that show threads, posts and users.
extension ToolCommand {
    private static let pageOptions: [CommandSpec.Option] = [
        .limit, .before, .after,
        CommandSpec.Option("around", .text("P"), "half before position P, half from P on"),
        CommandSpec.Option("from", .text("TIME"), "only what was recorded at TIME or later, earliest first"),
        .asOf, .viewer, .json,
    ]

    static let directory = ToolCommand(
        spec: CommandSpec(
            "directory", "lists the threads that every user may find and join, those with the latest posts last",
            positionals: [.journal], options: pageOptions,
            discussion:
                "Threads with the policy listed that are not closed; for --viewer USER, without those from which they are banned."
        )
    ) { arguments, output in
        let page = try arguments.page()
        return try arguments.withReader { reader in
            let threads = try reader.directory(page: try page.page(in: reader.store))
            try output.show(
                threads.entries, asJSON: arguments.hasFlag("json"),
                [.init("POSITION", .right), .init("NAME"), .init("MEMBERS", .right), .init("LATEST POST"), .init("ID")]
            ) {
                [
                    "\($0.position)", $0.name ?? "(erased)", "\($0.memberCount)",
                    $0.latestPostAt.map { "\($0)" } ?? "-", "\($0.id)",
                ]
            }
        }
    }

    static let threads = ToolCommand(
        spec: CommandSpec(
            "threads", "lists the threads with the latest events, latest last", positionals: [.journal],
            options: pageOptions
        )
    ) { arguments, output in
        let page = try arguments.page()
        return try arguments.withReader { reader in
            let threads = try reader.threads(page: try page.page(in: reader.store))
            try output.show(
                threads.entries, asJSON: arguments.hasFlag("json"),
                [
                    .init("POSITION", .right), .init("NAME"), .init("MEMBERS", .right), .init("MESSAGES", .right),
                    .init("CREATED"), .init("ID"),
                ]
            ) {
                [
                    "\($0.lastPosition)", threadDisplayName($0.name, $0.people), "\($0.memberCount)",
                    "\($0.messageCount)",
                    "\($0.createdAt)",
                    "\($0.id)",
                ]
            }
        }
    }

    static let timeline = ToolCommand(
        spec: CommandSpec(
            "timeline", "shows the latest messages of a thread, latest last", positionals: [.journal, .thread],
            options: pageOptions)
    ) { arguments, output in
        let page = try arguments.page()
        return try arguments.withThread { reader, thread in
            let messages = try reader.timeline(thread, page: try page.page(in: reader.store))
            try output.show(timeline: messages.entries, to: reader.viewer, asJSON: arguments.hasFlag("json"))
        }
    }

    static let replies = ToolCommand(
        spec: CommandSpec(
            "replies", "shows the latest replies to a message, latest last",
            positionals: [.journal, CommandSpec.Positional("MESSAGE", "the id of a message")], options: pageOptions)
    ) { arguments, output in
        let page = try arguments.page()
        guard let message = MessageID(arguments[positional: "MESSAGE"]) else {
            throw arguments.error("MESSAGE must be the id of a message, a UUID")
        }
        return try arguments.withReader { reader in
            let replies = try reader.replies(to: message, page: try page.page(in: reader.store))
            try output.show(replies: replies.entries, to: reader.viewer, asJSON: arguments.hasFlag("json"))
        }
    }

    static let message = ToolCommand(
        spec: CommandSpec(
            "message", "shows a message or a reply: its thread, its history, and who could read it when it was posted",
            positionals: [.journal, .post],
            options: [
                CommandSpec.Option(
                    "limit", .text("N"), "at most N edits, the latest ones; default \(Arguments.defaultLimit)"), .asOf,
                .viewer, .json, .reply,
            ],
            discussion: "Who could read it is shown without --viewer only.")
    ) { arguments, output in
        let posts = try arguments.posts()
        let limit = try arguments.limit()
        return try arguments.withReader { reader in
            let details = try reader.store.firstAnswer(about: posts) { post throws(ChatError) in
                try reader.details(of: post, edits: limit)
            }
            if arguments.hasFlag("json") { return try output.writeLine(json: details) }
            let kind = details.post.id.isReply ? "a reply to \(details.post.message)" : "a message"
            try output.writeLine(
                escapedForTerminal(
                    "\(kind) in \(details.threadName ?? "(erased)"), \(details.thread), "
                        + "by \(details.post.author.displayName), \(details.post.author.id), at position \(details.post.position)"
                ))
            try output.writeLine(escapedForTerminal(details.post.shownBody(to: reader.viewer)))
            try output.write("\n")
            for event in details.history { try output.write(event, asJSON: false) }
            if let readers = details.readers {
                try output.writeLine("\nReaders when it was posted: \(readers.count)")
                try output.show(members: readers, asJSON: false)
            }
        }
    }

    static let user = ToolCommand(
        spec: CommandSpec(
            "user", "shows a user: postcode, threads, unread messages", positionals: [.journal, .user],
            options: CommandSpec.Option.list,
            discussion: "--limit, --before and --after select threads, by the positions of the joins.")
    ) { arguments, output in
        let page = try arguments.listPage()
        return try arguments.withUser { reader, user in
            let view = try reader.user(user, threads: page)
            if arguments.hasFlag("json") { return try output.writeLine(json: view) }
            let name = escapedForTerminal(view.username ?? "(erased)")
            try output.writeLine(
                "\(name), \(view.postcode?.description ?? "no postcode"), since \(view.createdAt), \(view.id)")
            try output.show(
                view.threads, asJSON: false,
                [
                    .init("UNREAD", .right), .init("FIRST UNREAD", .right), .init("READ UP TO", .right),
                    .init("THREAD"),
                    .init("LAST MESSAGE"),
                ]
            ) { thread in
                let last = thread.lastMessage.map { "\($0.author.displayName): \($0.shownBody(to: reader.viewer))" }
                let first = thread.firstUnread.map { "\($0)" } ?? ""
                return [
                    "\(thread.unreadCount)", first, "\(thread.readUpTo)", threadDisplayName(thread.name, thread.people),
                    last ?? "",
                ]
            }
        }
    }
}
