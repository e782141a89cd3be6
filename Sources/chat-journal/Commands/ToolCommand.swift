import Chat
import ChatDomain
import EventJournal

/// A command of the tool, with its arguments and its function.
struct ToolCommand: Sendable {
    let spec: CommandSpec
    /// Runs the command; returns whether all input was accepted and the journal is sound.
    let run: @Sendable (Arguments, inout BufferedOutput) async throws -> Bool
}

// MARK: Shared arguments

extension CommandSpec.Positional {
    static let journal = CommandSpec.Positional(
        "JOURNAL", "the directory of the journal, or postgres://USER@HOST,.../DATABASE#NAME")
    static let thread = CommandSpec.Positional("THREAD", "an id, an outward code, or a name")
    static let user = CommandSpec.Positional("USER", "an id, or a username")
}

extension CommandSpec.Option {
    static let json = CommandSpec.Option("json", .flag, "print one JSON object a line")
    static let limit = CommandSpec.Option("limit", .text("N"), "at most N; default \(Arguments.defaultLimit)")
    static let before = CommandSpec.Option("before", .text("P"), "only before position P")
    static let after = CommandSpec.Option("after", .text("P"), "only after position P, earliest first")
    /// The options of a list that is shown whole unless they select a page.
    static let list = [
        CommandSpec.Option("limit", .text("N"), "at most N, the latest ones; default all"), .before, .after, .asOf,
        .viewer, .json,
    ]
    static let asOf = CommandSpec.Option(
        "as-of", .text("P|TIME"),
        "as of position P, or a time such as 2026-11-21T05:03:12.123Z, 2026-11-21T05:03 or 2026-11-21; default UTC"
    )
    static let viewer = CommandSpec.Option("viewer", .text("USER"), "as this user may see it")
    static let durability = CommandSpec.Option(
        "durability", .choice(["synced", "written"]),
        "answer once a commit is on the disk (synced, the default) or with the operating system (written)")
    static let waitForLock = CommandSpec.Option(
        "wait-for-lock", .text("SECONDS"), "wait up to SECONDS while another process writes to the journal; default 0")
    static let acceptClock = CommandSpec.Option(
        "accept-clock", .flag,
        "believe the clock, although it is 400 days after the last event; if it is before it, see correct-clock")
    static let takeOver = CommandSpec.Option(
        "take-over", .flag, "on PostgreSQL: end another writer, which can never append again, instead of waiting for it"
    )
}

extension Arguments {
    /// The value of `--limit` if it is not given.
    static let defaultLimit = 50

    /// Opens the journal for reading.
    func openReadOnly() throws -> ChatStore { try journal.openStoreReadOnly() }

    /// Opens the journal for reading, and calls a closure with the queries for the viewer of
    /// `--viewer`, as of the point of `--as-of`.
    ///
    /// The point is a position or now, so that names and views are looked up as of the same one.
    func withReader(_ body: (ChatReader) throws -> Void) throws -> Bool {
        // Before the journal is opened: wrong usage is reported first.
        let asked = try point()
        let store = try openReadOnly()
        let point = try store.resolvedToPosition(asked)
        try body(store.reader(as: try viewer(in: store, asOf: point), asOf: point))
        return true
    }

    /// As `withReader`, with the thread of the positional argument THREAD.
    func withThread(_ body: (ChatReader, ThreadID) throws -> Void) throws -> Bool {
        try withReader { reader in
            guard let text = self[optional: "THREAD"] else { preconditionFailure("the command has a THREAD") }
            try body(reader, try reader.store.findThread(text, as: reader.viewer, asOf: reader.point))
        }
    }

    /// As `withReader`, with the user of the positional argument USER.
    func withUser(_ body: (ChatReader, UserID) throws -> Void) throws -> Bool {
        try withReader { reader in
            let (store, text) = (reader.store, self[positional: "USER"])
            try body(reader, try store.findUser(text, as: reader.viewer, asOf: reader.point))
        }
    }

    /// The place of the journal.
    var journal: LogPlace { LogPlace(self[positional: "JOURNAL"]) }

    /// Opens the journal for writing; creates it if it does not exist.
    ///
    /// - Parameters:
    ///   - messageHandler: Receives the messages of the journal.
    ///   - requirement: The heads that it must contain.
    func openForWriting(messageHandler: LogHandler? = nil, _ requirement: HeadRequirement? = nil) throws -> ChatStore {
        var options = try journalOptions()
        options.log = messageHandler
        let takesOver = hasFlag("take-over")
        if takesOver { try requirement?.file?.requireWritable() }
        var isOpen = false
        func open(_ options: JournalOptions) throws -> ChatStore {
            var options = StoreOptions(journal: options)
            options.acceptsClock = hasFlag("accept-clock")
            let store = try journal.openStore(options, takesOver: takesOver)
            isOpen = true
            return store
        }
        let store: ChatStore
        do { store = try requirement?.open(options, open) ?? open(options) } catch {
            if takesOver, isOpen { TakeOver.reportFailure() }
            throw error
        }
        if store.isErasureUnfinished {
            StandardError.writeLine(
                "\(ToolSpec.name): erasureUnfinished: the opening could not complete an erasure; its content is hidden, but still in files"
            )
        }
        if let rejection = store.clockStatus.rejection { StandardError.writeLine("\(ToolSpec.name): \(rejection)") }
        return store
    }

