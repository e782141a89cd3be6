#if Client || canImport(SQLite3)
    package import ChatDomain
    package import ChatValues

    /// A query whose answer the copy keeps whole, for times without a network.
    ///
    /// A new one is a conformance, and a line in ``KeptAnswer/queries``.
    package protocol KeptQuery: CopiedQuery {
        /// The answer as it is kept.
        associatedtype Kept: KeptValue
        /// The key of the answer in the file: a word, and the id of the thread if it is about one.
        var key: String { get }
        /// Creates the query that the server is asked; nil for the key of another query.
        init?(key: String)
        /// Returns the query whose answer can be another one after an event; nil if there is none.
        ///
        /// Not called for an event that changes names, which every answer has.
        static func changed(by event: RecordedEvent) -> Self?
        /// Whether what is kept has the answer.
        var isInKept: Bool { get }
        /// Returns the answer, which is the latest part of what is kept.
        func part(of kept: Kept) -> Answer
        /// Shows a command that waits in the outbox in what is kept; shown twice, it is shown once.
        func show(_ waiting: WaitingCommand, in kept: inout Kept)
    }

    extension KeptQuery where Self: PageQuery {
        package var isInKept: Bool { page.isFirst }
    }

    /// An answer of the server that the copy keeps whole.
    package struct KeptAnswer: Hashable, Sendable {
        /// What the copy keeps.
        static let queries: [any KeptQuery.Type] = [
            UserQuery.self, ThreadsQuery.self, InboxQuery.self, MembersQuery.self,
        ]

        let query: any KeptQuery

        init(_ query: any KeptQuery) { self.query = query }

        init?(key: String) {
            for type in Self.queries {
                if let query = type.init(key: key) {
                    self.init(query)
                    return
                }
            }
            return nil
        }

        /// The key in the file.
        var key: String { query.key }

        package static func == (one: KeptAnswer, other: KeptAnswer) -> Bool { one.key == other.key }
        package func hash(into hasher: inout Hasher) { hasher.combine(key) }

        /// Whether the answer can be another one after an update.
        func isOutdated(by update: FollowedUpdate) -> Bool {
            guard case .event(let event) = update, !event.recorded.changesNames else { return true }
            return Self.changed(by: event.recorded).contains(self)
        }

        /// The answers that can be others after an event, unless it changes names.
        static func changed(by event: RecordedEvent) -> [KeptAnswer] {
            queries.compactMap { type in
                let query: (any KeptQuery)? = type.changed(by: event)
                return query.map(KeptAnswer.init)
            }
        }
    }

    // MARK: What is kept

    extension UserQuery: KeptQuery {
        package typealias Kept = UserDetails
        package var key: String { "me" }
        package init?(key: String) {
            guard key == "me" else { return nil }
            self.init()
        }

        package static func changed(by event: RecordedEvent) -> UserQuery? {
            event.changes([.details, .messages]) ? UserQuery() : nil
        }

        package var isInKept: Bool { true }
        package func part(of kept: UserDetails) -> UserDetails { kept }
    }

    extension ThreadsQuery: KeptQuery {
        package typealias Kept = Page<ThreadSummary>
        package var key: String { "threads" }
        package init?(key: String) {
            guard key == "threads" else { return nil }
            self.init(page: .mostKept)
        }

        package static func changed(by event: RecordedEvent) -> ThreadsQuery? {
            event.changes(.threads) ? ThreadsQuery() : nil
        }

        package func part(of kept: Page<ThreadSummary>) -> Page<ThreadSummary> { kept.cut(to: page.limit) }
    }

    extension InboxQuery: KeptQuery {
        package typealias Kept = InboxAnswer
        package var key: String { "inbox" }
        package init?(key: String) {
            guard key == "inbox" else { return nil }
            self.init()
        }

        package static func changed(by event: RecordedEvent) -> InboxQuery? {
            event.changes(.inbox) ? InboxQuery() : nil
        }

        package var isInKept: Bool { page.isFirst && page.limit <= PageRequest.latest().limit }
        package func part(of kept: InboxAnswer) -> Page<InboxEntry> { kept.page.cut(to: page.limit) }
    }

    extension MembersQuery: KeptQuery {
        package typealias Kept = Page<ThreadMember>
        package var key: String { "members \(thread)" }
        package init?(key: String) {
            guard key.hasPrefix("members "), let thread = ThreadID(String(key.dropFirst(8))) else { return nil }
            self.init(thread: thread, page: .mostKept)
        }

        package static func changed(by event: RecordedEvent) -> MembersQuery? {
            event.changes(.access) ? event.thread.map { MembersQuery(thread: $0) } : nil
        }

        package func part(of kept: Page<ThreadMember>) -> Page<ThreadMember> { kept.cut(to: page.limit) }
    }

    extension PageRequest {
        /// The page that is kept: as many entries as a server gives.
        fileprivate static let mostKept = PageRequest.latest(200)

        /// Whether the latest entries are meant.
        fileprivate var isFirst: Bool {
            before == nil && after == nil && around == nil && limit <= Self.mostKept.limit
        }
    }

    extension Page where Entry: PageEntry {
        /// Returns the latest entries, at most as many as a limit.
        fileprivate func cut(to limit: Int) -> Page {
            guard count > limit else { return self }
            var page = self
            page.entries = Array(
                Entry.isNewestFirst ? entries.prefix(Swift.max(0, limit)) : entries.suffix(Swift.max(0, limit)))
            page.older = PageRequest(limit: limit, before: (Entry.isNewestFirst ? page.last : page.first)?.pageKey)
            return page
        }
    }

    extension RecordedEvent {
        /// Whether every kept answer can be another one.
        var changesNames: Bool { kind == .usernameChanged }
    }

    // MARK: What an update changes

    /// A value that the copy keeps whole, of which updates take parts.
    package protocol KeptValue: Codable, Hashable, Sendable {
        /// Takes away what an update takes, and puts in its place what the update has.
        mutating func apply(_ change: ContentChange)
        /// The names, reasons and emoji, which another answer can lack although no update has taken
        /// them away.
        var words: Set<String> { get }
    }

    /// An entry of a page that the copy keeps whole.
    package protocol KeptEntry: PageEntry, Codable, Hashable, Sendable {
        /// Changes the entry as an update does; returns whether it stays.
        mutating func apply(_ change: ContentChange) -> Bool
        /// As ``KeptValue/words``.
        var words: Set<String> { get }
    }

    extension Page: KeptValue where Entry: KeptEntry {
        package mutating func apply(_ change: ContentChange) {
            entries = entries.compactMap { entry in
                var entry = entry
                return entry.apply(change) ? entry : nil
            }
        }

        package var words: Set<String> { entries.reduce(into: []) { $0.formUnion($1.words) } }
    }

    extension InboxAnswer: KeptValue {
        package mutating func apply(_ change: ContentChange) { page.apply(change) }

        package var words: Set<String> { page.words }
    }

    extension UserDetails: KeptValue {
        package mutating func apply(_ change: ContentChange) {
            if let name = change.names[id] { username = name }
            if let current = change.postcodes[id] { postcode = current }
            threads.removeAll { change.lostThreads.contains($0.id) }
            for index in threads.indices { threads[index].apply(change) }
        }

        package var words: Set<String> {
            threads.reduce(into: Set([username, postcode?.description].compactMap(\.self))) { $0.formUnion($1.words) }
        }
    }

    extension UserThread {
        fileprivate mutating func apply(_ change: ContentChange) {
            change.change(&name, of: id)
            change.change(&people)
            if var post = lastMessage {
                change.change(&post)
                lastMessage = post
            }
        }

        fileprivate var words: Set<String> {
            let post = lastMessage.map { [$0.author.username] + $0.reactions.map(\.emoji) } ?? []
            return Set(([name] + post + (people ?? []).map(\.username)).compactMap(\.self))
        }
    }

    extension ThreadSummary: KeptEntry {
        package mutating func apply(_ change: ContentChange) -> Bool {
            change.change(&name, of: id)
            change.change(&people)
            return !change.lostThreads.contains(id)
        }

        package var words: Set<String> { Set(([name] + (people ?? []).map(\.username)).compactMap(\.self)) }
    }

    extension ThreadMember: KeptEntry {
        // The members of a lost thread are an answer of their own, which is removed.
        package mutating func apply(_ change: ContentChange) -> Bool {
            change.change(&user)
            return true
        }

        package var words: Set<String> { Set([user.username].compactMap(\.self)) }
    }

    extension InboxEntry: KeptEntry {
        package mutating func apply(_ change: ContentChange) -> Bool {
            change.change(&name, of: thread)
            change.change(&by)
            change.change(&people)
            if let kind, change.endedSanctions[thread] == kind { moderatorNote = nil }
            if change.lostThreads.contains(thread) || change.blocks[by.id] == true { return false }
            if reason == .invitation, change.endedInvitations.contains(thread) { return false }
            if change.endsPosts, let post, change.posts.contains(post) { return false }
            if let withdrawn = change.withdrawn, post == withdrawn.post, by.id == withdrawn.by, emoji == withdrawn.emoji
            {
                return false
            }
            // An entry without a post can have a reason, which is content of its event.
            return !change.positions.contains(position)
        }

        package var words: Set<String> {
            Set(([name, by.username, emoji, moderatorNote] + (people ?? []).map(\.username)).compactMap(\.self))
        }
    }
#endif
