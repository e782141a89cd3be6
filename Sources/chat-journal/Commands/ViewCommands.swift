import Chat
import ChatDomain

/// The commands that show read models.
extension Command {
    private static let paging: [CommandSpec.Option] = [.limit, .before, .after, .viewer, .json]

    static let threads = Command(
        spec: CommandSpec(
            "threads", "lists the threads with the latest events, the latest last", positionals: [.journal], options: paging)
    ) { arguments, output in
        let page = try arguments.page()
        let store = try arguments.openReadOnly()
        let threads = try store.threads(page, viewer: try arguments.user(option: "viewer", in: store))
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
        let store = try arguments.openReadOnly()
        let thread = try store.findThread(arguments[positional: "THREAD"])
        let messages = try store.timeline(thread, page, viewer: try arguments.user(option: "viewer", in: store))
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
        let store = try arguments.openReadOnly()
        let replies = try store.replies(to: message, page, viewer: try arguments.user(option: "viewer", in: store))
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

    static let members = Command(
        spec: CommandSpec(
            "members", "lists who is in a thread, in the order in which they joined", positionals: [.journal, .thread],
            options: [.viewer, .json])
    ) { arguments, output in
        let store = try arguments.openReadOnly()
        let thread = try store.findThread(arguments[positional: "THREAD"])
        let members = try store.members(of: thread, viewer: try arguments.user(option: "viewer", in: store))
        try output.show(members, asJSON: arguments.has("json"), [.init("SINCE", .right), .init("USER"), .init("ID")]) {
            [
                "\($0.since)", $0.user.shown, "\($0.user.id)",
            ]
        }
        return true
    }

    static let residents = Command(
        spec: CommandSpec(
            "residents", "lists who lives in an outward code, in the order in which they moved there",
            positionals: [.journal, CommandSpec.Positional("OUTWARD", "an outward code, such as SW1A")], options: [.viewer, .json])
    ) { arguments, output in
        guard let code = OutwardCode(arguments[positional: "OUTWARD"]) else {
            throw arguments.error("OUTWARD is an outward code, such as SW1A")
        }
        let store = try arguments.openReadOnly()
        let residents = try store.residents(of: code, viewer: try arguments.user(option: "viewer", in: store))
        try output.show(
            residents, asJSON: arguments.has("json"), [.init("SINCE", .right), .init("USER"), .init("POSTCODE"), .init("ID")]
        ) {
            [
                "\($0.since)", $0.user.shown, $0.postcode?.description ?? "(erased)", "\($0.user.id)",
            ]
        }
        return true
    }

    static let user = Command(
        spec: CommandSpec(
            "user", "shows a user: postcode, threads, unread messages", positionals: [.journal, .user], options: [.viewer, .json])
    ) { arguments, output in
        let store = try arguments.openReadOnly()
        let viewer = try arguments.user(option: "viewer", in: store)
        let view = try store.user(try store.findUser(arguments[positional: "USER"]), viewer: viewer)
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
    fileprivate var shown: String { username ?? "(erased)" }
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
