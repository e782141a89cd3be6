#if Client || canImport(SQLite3)
    internal import ChatDomain
    package import ChatValues
    internal import LocalStorage
    internal import Locking

    extension LocalCopy {
        /// Applies updates of the stream, in their order, and moves the token behind the last one.
        ///
        /// What is applied twice has the effect of once.
        package func apply(_ updates: [FollowedUpdate]) throws(ClientError) -> CopyChanges {
            guard let last = updates.last else { return CopyChanges() }
            return try change { file, changes throws(ClientError) in
                for update in updates { try file.apply(update, of: user, &changes) }
                if isPruningDue(after: updates.count) { try file.prune(limit: postLimit) }
                try file.setToken(last.resumeToken)
            }
        }

        /// Whether the number of posts is to be looked at: counting them takes as long as many
        /// updates.
        private func isPruningDue(after count: Int) -> Bool {
            updatesUntilPruning.withLock { left in
                left -= count
                guard left <= 0 else { return false }
                left = 500
                return true
            }
        }
    }

    extension Database<ClientError> {
        func apply(_ update: FollowedUpdate, of user: UserID, _ changes: inout CopyChanges) throws(ClientError) {
            if case .event(let event) = update { return try apply(event.recorded, of: user, &changes) }
            if case .accessLost(let thread, _) = update {
                try endKnowledge(of: thread, &changes)
                // Those whose key has the thread.
                try run("DELETE FROM answers WHERE instr(key, ?)", .text("\(thread)"))
                changes.lostThreads.insert(thread)
                // No event tells now of the names that its people had taken before.
                try readNamesAgain(of: user, user, &changes)
            } else {
                changes.isErasure = true
            }
            if let change = ContentChange(update, of: user) { try apply(change, &changes) }
            // Nothing says what else has changed with it.
            try outdateAnswers(&changes)
        }

        func apply(_ event: RecordedEvent, of user: UserID, _ changes: inout CopyChanges) throws(ClientError) {
            if let edit = event.edit { try endOutboxItem(creating: edit.value, by: event, of: user, &changes) }
            if let change = ContentChange(event, of: user) { try apply(change, &changes) }
            switch event.kind {
            case .messagePosted, .replyPosted: try addPost(of: event, of: user, &changes)
            // The counts of the server are right whether or not they contain this reaction already.
            case .reactionAdded, .reactionRemoved: try change(event.post, &changes) { _ in true }
            case .threadJoined, .directOpened:
                try readNamesAgain(of: event.kind == .directOpened ? user : event.user ?? user, user, &changes)
                if event.user == user { try endKnowledge(of: event.thread, &changes) }
            // A name that is withheld was changed since. In a thread that the two never shared, a
            // former member keeps the name that they had there.
            case .usernameChanged: if let renamed = event.user { try readNamesAgain(of: renamed, user, &changes) }
            case .custom: if let thread = event.thread { changes.customEvents.insert(thread) }
            case .threadPolicySet: try endKnowledge(of: event.thread, &changes)
            case .operatorGranted, .operatorRevoked: if event.user == user { try endKnowledge(of: nil, &changes) }
            default: break
            }
            if [.replyPosted, .replyRetracted, .replyRemoved].contains(event.kind), let message = event.message {
                try change(.message(message), &changes) { _ in true }
            }
            try outdateAnswers(by: event, &changes)
        }

        /// Applies to all tables what an update takes away.
        private func apply(_ content: ContentChange, _ changes: inout CopyChanges) throws(ClientError) {
            changes.takesContent = true
            for post in content.posts { try change(post, &changes, content.changePost) }
            for (user, name) in content.names {
                try run(
                    "UPDATE users SET name = ?, known = 1 WHERE id = ?", name.map { .text($0) } ?? .null, user.value)
                changes.users.insert(user)
            }
            for (user, isBlocked) in content.blocks {
                try run("UPDATE users SET blocked = ? WHERE id = ?", .integer(isBlocked ? 1 : 0), user.value)
                changes.users.insert(user)
                changes.readsAllThreadsAgain = true
            }
            try rewriteAnswers(content, &changes)
        }

        /// Adds the post of an event, if its list is known up to there.
        private func addPost(of event: RecordedEvent, of user: UserID, _ changes: inout CopyChanges) throws(ClientError)
        {
            // The outbox can have had a text that was erased since.
            if event.body == nil { changes.takesContent = true }
            guard let id = event.post, let thread = event.thread, let message = event.message, let author = event.user
            else { return }
            try endOutboxItem(creating: id.value, by: event, of: user, &changes)
            let list = id.isReply ? PostList.replies(message) : .messages(thread)
            guard try knows(event.position, of: list), try run("SELECT 1 FROM posts WHERE id = ?", id.value).isEmpty
            else { return }
            let isKnown = try knowsName(of: author, in: thread, isFromBlockedUser: event.isFromBlockedUser, &changes)
            let post = Post(
                id: id, position: event.position, thread: id.isReply ? nil : thread, message: message,
                author: UserSummary(id: author),
                body: event.body, createdAt: event.createdAt, isRetracted: false, replyCount: 0,
                mentions: event.mentions)
            try insert(post, in: list, of: thread, isStale: !isKnown || event.body == nil)
            changes.add(id, in: list)
        }

        /// Has the name of a user who has joined a thread read again, or all names if it is the
        /// user of the copy: no event tells of a change of name before two users share a thread, or
        /// in one that the user of the copy has lost meanwhile.
        private func readNamesAgain(of joined: UserID, _ user: UserID, _ changes: inout CopyChanges) throws(ClientError)
        {
            let (whose, values) =
                joined == user ? ("", [Self.ownPlace]) : ("id = ? AND ", [joined.value, Self.ownPlace])
            for place in try run("SELECT id, thread FROM users WHERE \(whose)thread != ?", with: values) {
                let latest = try run(
                    "SELECT list, position FROM posts WHERE author = ? AND thread = ? ORDER BY position DESC LIMIT 1",
                    place[0], place[1])
                for post in latest {
                    try run("UPDATE posts SET stale = 1 WHERE list = ? AND position = ?", post[0], post[1])
                    changes.isOutdated = true
                }
            }
            try run("UPDATE users SET known = 0 WHERE \(whose)thread != ?", with: values)
            // The name of a person without a post is not read again.
            try run(
                """
                UPDATE users SET name = NULL WHERE \(whose)thread != ? AND name IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM posts WHERE author = users.id AND thread = users.thread)
                """, with: values)
            if changeCount > 0 { changes.takesContent = true }
        }

        /// Forgets what is known of the lists of a thread, or of all: the user can be shown more of
        /// them than before, also of the past.
        ///
        /// Rights that end are told by `accessLost`.
        private func endKnowledge(of thread: ThreadID?, _ changes: inout CopyChanges) throws(ClientError) {
            let all = SQLValue.integer(thread == nil ? 1 : 0)
            changes.takesContent = true
            if let thread { changes.threadsToReadAgain.insert(thread) } else { changes.readsAllThreadsAgain = true }
            for row in try run("SELECT DISTINCT list FROM ranges WHERE ? OR thread = ?", all, thread?.value ?? .null) {
                if let list = PostList(key: row[0]) { changes.lists.insert(list) }
            }
            for table in ["posts", "ranges"] {
                try run("DELETE FROM \(table) WHERE ? OR thread = ?", all, thread?.value ?? .null)
            }
            try run(
                "DELETE FROM users WHERE (? OR thread = ?) AND thread != ?", all, thread?.value ?? .null, Self.ownPlace)
        }

        /// Changes a post that is in the copy; the function returns whether it must be read again.
        func change(_ id: PostID?, _ changes: inout CopyChanges, _ body: (inout Post) -> Bool)
            throws(ClientError)
        {
            guard let id, let row = try run("SELECT list, value, stale FROM posts WHERE id = ?", id.value).first,
                let list = PostList(key: row[0]), case .blob(let bytes) = row[1]
            else { return }
            var post = try Self.decode(Post.self, bytes)
            let isStale = body(&post) || row[2] == .integer(1)
            try run(
                "UPDATE posts SET value = ?, stale = ? WHERE id = ?", .blob(try Self.encode(post)),
                .integer(isStale ? 1 : 0), id.value)
            changes.add(id, in: list)
        }

        /// Rewrites the kept answers that have something of what an update takes away.
        ///
        /// The JSON of an answer has the ids of all that it contains, so that the others are not
        /// decoded.
        func rewriteAnswers(_ content: ContentChange, _ changes: inout CopyChanges) throws(ClientError) {
            var rows: [[SQLValue]] = []
            if let ids = content.ids {
                for id in ids {
                    rows += try run("SELECT key, value FROM answers WHERE instr(value, ?)", .blob([UInt8](id.utf8)))
                }
            } else {
                rows = try run("SELECT key, value FROM answers")
            }
            for (key, bytes) in Dictionary(rows.map { ($0[0], $0[1]) }, uniquingKeysWith: { $1 }) {
                guard case .text(let text) = key, case .blob(let bytes) = bytes, let answer = KeptAnswer(key: text)
                else {
                    throw .storage(.damaged)
                }
                guard let changed = try rewritten(bytes, of: answer.query, content) else { continue }
                try run("UPDATE answers SET value = ?, stale = 1 WHERE key = ?", .blob(changed), key)
                changes.answers.insert(answer)
                changes.isOutdated = true
            }
        }

        /// Returns the JSON of an answer after an update; nil if it takes nothing of it.
        private func rewritten<Query: KeptQuery>(
            _ bytes: [UInt8], of query: Query, _ content: ContentChange
        ) throws(ClientError) -> [UInt8]? {
            let value = try Self.decode(Query.Kept.self, bytes)
            var changed = value
            changed.apply(content)
            return changed == value ? nil : try Self.encode(changed)
        }

        /// Has every kept answer read again.
        private func outdateAnswers(_ changes: inout CopyChanges) throws(ClientError) {
            try run("UPDATE answers SET stale = 1")
            changes.isOutdated = true
            for row in try run("SELECT key FROM answers") {
                if case .text(let key) = row[0], let answer = KeptAnswer(key: key) { changes.answers.insert(answer) }
            }
        }

        private func outdateAnswers(by event: RecordedEvent, _ changes: inout CopyChanges) throws(ClientError) {
            // What is out of date already has been announced, and is not written again.
            if event.changesNames {
                try run("UPDATE answers SET stale = 1 WHERE stale = 0")
                if changeCount > 0 { changes.isOutdated = true }
                return
            }
            for answer in KeptAnswer.changed(by: event) {
                try run("UPDATE answers SET stale = 1 WHERE key = ? AND stale = 0", .text(answer.key))
                if changeCount > 0 { changes.isOutdated = true }
            }
        }
    }
#endif
