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

    static let threads = ToolCommand(
        spec: CommandSpec(
            "threads", "lists the threads with the latest events, latest last", positionals: [.journal], options: pageOptions
        )
    ) { arguments, output in
        let page = try arguments.page()
        let asked = try arguments.moment()
        let store = try arguments.openReadOnly()
        let moment = try store.resolvedToPosition(asked)
        let threads = try store.threads(
            try page.page(in: store), viewer: try arguments.viewer(in: store, asOf: moment), asOf: moment)
        try output.show(
            threads, asJSON: arguments.hasFlag("json"),
            [
                .init("POSITION", .right), .init("NAME"), .init("MEMBERS", .right), .init("MESSAGES", .right),
                .init("CREATED"), .init("ID"),
            ]
        ) {
            [
                "\($0.lastPosition)", $0.name ?? "(erased)", "\($0.memberCount)", "\($0.messageCount)", "\($0.createdAt)",
                "\($0.id)",
            ]
        }
        return true
    }

    static let timeline = ToolCommand(
        spec: CommandSpec(
            "timeline", "shows the latest messages of a thread, latest last", positionals: [.journal, .thread],
            options: pageOptions)
    ) { arguments, output in
        let page = try arguments.page()
        let asked = try arguments.moment()
        let store = try arguments.openReadOnly()
        let moment = try store.resolvedToPosition(asked)
        let viewer = try arguments.viewer(in: store, asOf: moment)
        let thread = try store.findThread(arguments[positional: "THREAD"], viewer: viewer, asOf: moment)
        let messages = try store.timeline(thread, try page.page(in: store), viewer: viewer, asOf: moment)
        try output.show(timeline: messages, to: viewer, asJSON: arguments.hasFlag("json"))
        return true
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
        let asked = try arguments.moment()
        let store = try arguments.openReadOnly()
        let moment = try store.resolvedToPosition(asked)
        let viewer = try arguments.viewer(in: store, asOf: moment)
        let replies = try store.replies(to: message, try page.page(in: store), viewer: viewer, asOf: moment)
        try output.show(replies: replies, to: viewer, asJSON: arguments.hasFlag("json"))
        return true
    }

    static let message = ToolCommand(
        spec: CommandSpec(
            "message", "shows a message or a reply: its thread, its history, and who could read it when it was posted",
            positionals: [.journal, CommandSpec.Positional("ID", "the id of a message or a reply")],
            options: [
                CommandSpec.Option("limit", .text("N"), "at most N edits, the latest ones; default 50"), .asOf, .viewer,
                .json,
            ],
            discussion: "Who could read it is shown without --viewer only.")
    ) { arguments, output in
        let text = arguments[positional: "ID"]
        guard let message = MessageID(text), let reply = ReplyID(text) else {
            throw arguments.error("ID must be the id of a message or a reply, a UUID")
        }
        let limit = try arguments.integer("limit", in: 0...1_000_000) ?? 50
        let asked = try arguments.moment()
        let store = try arguments.openReadOnly()
        let moment = try store.resolvedToPosition(asked)
        let viewer = try arguments.viewer(in: store, asOf: moment)
        let details: PostDetails
        do {
            details = try store.details(of: .message(message), edits: limit, viewer: viewer, asOf: moment)
        } catch ChatError.rejected(let rejection) where rejection.code == .unknownMessage {
            do {
                details = try store.details(of: .reply(reply), edits: limit, viewer: viewer, asOf: moment)
            } catch ChatError.rejected(
                let other) where other.code == .unknownReply
            {
                throw ChatError.rejected(rejection)
            }
        }
        if arguments.hasFlag("json") {
            try output.writeLine(json: details)
            return true
        }
        let kind = details.answeredMessage.map { "a reply to \($0)" } ?? "a message"
        try output.writeLine(
            escapedForTerminal(
                "\(kind) in \(details.threadName ?? "(erased)"), \(details.thread), "
                    + "by \(details.author.displayName), \(details.author.id), at position \(details.position)"
            ))
        try output.writeLine(
            escapedForTerminal(details.shownBody(viewer)))
        try output.write("\n")
        for event in details.history { try output.write(event, asJSON: false) }
        if let readers = details.readers {
            try output.writeLine("\nReaders when it was posted: \(readers.count)")
            try output.show(members: readers, asJSON: false)
        }
        return true
    }

    static let user = ToolCommand(
        spec: CommandSpec(
            "user", "shows a user: postcode, threads, unread messages", positionals: [.journal, .user],
            options: [.asOf, .viewer, .json])
    ) { arguments, output in
        let asked = try arguments.moment()
        let store = try arguments.openReadOnly()
        let moment = try store.resolvedToPosition(asked)
        let viewer = try arguments.viewer(in: store, asOf: moment)
        let view = try store.user(
            try store.findUser(arguments[positional: "USER"], viewer: viewer, asOf: moment), viewer: viewer,
            asOf: moment)
        if arguments.hasFlag("json") {
            try output.writeLine(json: view)
            return true
        }
        let name = escapedForTerminal(view.username ?? "(erased)")
        try output.writeLine(
            "\(name), \(view.postcode?.description ?? "no postcode"), since \(view.createdAt), \(view.id)")
        try output.show(
            view.threads, asJSON: false,
            [.init("UNREAD", .right), .init("READ UP TO", .right), .init("THREAD"), .init("LAST MESSAGE")]
        ) { thread in
            let last = thread.lastMessage.map {
                "\($0.author.displayName): \($0.shownBody(viewer))"
            }
            return ["\(thread.unreadCount)", "\(thread.readUpTo)", thread.name ?? "(erased)", last ?? ""]
        }
        return true
    }
}

