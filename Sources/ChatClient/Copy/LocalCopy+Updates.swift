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
                    try file.setToken(last.resumeToken)
                }
                if isRemoval { try file.forgetLog() }
                return changes
            }
        }

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
            case .event(let event): event.recorded.removesText
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
            case .messagePosted, .replyPosted: try addPost(of: event, of: user, &changes)
            case .messageEdited, .replyEdited:
                if let edit = event.edit { try endOutboxItem(creating: edit.value, by: event, of: user, &changes) }
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
            case .threadJoined, .directOpened:
                try readNamesAgain(of: event.kind == .directOpened ? user : event.user ?? user, user, &changes)
                if event.user == user { try endKnowledge(of: event.thread, &changes) }
            case .threadPolicySet: try endKnowledge(of: event.thread, &changes)
            case .operatorGranted, .operatorRevoked: if event.user == user { try endKnowledge(of: nil, &changes) }
            default: break
            }
            if [.replyPosted, .replyRetracted, .replyRemoved].contains(event.kind), let message = event.message {
                try change(.message(message), &changes) { _ in true }
            }
            try outdateAnswers(by: event, of: user, &changes)
        }

        /// Adds the post of an event, if its list is known up to there.
        private func addPost(of event: RecordedEvent, of user: UserID, _ changes: inout CopyChanges) throws(CopyError) {
            guard let id = event.post, let thread = event.thread, let message = event.message, let author = event.user else { return }
            try endOutboxItem(creating: id.value, by: event, of: user, &changes)
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
        private func readNamesAgain(of joined: UserID, _ user: UserID, _ changes: inout CopyChanges) throws(CopyError) {
            let all = SQLValue.integer(joined == user ? 1 : 0)
            let latest =
                joined == user
                ? try run("SELECT list, max(position) FROM posts GROUP BY author")
                : try run("SELECT list, position FROM posts WHERE author = ? ORDER BY position DESC LIMIT 1", joined.value)
            for post in latest { try run("UPDATE posts SET stale = 1 WHERE list = ? AND position = ?", post[0], post[1]) }
            if !latest.isEmpty { changes.isOutdated = true }
            try run("UPDATE users SET known = 0 WHERE ? OR id = ?", all, joined.value)
        }

        /// Forgets what is known of the lists of a thread, or of all: the user can be shown more of them than before, also of the past.
        ///
        /// Rights that end are told by `accessLost`.
        private func endKnowledge(of thread: ThreadID?, _ changes: inout CopyChanges) throws(CopyError) {
            let all = SQLValue.integer(thread == nil ? 1 : 0)
            for row in try run("SELECT DISTINCT list FROM ranges WHERE ? OR thread = ?", all, thread?.value ?? .null) {
                if let list = PostList(key: row[0]) { changes.lists.insert(list) }
            }
            try run("DELETE FROM posts WHERE ? OR thread = ?", all, thread?.value ?? .null)
            try run("DELETE FROM ranges WHERE ? OR thread = ?", all, thread?.value ?? .null)
        }

        /// Changes a post that is in the copy; the function returns whether it must be read again.
        private func change(_ id: PostID?, _ changes: inout CopyChanges, _ body: (inout Post) -> Bool) throws(CopyError) {
            guard let id, let row = try run("SELECT list, value, stale FROM posts WHERE id = ?", id.value).first,
                let list = PostList(key: row[0]), case .blob(let bytes) = row[1]
            else { return }
            var post = try Self.decode(Post.self, bytes)
            let isStale = body(&post) || row[2] == .integer(1)
            try run("UPDATE posts SET value = ?, stale = ? WHERE id = ?", .blob(try Self.encode(post)), .integer(isStale ? 1 : 0), id.value)
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
            try endKnowledge(of: thread, &changes)
            // The others may be known from there alone.
            try run("UPDATE users SET name = NULL, known = 0 WHERE id NOT IN (SELECT author FROM posts)")
            try run("DELETE FROM users WHERE known = 0 AND blocked = 0 AND id NOT IN (SELECT author FROM posts)")
            try run("DELETE FROM answers WHERE key = ?", .text(KeptAnswer.members(thread).key))
            changes.lostThreads.insert(thread)
            try rewriteAnswers(&changes) { $0.forget(thread) }
        }

        /// Removes from every kept answer what must be gone, and has all of them read again.
        private func rewriteAnswers(_ changes: inout CopyChanges, _ forget: (inout any KeptValue) -> Void) throws(CopyError) {
            for row in try run("SELECT key, value FROM answers") {
                guard case .text(let text) = row[0], case .blob(let bytes) = row[1], let kind = KeptAnswer(key: text) else {
                    throw .damaged
                }
                var value: any KeptValue = try Self.decode(kind.type, bytes)
                forget(&value)
                try run("UPDATE answers SET value = ?, stale = 1 WHERE key = ?", .blob(try Self.encode(value)), .text(text))
                changes.answers.insert(kind)
            }
            changes.isOutdated = true
        }

        private func outdateAnswers(by event: RecordedEvent, of user: UserID, _ changes: inout CopyChanges) throws(CopyError) {
            if event.changesNames {
                try run("UPDATE answers SET stale = 1")
                if changeCount > 0 { changes.isOutdated = true }
                return
            }
            for kind in KeptAnswer.outdated(by: event, of: user) {
                try run("UPDATE answers SET stale = 1 WHERE key = ?", .text(kind.key))
                if changeCount > 0 { changes.isOutdated = true }
            }
        }
    }

    extension RecordedEvent {
        /// Whether texts must be gone from the file.
        var removesText: Bool {
            switch kind {
            case .messageEdited, .replyEdited, .messageRetracted, .replyRetracted, .messageRemoved, .replyRemoved: true
            // The outbox can have a text that was erased since.
            case .messagePosted, .replyPosted: body == nil
            default: false
            }
        }

        /// The message or the reply that the event is about.
        fileprivate var post: PostID? { reply.map(PostID.reply) ?? message.map(PostID.message) }
    }
#endif