    /// Runs what follows the opening at a start; says of a failure that a writer was ended.
    func afterOpening<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch {
            if hasFlag("take-over") { TakeOver.reportFailure() }
            throw error
        }
    }

    /// The options with which the journal is opened for writing.
    func journalOptions() throws(UsageError) -> JournalOptions {
        var options = JournalOptions()
        if let word = self[option: "durability"], let durability = Durability(rawValue: word) {
            options.durability = durability
        }
        if let seconds = try integer("wait-for-lock", in: 0...86_400 as ClosedRange<Int>) {
            options.lockTimeout = .seconds(seconds)
        }
        return options
    }

    /// The value of `--limit`.
    ///
    /// It has no bound of its own: a query returns at most what exists.
    func limit() throws(UsageError) -> Int { try integer("limit", in: 0...Int.max) ?? Self.defaultLimit }

    /// The page of `--limit`, `--before` and `--after`; everything if none is given.
    func listPage() throws(UsageError) -> PageRequest {
        PageRequest(
            limit: try integer("limit", in: 0...Int.max) ?? .max, before: try integer("before", in: 0...Position.max),
            after: try integer("after", in: 0...Position.max))
    }

    /// The page of `--limit`, `--before`, `--after`, `--around` and `--from`.
    func page() throws(UsageError) -> PageArguments {
        PageArguments(
            page: PageRequest(
                limit: try limit(), before: try integer("before", in: 0...Position.max),
                after: try integer("after", in: 0...Position.max), around: try integer("around", in: 0...Position.max)),
            from: try self[option: "from"].map { text throws(UsageError) in try time(text, of: "--from", "a time") })
    }

    /// The point in the history of `--as-of`; now if it is not given.
    func point() throws(UsageError) -> AsOf {
        guard let text = self[option: "as-of"] else { return .now }
        if let position = Position(decimalDigits: text) { return .position(position) }
        return .time(try time(text, of: "--as-of", "a position or a time"))
    }

    private func time(_ text: String, of option: String, _ kind: String) throws(UsageError) -> Timestamp {
        guard let time = Timestamp(dateOrTime: text) else {
            throw error(
                "\(option) takes \(kind) such as 2026-11-21T05:03:12.123Z, 2026-11-21T05:03 or 2026-11-21, "
                    + "not '\(escapedForTerminal(text))'")
        }
        return time
    }

    /// The user of an option.
    func user(option name: String, in store: ChatStore, asOf point: AsOf = .now) throws -> UserID? {
        guard let text = self[option: name] else { return nil }
        return try store.findUser(text, asOf: point)
    }

    /// The users of a filter's option.
    ///
    /// For a viewer an unknown user is the empty set: a viewer must not learn who is registered.
    func users(option name: String, in store: ChatStore, as viewer: Viewer) throws -> Set<UserID>? {
        do { return try user(option: name, in: store).map { [$0] } } catch is ArgumentError where viewer != .host {
            return []
        }
    }

    /// The user of `--viewer`; without the option the host asks.
    func viewer(in store: ChatStore, asOf point: AsOf = .now) throws -> Viewer {
        guard let text = self[option: "viewer"] else { return .host }
        return .user(try store.findUser(text, asOf: point))
    }

    /// The thread of an option.
    func thread(option name: String, in store: ChatStore, as viewer: Viewer) throws -> ThreadID? {
        guard let text = self[option: name] else { return nil }
        return try store.findThread(text, as: viewer, asOf: .now)
    }
}

/// A page that may begin at a time.
struct PageArguments {
    var page: PageRequest
    var from: Timestamp?

    /// The page in positions; the later of `--from` and `--after` applies.
    func page(in store: ChatStore) throws(ChatError) -> PageRequest {
        guard let from else { return page }
        var page = page
        page.after = max(page.after ?? 0, try store.lastPosition(before: from))
        return page
    }
}

extension Timestamp {
    /// Reads a date-time without or with seconds and zone, or a date, which is its first point.
    ///
    /// The default zone is UTC.
    fileprivate init?(dateOrTime text: String) {
        let bytes = Array(text.utf8)
        // The lengths of YYYY-MM-DD and of YYYY-MM-DDThh:mm.
        let (date, minute) = (10, 16)
        guard bytes.count >= minute else {
            guard bytes.count == date else { return nil }
            self.init(text + "T00:00:00Z")
            return
        }
        let rest = bytes[minute...]
        let hasZone = rest.contains {
            [UInt8(ascii: "Z"), UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "-")].contains($0)
        }
        let seconds = rest.first == UInt8(ascii: ":") || rest.first == UInt8(ascii: ".") ? "" : ":00"
        self.init(
            String(decoding: bytes[..<minute], as: UTF8.self) + seconds + String(decoding: rest, as: UTF8.self)
                + (hasZone ? "" : "Z"))
    }
}

extension ChatStore {
    /// Does some work and closes the store; the first error is the one to report.
    func closing<Value>(_ work: () throws -> Value) throws -> Value {
        do {
            let value = try work()
            try close()
            return value
        } catch {
            try? close()
            throw error
        }
    }
}
