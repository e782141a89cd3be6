import Chat
import ChatDomain
import EventJournal
import Projections

/// What the commands share: opening a journal, and finding what an argument names.
extension Arguments {
    /// Opens the journal to read it.
    func openReadOnly() throws(ChatError) -> ChatStore { try ChatStore.openReadOnly(self[positional: "JOURNAL"]) }

    /// Opens the journal to write it, and makes it if there is none.
    func openToWrite() throws -> ChatStore {
        try ChatStore.open(self[positional: "JOURNAL"], options: StoreOptions(journal: try journalOptions()))
    }

    /// How a journal is opened to write it.
    func journalOptions() throws(UsageError) -> JournalOptions {
        var options = JournalOptions()
        if let word = self[option: "durability"], let durability = Durability(rawValue: word) { options.durability = durability }
        if let seconds = try integer("wait-for-lock", in: 0...86_400 as ClosedRange<Int>) { options.lockTimeout = .seconds(seconds) }
        return options
    }

    /// The page that `--limit`, `--before`, `--after`, `--around` and `--from` ask for.
    func page() throws(UsageError) -> AskedPage {
        AskedPage(
            page: Page(
                limit: try integer("limit", in: 0...Int.max) ?? 50, before: try integer("before", in: 0...Position.max),
                after: try integer("after", in: 0...Position.max), around: try integer("around", in: 0...Position.max)),
            from: try self[option: "from"].map { text throws(UsageError) in
                guard let time = Timestamp(dateOrTime: text) else {
                    throw error(
                        "--from takes a time such as 2026-11-21T05:03:12.123Z, 2026-11-21T05:03 or 2026-11-21, "
                            + "not '\(visible(text))'")
                }
                return time
            })
    }

    /// The moment that `--as-of` names, now if it is not given.
    func moment() throws(UsageError) -> Moment {
        guard let text = self[option: "as-of"] else { return .now }
        if let position = Position(digits: text) { return .position(position) }
        guard let time = Timestamp(dateOrTime: text) else {
            throw error(
                "--as-of takes a position or a time such as 2026-11-21T05:03:12.123Z, 2026-11-21T05:03 or 2026-11-21, "
                    + "not '\(visible(text))'")
        }
        return .time(time)
    }

    /// The user whom an option names.
    func user(option name: String, in store: ChatStore, asOf moment: Moment = .now) throws -> UserID? {
        guard let text = self[option: name] else { return nil }
        return try store.findUser(text, asOf: moment)
    }

    /// The user whom an option of a filter names; for a viewer an empty set if there is none, because they are not told who is registered.
    func users(option name: String, in store: ChatStore, viewer: UserID?) throws -> Set<UserID>? {
        do { return try user(option: name, in: store).map { [$0] } } catch is LookupError where viewer != nil { return [] }
    }

    /// The viewer whom `--viewer` names, nil for the operator.
    func viewer(in store: ChatStore, asOf moment: Moment = .now) throws -> UserID? {
        try user(option: "viewer", in: store, asOf: moment)
    }

    /// The thread that an option names.
    func thread(option name: String, in store: ChatStore, viewer: UserID?) throws -> ThreadID? {
        guard let text = self[option: name] else { return nil }
        return try store.findThread(text, viewer: viewer, asOf: .now)
    }
}

extension Position {
    /// Reads a number of decimal digits and nothing else.
    fileprivate init?(digits text: String) {
        guard text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else { return nil }
        self.init(text)
    }
}

extension Timestamp {
    /// Reads a date-time, which may lack its seconds and its zone, or a bare date, which is its first moment.
    ///
    /// What has no zone is in UTC.
    fileprivate init?(dateOrTime text: String) {
        let bytes = Array(text.utf8)
        // YYYY-MM-DD, and with Thh:mm.
        let (date, minute) = (10, 16)
        guard bytes.count >= minute else {
            guard bytes.count == date else { return nil }
            self.init(text + "T00:00:00Z")
            return
        }
        let rest = bytes[minute...]
        let hasZone = rest.contains { [UInt8(ascii: "Z"), UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "-")].contains($0) }
        let seconds = rest.first == UInt8(ascii: ":") || rest.first == UInt8(ascii: ".") ? "" : ":00"
        self.init(
            String(decoding: bytes[..<minute], as: UTF8.self) + seconds + String(decoding: rest, as: UTF8.self) + (hasZone ? "" : "Z"))
    }
}

/// A page of which the beginning may be a time.
struct AskedPage {
    var page: Page
    var from: Timestamp?

    /// The page in positions; of `--from` and `--after` the later counts.
    func page(in store: ChatStore) throws(ChatError) -> Page {
        guard let from else { return page }
        var page = page
        page.after = max(page.after ?? 0, try store.position(before: from))
        return page
    }
}

extension ChatStore {
    /// A moment as a position, so that names and views are looked up as of the same one.
    func fixed(_ moment: Moment) throws(ChatError) -> Moment {
        if case .time(let time) = moment { return .position(try position(asOf: time)) }
        return moment
    }

    /// Finds a thread by its id, its outward code or its name at a moment, tried in that order; a viewer's names are those of the threads that they may read.
    func findThread(_ text: String, viewer: UserID?, asOf moment: Moment) throws -> ThreadID {
        if let id = ThreadID(text), try exists(id, asOf: moment) { return id }
        if let code = OutwardCode(text), try exists(ThreadID(code), asOf: moment) { return ThreadID(code) }
        let named = try threads(named: ThreadName(text)?.text ?? text, viewer: viewer, asOf: moment)
        guard named.count <= 1 else {
            throw LookupError(message: "several threads are named '\(visible(text))': \(named.map(\.description).joined(separator: ", "))")
        }
        guard let thread = named.first else {
            throw LookupError(message: "unknownThread: there is no thread '\(visible(text))'\(moment.suffix)")
        }
        return thread
    }

    /// Finds a user by their id or their username at a moment, tried in that order.
    func findUser(_ text: String, asOf moment: Moment) throws -> UserID {
        if let id = UserID(text), try isUser(id, asOf: moment) { return id }
        guard let user = try user(named: text, asOf: moment) else {
            throw LookupError(message: "unknownUser: there is no user '\(visible(text))'\(moment.suffix)")
        }
        return user
    }

    /// Finds the user whom a question is about; a viewer may ask about nobody but themselves, and is not told whether others exist.
    func findUser(_ text: String, viewer: UserID?, asOf moment: Moment) throws -> UserID {
        guard let viewer else { return try findUser(text, asOf: moment) }
        guard let user = try? findUser(text, asOf: moment), user == viewer else { throw ChatError.rejected(.notAllowed) }
        return user
    }

    private func exists(_ thread: ThreadID, asOf moment: Moment) throws(ChatError) -> Bool {
        do {
            _ = try self.thread(thread, asOf: moment)
            return true
        } catch {
            guard case .rejected(let rejection) = error, rejection.code == .unknownThread else { throw error }
            return false
        }
    }
}

extension Moment {
    /// Of which moment a lookup found nothing, where it is not now.
    fileprivate var suffix: String {
        switch self {
        case .now: ""
        case .position(let position): " as of position \(position)"
        case .time(let time): " as of \(time)"
        }
    }
}

/// An argument that names nothing, or too much.
struct LookupError: Error, CustomStringConvertible {
    /// What is wrong; arguments in it have been made visible.
    let message: String
    var description: String { message }
}
