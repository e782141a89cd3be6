import Chat
import ChatDomain

/// The commands that show threads, posts and users.
extension Command {
    private static let paging: [CommandSpec.Option] = [
        .limit, .before, .after,
        CommandSpec.Option("around", .text("P"), "half from before position P and half from it on"),
        CommandSpec.Option("from", .text("TIME"), "only what was recorded at that time or later, the earliest first"),
        .asOf, .viewer, .json,
    ]

    static let threads = Command(
        spec: CommandSpec(
            "threads", "lists the threads with the latest events, the latest last", positionals: [.journal], options: paging)
    ) { arguments, output in
        let page = try arguments.page()
        let asked = try arguments.moment()
        let store = try arguments.openReadOnly()
        let moment = try store.fixed(asked)
        let threads = try store.threads(
            try page.page(in: store), viewer: try arguments.user(option: "viewer", in: store, asOf: moment), asOf: moment)
        try output.show(
            threads, asJSON: arguments.has("json"),
            [.init("POSITION", .right), .init("NAME"), .init("MEMBERS", .right), .init("MESSAGES", .right), .init("CREATED"), .init("ID")]
        ) {
            [
                "\($0.lastPosition)", $0.name ?? "(erased)", "\($0.members)", "\($0.messages)", "\($0.createdAt)", "\($0.id)",
            ]
        }
        return true
    }

    static let timeline = Command(
        spec: CommandSpec(
            "timeline", "shows the latest messages of a thread, the latest last", positionals: [.journal, .thread], options: paging)
    ) { arguments, output in
        let page = try arguments.page()
        let asked = try arguments.moment()
        let store = try arguments.openReadOnly()
        let moment = try store.fixed(asked)
        let thread = try store.findThread(arguments[positional: "THREAD"], asOf: moment)
        let viewer = try arguments.user(option: "viewer", in: store, asOf: moment)
        let messages = try store.timeline(thread, try page.page(in: store), viewer: viewer, asOf: moment)
        try output.show(
            messages, asJSON: arguments.has("json"),
            [.init("POSITION", .right), .init("TIME"), .init("AUTHOR"), .init("REPLIES", .right), .init("MESSAGE")]
        ) {
            [
                "\($0.position)", "\($0.createdAt)", $0.author.shown, "\($0.replyCount)",
                shownBody($0.body, retracted: $0.retracted, edited: $0.editedAt != nil),
            ]
        }
        return true
    }

    static let replies = Command(
        spec: CommandSpec(
            "replies", "shows the latest replies to a message, the latest last",
            positionals: [.journal, CommandSpec.Positional("MESSAGE", "the id of a message")], options: paging)
    ) { arguments, output in
        let page = try arguments.page()
        guard let message = MessageID(arguments[positional: "MESSAGE"]) else {
            throw arguments.error("MESSAGE is the id of a message, a UUID")
        }
        let asked = try arguments.moment()
        let store = try arguments.openReadOnly()
        let moment = try store.fixed(asked)
        let viewer = try arguments.user(option: "viewer", in: store, asOf: moment)
        let replies = try store.replies(to: message, try page.page(in: store), viewer: viewer, asOf: moment)
        try output.show(
            replies, asJSON: arguments.has("json"), [.init("POSITION", .right), .init("TIME"), .init("AUTHOR"), .init("REPLY")]
        ) {
            [
                "\($0.position)", "\($0.createdAt)", $0.author.shown,
                shownBody($0.body, retracted: $0.retracted, edited: $0.editedAt != nil),
            ]
        }
        return true
    }

    static let user = Command(
        spec: CommandSpec(
            "user", "shows a user: postcode, threads, unread messages", positionals: [.journal, .user],
            options: [.asOf, .viewer, .json])
    ) { arguments, output in
        let asked = try arguments.moment()
        let store = try arguments.openReadOnly()
        let moment = try store.fixed(asked)
        let viewer = try arguments.user(option: "viewer", in: store, asOf: moment)
        let view = try store.user(try store.findUser(arguments[positional: "USER"], asOf: moment), viewer: viewer, asOf: moment)
        if arguments.has("json") {
            try output.writeLine(json: view)
            return true
        }
        let name = visible(view.username ?? "(erased)")
        try output.writeLine("\(name), \(view.postcode?.description ?? "no postcode"), since \(view.createdAt), \(view.id)")
        try output.show(
            view.threads, asJSON: false,
            [.init("UNREAD", .right), .init("READ UP TO", .right), .init("THREAD"), .init("LAST MESSAGE")]
        ) { thread in
            let last = thread.lastMessage.map {
                "\($0.author.shown): \(shownBody($0.body, retracted: $0.retracted, edited: $0.editedAt != nil))"
            }
            return ["\(thread.unread)", "\(thread.readUpTo)", thread.name ?? "(erased)", last ?? ""]
        }
        return true
    }
}

private func shownBody(_ body: String?, retracted: Bool, edited: Bool) -> String {
    if retracted { return "(retracted)" }
    return (body ?? "(erased)") + (edited ? " (edited)" : "")
}

extension Person {
    /// The name as tables show it.
    var shown: String { username ?? "(erased)" }
}

extension StandardOutput {
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
}