/// A post in a table.
private protocol ShownPost {
    var body: String? { get }
    var editedAt: Timestamp? { get }
    var isRetracted: Bool { get }
    var isRemoved: Bool { get }
    var isFromBlockedUser: Bool { get }
}

extension TimelineEntry: ShownPost {}
extension ReplyEntry: ShownPost {}
extension PostDetails: ShownPost {}

extension ShownPost {
    /// The body for tables, with the reason where it is missing, and marks.
    fileprivate func shownBody(_ viewer: UserID?) -> String {
        if isRemoved { return "(removed)" }
        if isRetracted { return "(retracted)" }
        let text = body ?? (viewer == nil ? "(erased)" : "(erased, or changed since)")
        return (isFromBlockedUser ? "(blocked) " : "") + text + (editedAt != nil ? " (edited)" : "")
    }
}

extension UserSummary {
    /// The name for tables.
    var displayName: String { username ?? "(erased)" }
}

extension BufferedOutput {
    /// Writes values as JSON lines or as a table.
    mutating func show<Value: Encodable>(
        _ values: [Value], asJSON: Bool, _ columns: [Table.Column], _ cells: (Value) -> [String]
    ) throws {
        if asJSON {
            for value in values { try writeLine(json: value) }
            return
        }
        var table = Table(columns)
        for value in values { table.append(cells(value)) }
        try write(table.render())
    }

    /// Writes messages as JSON lines or as a table.
    mutating func show(timeline messages: [TimelineEntry], to viewer: UserID?, asJSON: Bool) throws {
        try show(
            messages, asJSON: asJSON,
            [.init("POSITION", .right), .init("TIME"), .init("AUTHOR"), .init("REPLIES", .right), .init("MESSAGE")]
        ) {
            [
                "\($0.position)", "\($0.createdAt)", $0.author.displayName, "\($0.replyCount)",
                $0.shownBody(viewer),
            ]
        }
    }

    /// Writes replies as JSON lines or as a table.
    mutating func show(replies: [ReplyEntry], to viewer: UserID?, asJSON: Bool) throws {
        try show(replies, asJSON: asJSON, [.init("POSITION", .right), .init("TIME"), .init("AUTHOR"), .init("REPLY")]) {
            [
                "\($0.position)", "\($0.createdAt)", $0.author.displayName,
                $0.shownBody(viewer),
            ]
        }
    }
}
