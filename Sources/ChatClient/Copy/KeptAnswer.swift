#if Client || canImport(SQLite3)
    package import ChatDomain
    package import ChatValues

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

        /// What the server is asked for.
        var target: String {
            switch self {
            case .me: "/v1/me"
            case .threads: "/v1/threads?limit=200"
            case .inbox: "/v1/inbox?limit=50"
            case .members(let thread): "/v1/threads/\(thread)/members?limit=200"
            }
        }

        /// The type of the answer.
        var type: any KeptValue.Type {
            switch self {
            case .me: UserDetails.self
            case .threads: Page<ThreadSummary>.self
            case .inbox: InboxAnswer.self
            case .members: Page<ThreadMember>.self
            }
        }

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

        /// Whether an event can change the answer.
        func isOutdated(by event: RecordedEvent, of user: UserID) -> Bool {
            event.changesNames || Self.outdated(by: event, of: user).contains(self)
        }

        /// The answers that an event can change, unless it changes names, which every answer has.
        static func outdated(by event: RecordedEvent, of user: UserID) -> [KeptAnswer] {
            guard let kind = event.kind, kind != .sessionStarted, kind != .sessionEnded else { return [] }
            var outdated: [KeptAnswer] = [.me]
            if kind.form.reordersThreads || [.operatorGranted, .operatorRevoked].contains(kind) { outdated.append(.threads) }
            let isOrdinary = kind == .messagePosted && !event.mentions.contains(user)
            let changesNothing: [EventKind] = [
                .threadRead, .threadMarkedUnread, .notificationsSet, .postcodeSet, .messagePinned, .messageUnpinned,
            ]
            if !isOrdinary, !changesNothing.contains(kind) { outdated.append(.inbox) }
            let changesMembers: [EventKind] = [.threadJoined, .threadLeft, .memberRemoved, .userBanned, .userErased, .directOpened]
            if changesMembers.contains(kind), let thread = event.thread { outdated.append(.members(thread)) }
            return outdated
        }
    }

    extension RecordedEvent {
        /// Whether every kept answer can be another one.
        var changesNames: Bool { kind == .usernameChanged }
    }

    /// The answer about an inbox: its latest page, and the number of unread entries.
    package struct InboxAnswer: Codable, Hashable, Sendable {
        package var page: Page<InboxEntry>
        package var unread: InboxCount

        private enum CodingKeys: CodingKey { case unread }

        package init(from decoder: any Decoder) throws {
            page = try Page(from: decoder)
            unread = try decoder.container(keyedBy: CodingKeys.self).decode(InboxCount.self, forKey: .unread)
        }

        package func encode(to encoder: any Encoder) throws {
            try page.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(unread, forKey: .unread)
        }
    }

    // MARK: What must be forgotten

    /// A value that the copy keeps whole, from which parts can be removed.
    package protocol KeptValue: Codable, Sendable {
        /// Removes what is in a thread.
        mutating func forget(_ thread: ThreadID)
        /// Removes what was erased.
        mutating func forget(_ content: ErasedContent)
    }

    /// An entry of a page that the copy keeps whole.
    package protocol KeptEntry: Codable, Sendable {
        /// Whether it is gone with a thread.
        func isIn(_ thread: ThreadID) -> Bool
        /// Removes what was erased; returns whether the entry stays.
        mutating func forget(_ content: ErasedContent) -> Bool
    }

    extension Page: KeptValue where Entry: KeptEntry {
        package mutating func forget(_ thread: ThreadID) { entries.removeAll { $0.isIn(thread) } }

        package mutating func forget(_ content: ErasedContent) {
            entries = entries.compactMap { entry in
                var entry = entry
                return entry.forget(content) ? entry : nil
            }
        }
    }

    extension InboxAnswer: KeptValue {
        package mutating func forget(_ thread: ThreadID) { page.forget(thread) }
        package mutating func forget(_ content: ErasedContent) { page.forget(content) }
    }

    extension UserDetails: KeptValue {
        package mutating func forget(_ thread: ThreadID) { threads.removeAll { $0.id == thread } }

        package mutating func forget(_ content: ErasedContent) {
            if content.namelessUsers.contains(id) { (username, postcode) = (nil, nil) }
            for index in threads.indices { threads[index].forget(content) }
        }
    }

    extension UserThread {
        fileprivate mutating func forget(_ content: ErasedContent) {
            content.removeName(&name, of: id)
            content.removeNames(&people)
            guard var post = lastMessage else { return }
            content.removeName(&post.author)
            if content.posts.contains(post.id) { post.body = nil }
            lastMessage = post
        }
    }

    extension ThreadSummary: KeptEntry {
        package func isIn(_ thread: ThreadID) -> Bool { id == thread }

        package mutating func forget(_ content: ErasedContent) -> Bool {
            content.removeName(&name, of: id)
            content.removeNames(&people)
            return true
        }
    }

    extension ThreadMember: KeptEntry {
        // The members of a lost thread are an answer of their own, which is removed.
        package func isIn(_ thread: ThreadID) -> Bool { false }

        package mutating func forget(_ content: ErasedContent) -> Bool {
            content.removeName(&user)
            return true
        }
    }

    extension InboxEntry: KeptEntry {
        package func isIn(_ thread: ThreadID) -> Bool { self.thread == thread }

        package mutating func forget(_ content: ErasedContent) -> Bool {
            content.removeName(&name, of: thread)
            content.removeName(&by)
            content.removeNames(&people)
            // An entry without a post can have a reason, which is content of its event.
            return !content.positions.contains(position) && !(post.map(content.posts.contains) ?? false)
        }
    }

    extension ErasedContent {
        fileprivate func removeName(_ name: inout String?, of thread: ThreadID) { if namelessThreads.contains(thread) { name = nil } }

        fileprivate func removeName(_ user: inout UserSummary) { if namelessUsers.contains(user.id) { user.username = nil } }

        fileprivate func removeNames(_ people: inout [UserSummary]?) {
            people = people?.map { user in
                var user = user
                removeName(&user)
                return user
            }
        }
    }
#endif
