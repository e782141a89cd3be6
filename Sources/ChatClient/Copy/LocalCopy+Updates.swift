#if Client || canImport(SQLite3)
    internal import ChatDomain
    package import ChatValues
    internal import LocalStorage
    internal import Locking

    extension LocalCopy {
        /// Applies updates of the stream, in their order, and moves the token behind the last one.
        ///
        /// What is applied twice has the effect of once.
        package func apply(_ updates: [FollowedUpdate]) throws(CopyError) -> CopyChanges {
            guard let last = updates.last else { return CopyChanges() }
            return try file.withLock { file throws(CopyError) in
                var changes = CopyChanges()
                var isRemoval = false
                try file.transaction { () throws(CopyError) in
                    for update in updates {
                        try file.apply(update, of: user, &changes)
                        isRemoval = isRemoval || update.removesText
                    }
                    if isPruningDue(after: updates.count) { try file.prune(limit: postLimit) }
                    try file.run("INSERT OR REPLACE INTO facts VALUES ('token', ?)", .text(last.resumeToken.description))
                }
                if isRemoval { try file.forgetLog() }
                return changes
            }
        }
    }

    extension LocalCopy {
        /// Whether the number of posts is to be looked at: counting them takes as long as many updates.
        private func isPruningDue(after count: Int) -> Bool {
            updatesUntilPruning.withLock { left in
                left -= count
                guard left <= 0 else { return false }
                left = 500
                return true
            }
        }
    }

    extension FollowedUpdate {
        /// Whether texts must be gone from the file.
        var removesText: Bool {
            switch self {
            case .erased, .accessLost: true
            case .event(let event):
                [.messageEdited, .replyEdited, .messageRetracted, .replyRetracted, .messageRemoved, .replyRemoved].contains(event.kind)
            }
        }
    }

    extension Database<CopyError> {
        func apply(_ update: FollowedUpdate, of user: UserID, _ changes: inout CopyChanges) throws(CopyError) {
            switch update {
            case .event(let event): try apply(event.recorded, of: user, &changes)
            case .erased(let content, _): try forget(content, &changes)
            case .accessLost(let thread, _): try forget(thread, &changes)
            }
        }

        func apply(_ event: RecordedEvent, of user: UserID, _ changes: inout CopyChanges) throws(CopyError) {
            switch event.kind {
            case .messagePosted, .replyPosted: try addPost(of: event, &changes)
            case .messageEdited, .replyEdited:
                if let edit = event.edit { try endOutboxItem(creating: edit.value, Receipt(of: event), &changes) }
                try change(event.post, &changes) { post in
                    guard event.position > post.editPosition ?? post.position else { return false }
                    // A text that is withheld was changed since: it is read again.
                    guard let body = event.body else { return true }
                    (post.body, post.mentions, post.editedAt, post.editPosition) = (body, event.mentions, event.recordedAt, event.position)
                    return false
                }
            case .messageRetracted, .replyRetracted:
                try change(event.post, &changes) { post in
                    (post.body, post.reactions, post.mentions, post.isRetracted) = (nil, [], [], true)
                    return false
                }
            case .messageRemoved, .replyRemoved:
                try change(event.post, &changes) { post in
                    (post.body, post.reactions, post.mentions, post.isRemoved) = (nil, [], [], true)
                    return false
                }
            // The counts of the server are right whether or not they contain this reaction already.
            case .reactionAdded, .reactionRemoved: try change(event.post, &changes) { _ in true }
            case .userBlocked, .userUnblocked:
                if case .block(let blocked, by: user) = event.shape {
                    try run(
                        "INSERT INTO users VALUES (?, NULL, 0, ?) ON CONFLICT(id) DO UPDATE SET blocked = excluded.blocked", blocked.value,
                        .integer(event.kind == .userBlocked ? 1 : 0))
                    changes.users.insert(blocked)
                }
            case .usernameChanged:
                if let renamed = event.user, let name = event.username {
                    try run("UPDATE users SET name = ?, known = 1 WHERE id = ?", .text(name.text), renamed.value)
                    changes.users.insert(renamed)
                }
            case .threadJoined, .directOpened: try readNamesAgain(of: event.kind == .directOpened ? user : event.user ?? user, user)
            default: break
            }
            if [.replyPosted, .replyRetracted, .replyRemoved].contains(event.kind), let message = event.message {
                try change(.message(message), &changes) { _ in true }
            }
            try outdateAnswers(by: event, of: user, &changes)
        }

        /// Adds the post of an event, if its list is known up to there.
        private func addPost(of event: RecordedEvent, _ changes: inout CopyChanges) throws(CopyError) {
            guard let id = event.post, let thread = event.thread, let message = event.message, let author = event.user else { return }
            try endOutboxItem(creating: id.value, Receipt(of: event), &changes)
            let list = id.isReply ? PostList.replies(message) : .messages(thread)
            guard try knows(event.position, of: list), try run("SELECT 1 FROM posts WHERE id = ?", id.value).isEmpty else { return }
            // The name of a new member is in no event.
            let isKnown = try !run("SELECT 1 FROM users WHERE id = ? AND known = 1", author.value).isEmpty
            let post = Post(
                id: id, position: event.position, thread: id.isReply ? nil : thread, message: message, author: UserSummary(id: author),
                body: event.body, createdAt: event.createdAt, isRetracted: false, replyCount: 0, mentions: event.mentions)
            try insert(post, in: list, of: thread, isStale: !isKnown || event.body == nil)
            changes.add(id, in: list)
        }

        /// Has the name of a user who has joined a thread read again, or all names if it is the user of the copy: no event tells of a change
        /// of name before two users share a thread.
        private func readNamesAgain(of joined: UserID, _ user: UserID) throws(CopyError) {
            let condition = joined == user ? "" : "WHERE author = x'\(joined.value.hexadecimal)'"
            try run(
                "UPDATE posts SET stale = 1 WHERE (list, position) IN (SELECT list, max(position) FROM posts \(condition) GROUP BY author)")
            try run("UPDATE users SET known = 0 " + (joined == user ? "" : "WHERE id = x'\(joined.value.hexadecimal)'"))
        }

        /// Changes a post that is in the copy; the function returns whether it must be read again.
        private func change(_ id: PostID?, _ changes: inout CopyChanges, _ body: (inout Post) -> Bool) throws(CopyError) {
            guard let id, let row = try run("SELECT list, thread, value, stale FROM posts WHERE id = ?", id.value).first,
                let list = PostList(key: row[0]), case .blob(let thread) = row[1], case .blob(let bytes) = row[2]
            else { return }
            var post = try Self.decode(Post.self, bytes)
            let isStale = body(&post) || row[3] == .integer(1)
            try run("UPDATE posts SET value = ?, stale = ? WHERE id = ?", .blob(try Self.encode(post)), .integer(isStale ? 1 : 0), id.value)
            _ = thread
            changes.add(id, in: list)
        }

        // MARK: What must be forgotten

        private func forget(_ content: ErasedContent, _ changes: inout CopyChanges) throws(CopyError) {
            changes.isErasure = true
            for post in content.posts {
                try change(post, &changes) { post in
                    post.body = nil
                    return true
                }
            }
            for user in content.namelessUsers {
                try run("UPDATE users SET name = NULL WHERE id = ?", user.value)
                changes.users.insert(user)
            }
            try rewriteAnswers(&changes) { $0.forget(content) }
        }

        private func forget(_ thread: ThreadID, _ changes: inout CopyChanges) throws(CopyError) {
            for row in try run("SELECT DISTINCT list FROM ranges WHERE thread = ?", thread.value) {
                if let list = PostList(key: row[0]) { changes.lists.insert(list) }
            }
            try run("DELETE FROM posts WHERE thread = ?", thread.value)
            try run("DELETE FROM ranges WHERE thread = ?", thread.value)
            changes.lostThreads.insert(thread)
            try rewriteAnswers(&changes) { $0.forget(thread) }
        }

        /// Removes from every kept answer what must be gone, and has all of them read again.
        private func rewriteAnswers(_ changes: inout CopyChanges, _ forget: (inout AnswerContent) -> Void) throws(CopyError) {
            for row in try run("SELECT key, value FROM answers") {
                guard case .text(let text) = row[0], case .blob(let bytes) = row[1], let kind = KeptAnswer(key: text) else {
                    throw .damaged
                }
                var content = try AnswerContent(kind, bytes)
                forget(&content)
                try run("UPDATE answers SET value = ?, stale = 1 WHERE key = ?", .blob(try content.encoded()), .text(text))
                changes.answers.insert(kind)
            }
        }

        private func outdateAnswers(by event: RecordedEvent, of user: UserID, _ changes: inout CopyChanges) throws(CopyError) {
            for kind in KeptAnswer.outdated(by: event, of: user) {
                try run("UPDATE answers SET stale = 1 WHERE key = ?", .text(kind.key))
                if changeCount > 0 { changes.answers.insert(kind) }
            }
        }
    }

    extension Receipt {
        fileprivate init(of event: RecordedEvent) { self.init(events: [event.event], from: event.position) }
    }

    extension RecordedEvent {
        /// The message or the reply that the event is about.
        fileprivate var post: PostID? { reply.map(PostID.reply) ?? message.map(PostID.message) }
    }

    extension KeptAnswer {
        /// The answers that an event can change.
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

    /// A kept answer as a value, to remove parts of it.
    enum AnswerContent {
        case me(UserDetails)
        case threads(Page<ThreadSummary>)
        case inbox(InboxAnswer)
        case members(Page<ThreadMember>, of: ThreadID)

        init(_ kind: KeptAnswer, _ bytes: [UInt8]) throws(CopyError) {
            switch kind {
            case .me: self = .me(try Database<CopyError>.decode(UserDetails.self, bytes))
            case .threads: self = .threads(try Database<CopyError>.decode(Page<ThreadSummary>.self, bytes))
            case .inbox: self = .inbox(try Database<CopyError>.decode(InboxAnswer.self, bytes))
            case .members(let thread): self = .members(try Database<CopyError>.decode(Page<ThreadMember>.self, bytes), of: thread)
            }
        }

        func encoded() throws(CopyError) -> [UInt8] {
            switch self {
            case .me(let value): try Database<CopyError>.encode(value)
            case .threads(let value): try Database<CopyError>.encode(value)
            case .inbox(let value): try Database<CopyError>.encode(value)
            case .members(let value, _): try Database<CopyError>.encode(value)
            }
        }

        mutating func forget(_ thread: ThreadID) {
            switch self {
            case .me(var me):
                me.threads.removeAll { $0.id == thread }
                self = .me(me)
            case .threads(var page):
                page.entries.removeAll { $0.id == thread }
                self = .threads(page)
            case .inbox(var inbox):
                inbox.page.entries.removeAll { $0.thread == thread }
                self = .inbox(inbox)
            case .members(var page, let of):
                if of == thread { page.entries = [] }
                self = .members(page, of: of)
            }
        }

        mutating func forget(_ content: ErasedContent) {
            let (nameless, namelessThreads, posts) = (Set(content.namelessUsers), Set(content.namelessThreads), Set(content.posts))
            func withoutName(_ user: UserSummary) -> UserSummary { nameless.contains(user.id) ? UserSummary(id: user.id) : user }
            switch self {
            case .me(var me):
                if nameless.contains(me.id) { (me.username, me.postcode) = (nil, nil) }
                for index in me.threads.indices {
                    if namelessThreads.contains(me.threads[index].id) { me.threads[index].name = nil }
                    me.threads[index].people = me.threads[index].people?.map(withoutName)
                    guard var post = me.threads[index].lastMessage else { continue }
                    post.author = withoutName(post.author)
                    if posts.contains(post.id) { post.body = nil }
                    me.threads[index].lastMessage = post
                }
                self = .me(me)
            case .threads(var page):
                for index in page.entries.indices {
                    if namelessThreads.contains(page.entries[index].id) { page.entries[index].name = nil }
                    page.entries[index].people = page.entries[index].people?.map(withoutName)
                }
                self = .threads(page)
            case .inbox(var inbox):
                // An entry can have a reason, which is content of an event that has no post.
                inbox.page.entries.removeAll { content.positions.contains($0.position) || $0.post.map(posts.contains) == true }
                for index in inbox.page.entries.indices {
                    if namelessThreads.contains(inbox.page.entries[index].thread) { inbox.page.entries[index].name = nil }
                    inbox.page.entries[index].by = withoutName(inbox.page.entries[index].by)
                    inbox.page.entries[index].people = inbox.page.entries[index].people?.map(withoutName)
                }
                self = .inbox(inbox)
            case .members(var page, let thread):
                for index in page.entries.indices { page.entries[index].user = withoutName(page.entries[index].user) }
                self = .members(page, of: thread)
            }
        }
    }
#endif
