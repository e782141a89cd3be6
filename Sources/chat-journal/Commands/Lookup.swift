import Chat
import ChatDomain

extension ChatStore {
    /// Returns a time as a position, so that names and views are looked up as of the same one.
    func resolvedToPosition(_ point: AsOf) throws(ChatError) -> AsOf {
        if case .time(let time) = point { return .position(try lastPosition(at: time)) }
        return point
    }

    /// Finds a thread by its id, its outward code or its name, in that order; by name only among
    /// the threads that the viewer may read.
    func findThread(_ text: String, as viewer: Viewer, asOf point: AsOf) throws -> ThreadID {
        if let id = ThreadID(text), try exists(id, as: viewer, asOf: point) { return id }
        if let code = OutwardCode(text), try exists(ThreadID(code), as: viewer, asOf: point) { return ThreadID(code) }
        let named = try reader(as: viewer, asOf: point).threadIDs(named: ThreadName(text)?.text ?? text)
        guard named.count <= 1 else {
            let ids = named.map(\.description).joined(separator: ", ")
            throw ArgumentError("several threads are named '\(text)', use one of their ids: \(ids)")
        }
        guard let thread = named.first else { throw ArgumentError("unknownThread: no thread '\(text)'\(point.suffix)") }
        return thread
    }

    /// Finds a user by their id or their username, in that order.
    func findUser(_ text: String, asOf point: AsOf) throws -> UserID {
        if let id = UserID(text), try isUser(id, asOf: point) { return id }
        guard let user = try userID(named: text, asOf: point) else {
            throw ArgumentError("unknownUser: no user '\(text)'\(point.suffix)")
        }
        return user
    }

    /// Finds the user whom a query is about.
    ///
    /// A viewer may ask only about themselves, and must not learn whether others exist.
    func findUser(_ text: String, as viewer: Viewer, asOf point: AsOf) throws -> UserID {
        guard let asking = viewer.user else { return try findUser(text, asOf: point) }
        guard let user = try? findUser(text, asOf: point), user == asking else { throw ChatError.rejected(.notAllowed) }
        return user
    }

    /// Finds the person whom a query shows a viewer.
    ///
    /// The query decides whether the viewer may see them; who does not exist has the same error.
    func findPerson(_ text: String, as viewer: Viewer, asOf point: AsOf) throws -> UserID {
        if viewer == .host { return try findUser(text, asOf: point) }
        guard let user = try? findUser(text, asOf: point) else { throw ChatError.rejected(.unknownUser) }
        return user
    }

    /// Whether a thread exists for the viewer; a query decides what the viewer may see of it.
    private func exists(_ thread: ThreadID, as viewer: Viewer, asOf point: AsOf) throws(ChatError) -> Bool {
        do {
            _ = try reader(as: viewer, asOf: point).thread(thread)
            return true
        } catch {
            guard case .rejected(let rejection) = error else { throw error }
            return rejection.code != .unknownThread
        }
    }
}

/// Throws `notAllowed` unless the host asks.
func requireHost(_ viewer: Viewer) throws(ChatError) {
    guard viewer == .host else { throw .rejected(.hostOnly) }
}

extension AsOf {
    /// The point in the history as the end of a message; empty for now.
    fileprivate var suffix: String {
        switch self {
        case .now: ""
        case .position(let position): " as of position \(position)"
        case .time(let time): " as of \(time)"
        }
    }
}

extension CommandSpec.Positional {
    static let post = CommandSpec.Positional("ID", "the id of a message or a reply")
}

extension CommandSpec.Option {
    static let reply = CommandSpec.Option("reply", .flag, "the reply, if a message and a reply have the same id")
}

extension Arguments {
    /// Returns the posts that the argument ID can name, in the order in which they are looked up.
    func posts() throws -> [PostID] {
        guard let id = MessageID(self[positional: "ID"]) else {
            throw error("ID must be the id of a message or a reply, a UUID")
        }
        return (hasFlag("reply") ? [] : [.message(id)]) + [.reply(ReplyID(bits: id.bits))]
    }
}

extension ChatStore {
    /// Returns the answer of a query for the first of some posts that is known.
    func firstAnswer<Value>(
        about posts: [PostID], _ query: (PostID) throws(ChatError) -> Value
    ) throws(ChatError) -> Value {
        var unknown: ChatError?
        for post in posts {
            do throws(ChatError) { return try query(post) } catch {
                guard case .rejected(let rejection) = error,
                    [.unknownMessage, .unknownReply].contains(rejection.code)
                else { throw error }
                unknown = unknown ?? error
            }
        }
        throw unknown ?? .rejected(.unknownMessage)
    }
}
