#if Client || canImport(SQLite3)
    package import ChatDomain
    package import ChatValues
    internal import LocalStorage

    /// An answer of the server that the copy keeps whole.
    package enum KeptAnswer: Hashable, Sendable {
        case me, threads, inbox
        case members(ThreadID)

        /// The key in the file.
        var key: String {
            switch self {
            case .me: "me"
            case .threads: "threads"
            case .inbox: "inbox"
            case .members(let thread): "members \(thread)"
            }
        }

        /// The query that the server is asked.
        var query: any KeptQuery {
            switch self {
            case .me: UserQuery()
            case .threads: ThreadsQuery(page: PageRequest(limit: 200))
            case .inbox: InboxQuery()
            case .members(let thread): MembersQuery(thread: thread, page: PageRequest(limit: 200))
            }
        }

        /// The type of the answer.
        var type: any KeptValue.Type { query.keptType }

        init?(key: String) {
            switch key {
            case "me": self = .me
            case "threads": self = .threads
            case "inbox": self = .inbox
            default:
                guard key.hasPrefix("members "), let thread = ThreadID(String(key.dropFirst(8))) else { return nil }
                self = .members(thread)
            }
        }

        /// Whether the answer can be another one after an update.
        func isOutdated(by update: FollowedUpdate, of user: UserID) -> Bool {
            guard case .event(let event) = update, !event.recorded.changesNames else { return true }
            return Self.outdated(by: event.recorded, of: user).contains(self)
        }

        /// The answers that an event can change, unless it changes names, which every answer has.
        static func outdated(by event: RecordedEvent, of user: UserID) -> [KeptAnswer] {
            guard let kind = event.kind, kind != .sessionStarted, kind != .sessionEnded else { return [] }
            var outdated: [KeptAnswer] = [.me]
            if kind.form.reordersThreads || [.operatorGranted, .operatorRevoked].contains(kind) {
                outdated.append(.threads)
            }
            let isOrdinary = kind == .messagePosted && !event.mentions.contains(user)
            let changesNothing: [EventKind] = [
                .threadRead, .threadMarkedUnread, .notificationsSet, .postcodeSet, .messagePinned, .messageUnpinned,
            ]
            if !isOrdinary, !changesNothing.contains(kind) { outdated.append(.inbox) }
            let changesMembers: [EventKind] = [
                .threadJoined, .threadLeft, .memberRemoved, .userBanned, .userErased, .directOpened,
            ]
            if changesMembers.contains(kind), let thread = event.thread { outdated.append(.members(thread)) }
            return outdated
        }
    }

    /// A query whose answer the copy keeps whole.
    protocol KeptQuery: ChatQuery {
        /// The answer as it is kept.
        associatedtype Kept: KeptValue
    }

    extension KeptQuery {
        fileprivate var keptType: any KeptValue.Type { Kept.self }
    }

    extension UserQuery: KeptQuery { typealias Kept = UserDetails }
    extension ThreadsQuery: KeptQuery { typealias Kept = Page<ThreadSummary> }
    extension InboxQuery: KeptQuery { typealias Kept = InboxAnswer }
    extension MembersQuery: KeptQuery { typealias Kept = Page<ThreadMember> }

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
            if let kind, change.endedSanctions[thread] == kind { reason = nil }
            if change.lostThreads.contains(thread) || change.blocks[by.id] == true { return false }
            if why == .invitation, change.endedInvitations.contains(thread) { return false }
            if change.endsPosts, let post, change.posts.contains(post) { return false }
            if let withdrawn = change.withdrawn, post == withdrawn.post, by.id == withdrawn.by, emoji == withdrawn.emoji
            {
                return false
            }
            // An entry without a post can have a reason, which is content of its event.
            return !change.positions.contains(position)
        }

        package var words: Set<String> {
            Set(([name, by.username, emoji, reason] + (people ?? []).map(\.username)).compactMap(\.self))
        }
    }
#endif
