import Chat
import ChatDomain
import EventJournal
import Projections

/// What the commands share: opening a journal, and finding what an argument names.
extension Arguments {
    /// Opens the journal to read it.
    func openReadOnly() throws(ChatError) -> ChatStore { try ChatStore.openReadOnly(self[positional: "JOURNAL"]) }

    /// Opens the journal to write it, and makes it if there is none.
    func openToWrite() throws(ChatError) -> ChatStore {
        var options = StoreOptions()
        if let word = self[option: "durability"], let durability = Durability(rawValue: word) { options.journal.durability = durability }
        return try ChatStore.open(self[positional: "JOURNAL"], options: options)
    }

    /// The page that `--limit`, `--before` and `--after` ask for.
    func page() throws(UsageError) -> Page {
        Page(
            limit: try integer("limit", in: 0...Int.max) ?? 50, before: try integer("before", in: 0...Position.max),
            after: try integer("after", in: 0...Position.max))
    }

    /// The user whom an option names.
    func user(option name: String, in store: ChatStore) throws -> UserID? {
        guard let text = self[option: name] else { return nil }
        return try store.findUser(text)
    }

    /// The thread that an option names.
    func thread(option name: String, in store: ChatStore) throws -> ThreadID? {
        guard let text = self[option: name] else { return nil }
        return try store.findThread(text)
    }
}

extension ChatStore {
    /// Finds a thread by its id, its outward code or its name, tried in that order.
    func findThread(_ text: String) throws -> ThreadID {
        if let id = ThreadID(text), try exists(id) { return id }
        if let code = OutwardCode(text), try exists(ThreadID(code)) { return ThreadID(code) }
        let named = try threads(named: ThreadName(text)?.text ?? text)
        guard named.count <= 1 else {
            throw LookupError(message: "several threads are named '\(visible(text))': \(named.map(\.description).joined(separator: ", "))")
        }
        guard let thread = named.first else { throw LookupError(message: "unknownThread: there is no thread '\(visible(text))'") }
        return thread
    }

    /// Finds a user by their id or their username, tried in that order.
    func findUser(_ text: String) throws -> UserID {
        if let id = UserID(text), isUser(id) { return id }
        guard let user = try user(named: text) else { throw LookupError(message: "unknownUser: there is no user '\(visible(text))'") }
        return user
    }

    private func exists(_ thread: ThreadID) throws(ChatError) -> Bool {
        do {
            _ = try self.thread(thread)
            return true
        } catch {
            guard case .rejected(let rejection) = error, rejection.code == .unknownThread else { throw error }
            return false
        }
    }
}

/// An argument that names nothing, or too much.
struct LookupError: Error, CustomStringConvertible {
    let message: String
    var description: String { message }
}
