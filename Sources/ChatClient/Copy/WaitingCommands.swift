#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import ChatLive
    package import ChatValues
    internal import LocalStorage

    /// A command that waits, with what it needs to be shown in answers that are kept.
    package struct WaitingCommand {
        let item: OutboxItem
        /// The user who has written it, with the name of before.
        let user: UserSummary
        /// The name of the thread that it joins; nil if it is not known.
        var threadName: String?
        /// The messages of others from which on a marker is set, oldest first; nil if the copy does
        /// not know them all.
        var unread: [Post]?

        var command: ChatCommand { item.request.command }

        /// The name that the user takes; nil for another command, and for a name that is none.
        var username: String? { item.username }
    }

    extension OutboxItem {
        /// The name that the user takes; nil for another command, and for a name that is none.
        fileprivate var username: String? {
            request.command.kind == .changeUsername ? Username(request.command.text)?.text : nil
        }
    }

    extension Post {
        /// Shows a command that waits, if it is about the post.
        mutating func show(_ item: OutboxItem) {
            let command = item.request.command
            guard command.kind.form.concernsPost, command.postID == id, !isRetracted, !isRemoved else { return }
            switch command.kind {
            case .edit: (body, mentions, editedAt) = (command.text, command.mentions, item.writtenAt)
            case .retract: (body, mentions, reactions, isRetracted) = (nil, [], [], true)
            case .react:
                guard let emoji = Emoji(command.text)?.text else { return }
                let index = reactions.firstIndex { $0.emoji == emoji }
                if let index, !reactions[index].isMine {
                    (reactions[index].count, reactions[index].isMine) = (reactions[index].count + 1, true)
                } else if index == nil {
                    reactions.append(PostReaction(emoji: emoji, count: 1, isMine: true))
                }
            case .unreact:
                guard let emoji = Emoji(command.text)?.text,
                    let index = reactions.firstIndex(where: { $0.emoji == emoji && $0.isMine })
                else { return }
                (reactions[index].count, reactions[index].isMine) = (reactions[index].count - 1, false)
                if reactions[index].count < 1 { reactions.remove(at: index) }
            default: break
            }
        }
    }

    // MARK: In answers

    extension UserQuery {
        package func show(_ waiting: WaitingCommand, in kept: inout UserDetails) {
            let command = waiting.command
            if let name = waiting.username { kept.username = name }
            if command.kind == .setPostcode, let postcode = Postcode(command.text) { kept.postcode = postcode }
            if [.joinThread, .acceptInvitation].contains(command.kind), let name = waiting.threadName,
                !kept.threads.contains(where: { $0.id == command.threadID })
            {
                kept.threads.append(
                    UserThread(
                        id: command.threadID, name: name, since: .firstPending + Position(waiting.item.id),
                        unreadCount: 0, readUpTo: 0))
            }
            if command.kind == .leaveThread { kept.threads.removeAll { $0.id == command.threadID } }
            for index in kept.threads.indices { kept.threads[index].show(waiting) }
        }
    }

    extension UserThread {
        fileprivate mutating func show(_ waiting: WaitingCommand) {
            lastMessage?.show(waiting.item)
            let command = waiting.command
            guard command.kind.form.fields.contains(.thread), command.threadID == id else { return }
            switch command.kind {
            case .renameThread: name = ThreadName(command.text)?.text ?? name
            case .setNotifications:
                notifications = ThreadNotifications(level: command.level, until: command.until)
            case .markRead where command.upTo > readUpTo:
                readUpTo = command.upTo
                if let unread = waiting.unread {
                    count(unread, atMost: unreadCount)
                } else if command.upTo >= lastMessage?.position ?? 0 {
                    count([], atMost: 0)
                }
            case .markUnread:
                readUpTo = min(readUpTo, max(command.from, 1) - 1)
                if let unread = waiting.unread { count(unread, atMost: .max) }
            default: break
            }
        }

        private mutating func count(_ unread: [Post], atMost limit: Int) {
            let counted = unread.filter { $0.position > readUpTo }
            unreadCount = min(counted.count, limit)
            firstUnread = unreadCount > 0 ? counted.first?.position : nil
        }
    }

    extension ThreadsQuery {
        package func show(_ waiting: WaitingCommand, in kept: inout Page<ThreadSummary>) {
            let command = waiting.command
            if let name = waiting.username {
                for index in kept.entries.indices { kept.entries[index].people?.rename(waiting.user.id, name) }
            }
            switch command.kind {
            case .leaveThread: kept.entries.removeAll { $0.id == command.threadID }
            case .renameThread:
                guard let name = ThreadName(command.text)?.text else { return }
                for index in kept.entries.indices where kept.entries[index].id == command.threadID {
                    kept.entries[index].name = name
                }
            case .joinThread, .acceptInvitation:
                guard let name = waiting.threadName, !kept.entries.contains(where: { $0.id == command.threadID }) else {
                    return
                }
                let code = command.threadID.outwardCode
                kept.entries.append(
                    ThreadSummary(
                        id: command.threadID, name: name, outwardCode: code, memberCount: 1, messageCount: 0,
                        lastPosition: .firstPending + Position(waiting.item.id), createdAt: waiting.item.writtenAt,
                        policy: code == nil ? .open : .residents))
            default: break
            }
        }
    }

    extension InboxQuery {
        package func show(_ waiting: WaitingCommand, in kept: inout InboxAnswer) {
            let command = waiting.command
            switch command.kind {
            case .markInboxRead:
                var count = 0
                for index in kept.page.entries.indices
                where kept.page.entries[index].isUnread && kept.page.entries[index].position <= command.upTo {
                    kept.page.entries[index].isUnread = false
                    count += 1
                }
                kept.unread.count = max(0, kept.unread.count - count)
                if let newest = kept.page.entries.first, newest.position <= command.upTo {
                    kept.unread = InboxCount(count: 0)
                }
            case .declineInvitation:
                kept.page.entries.removeAll { $0.reason == .invitation && $0.thread == command.threadID }
            default: break
            }
        }
    }

    extension MembersQuery {
        package func show(_ waiting: WaitingCommand, in kept: inout Page<ThreadMember>) {
            let command = waiting.command
            if let name = waiting.username {
                for index in kept.entries.indices where kept.entries[index].user.id == waiting.user.id {
                    kept.entries[index].user.username = name
                }
            }
            guard command.kind.form.fields.contains(.thread), command.threadID == thread else { return }
            let isMember = kept.entries.contains { $0.user.id == waiting.user.id }
            switch command.kind {
            case .leaveThread: kept.entries.removeAll { $0.user.id == waiting.user.id }
            case .joinThread, .acceptInvitation:
                if isMember { return }
                kept.entries.append(
                    ThreadMember(user: waiting.user, since: .firstPending + Position(waiting.item.id)))
            default: break
            }
        }
    }

    extension [UserSummary] {
        fileprivate mutating func rename(_ user: UserID, _ name: String) {
            for index in indices where self[index].id == user { self[index].username = name }
        }
    }

    // MARK: In the file

    extension Database<ClientError> {
        /// The most commands that are shown in an answer, and the most messages that a marker counts.
        private static var mostShown: (commands: Int64, messages: Int64) { (1_000, 500) }

        /// The commands that wait and are no posts, in their order.
        private func waitingItems() throws(ClientError) -> [OutboxItem] {
            try outboxItems(
                "WHERE rejection IS NULL AND list IS NULL ORDER BY number LIMIT ?", .integer(Self.mostShown.commands))
        }

        /// Returns an answer with the commands that wait.
        func showing<Query: KeptQuery>(
            _ kept: Query.Kept, of query: Query, _ user: UserID
        ) throws(ClientError) -> Query.Kept {
            var kept = kept
            for item in try waitingItems() { query.show(try waiting(item, of: user), in: &kept) }
            return kept
        }

        /// The name that the user has taken in the outbox; nil if none waits.
        func waitingName() throws(ClientError) -> String? {
            // Posts are read one by one, and most outboxes have no new name.
            try outboxItems(
                """
                WHERE rejection IS NULL AND list IS NULL AND needs IS NULL AND instr(command, ?)
                ORDER BY number DESC LIMIT 10
                """, .blob([UInt8]("\"changeUsername\"".utf8))
            ).lazy.compactMap(\.username).first
        }

        private func waiting(_ item: OutboxItem, of user: UserID) throws(ClientError) -> WaitingCommand {
            let command = item.request.command
            var waiting = WaitingCommand(item: item, user: try ownName(user) ?? UserSummary(id: user))
            switch command.kind {
            case .joinThread, .acceptInvitation: waiting.threadName = try name(ofJoined: command.threadID)
            case .markRead where command.upTo < .firstPending:
                waiting.unread = try unread(in: command.threadID, from: command.upTo + 1, of: user)
            case .markUnread: waiting.unread = try unread(in: command.threadID, from: command.from, of: user)
            default: break
            }
            return waiting
        }

        /// The name of a thread that is no thread of the user yet: that of the outward code, or of
        /// the invitation.
        private func name(ofJoined thread: ThreadID) throws(ClientError) -> String? {
            if let code = thread.outwardCode { return code.description }
            guard let row = try run("SELECT value FROM answers WHERE key = ?", .text(InboxQuery().key)).first,
                case .blob(let bytes) = row[0]
            else { return nil }
            return try Self.decode(InboxAnswer.self, bytes).page.entries.first { $0.thread == thread }?.name
        }

        /// The messages of others from a position on that count as unread; nil if the copy does not
        /// know them all.
        private func unread(in thread: ThreadID, from first: Position, of user: UserID) throws(ClientError) -> [Post]? {
            let list = PostList.messages(thread)
            guard first < .firstPending else { return [] }
            guard try ranges(of: list).contains(where: { $0.last == nil && $0.first <= first }) else { return nil }
            let rows = try run(
                Self.selection + "WHERE p.list = ? AND p.position >= ? AND p.author != ? ORDER BY p.position LIMIT ?",
                list.key, .integer(Int64(first)), user.value, .integer(Self.mostShown.messages))
            return try rows.map { row throws(ClientError) in try post(of: row) }
                .filter { !$0.isRetracted && !$0.isRemoved && !$0.isFromBlockedUser }
        }

        /// The answers in which a command is shown; nil for all.
        private func queries(showing command: ChatCommand) -> [any KeptQuery]? {
            switch command.kind {
            case .edit, .retract, .react, .unreact, .markRead, .markUnread, .setNotifications, .setPostcode:
                [UserQuery()]
            case .markInboxRead: [InboxQuery()]
            case .renameThread: [UserQuery(), ThreadsQuery()]
            case .joinThread, .leaveThread, .acceptInvitation, .declineInvitation:
                [UserQuery(), ThreadsQuery(), InboxQuery(), MembersQuery(thread: command.threadID)]
            case .changeUsername: nil
            default: []
            }
        }

        /// Names the answers that a command changes while it waits, and no more when it does not.
        func announceAnswers(of item: OutboxItem, _ changes: inout CopyChanges) throws(ClientError) {
            if let queries = queries(showing: item.request.command) {
                changes.answers.formUnion(queries.map { KeptAnswer($0) })
                return
            }
            changes.users.insert(item.request.command.actorID)
            for row in try run("SELECT key FROM answers") {
                if case .text(let key) = row[0], let answer = KeptAnswer(key: key) { changes.answers.insert(answer) }
            }
        }

        /// Keeps what a command has shown while it waited, until it is read again from the server.
        ///
        /// Without that, a count of before would be shown for a moment. Names and texts are in the
        /// event of the command.
        func keepShown(_ item: OutboxItem, of user: UserID, _ changes: inout CopyChanges) throws(ClientError) {
            let command = item.request.command
            switch command.kind {
            case .react, .unreact:
                try change(command.postID, &changes) { post in
                    post.show(item)
                    return true
                }
            case .markRead, .markUnread, .setNotifications, .markInboxRead, .joinThread, .leaveThread,
                .acceptInvitation, .declineInvitation:
                break
            default: return
            }
            let waiting = try waiting(item, of: user)
            for query in queries(showing: command) ?? [] { try keep(waiting, in: query, &changes) }
        }

        private func keep<Query: KeptQuery>(
            _ waiting: WaitingCommand, in query: Query, _ changes: inout CopyChanges
        ) throws(ClientError) {
            guard let row = try run("SELECT value FROM answers WHERE key = ?", .text(query.key)).first,
                case .blob(let bytes) = row[0]
            else { return }
            let value = try Self.decode(Query.Kept.self, bytes)
            var changed = value
            query.show(waiting, in: &changed)
            guard changed != value else { return }
            try run(
                "UPDATE answers SET value = ?, stale = 1 WHERE key = ?", .blob(try Self.encode(changed)),
                .text(query.key))
            changes.answers.insert(KeptAnswer(query))
            changes.isOutdated = true
        }

        // MARK: Another thread

        /// Moves the commands that wait for a new direct thread to the one that the same people have
        /// already; returns their numbers.
        func follow(_ receipt: Receipt, of item: OutboxItem, _ changes: inout CopyChanges) throws(ClientError)
            -> Set<OutboxItem.ID>
        {
            let command = item.request.command
            guard command.kind == .openDirect, let id = command.id,
                let thread = receipt.thread ?? receipt.events.first?.thread, thread != ThreadID(bits: id)
            else { return [] }
            let (former, present) = (PostList.messages(ThreadID(bits: id)), PostList.messages(thread))
            let waiting = try outboxItems(
                "WHERE rejection IS NULL AND (list = ? OR needs = ?) ORDER BY number", former.key,
                ThreadID(bits: id).value)
            for item in waiting {
                var request = item.request
                request.command.threadID = thread
                let place = OutboxPlace(of: request.command)
                try run(
                    "UPDATE outbox SET command = ?, needs = ?, list = ? WHERE number = ?",
                    .blob(try Self.encode(request)), place.needs ?? .null, place.list?.key ?? .null, .integer(item.id))
                if let post = request.command.createdPost { changes.add(post, in: present) }
            }
            // What was sent, the server has rejected: there is no such thread, and no such post.
            var moved = Set(waiting.map(\.id))
            var posts = waiting.compactMap { OutboxPlace(of: $0.request.command).creates }
            while let post = posts.popLast() {
                for item in try outboxItems("WHERE rejection IS NULL AND needs = ?", post)
                where moved.insert(item.id).inserted {
                    if let created = OutboxPlace(of: item.request.command).creates { posts.append(created) }
                }
            }
            for number in moved.sorted() {
                try run("UPDATE outbox SET attempts = 0 WHERE number = ?", .integer(number))
                if let item = try outboxItem(number) { changes.outbox.append(.queued(item)) }
            }
            if !waiting.isEmpty { changes.lists.formUnion([former, present]) }
            return moved
        }
    }
#endif
