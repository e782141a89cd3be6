#if Client || canImport(SQLite3)
    package import ChatDomain
    package import ChatValues
    internal import LocalStorage
    internal import Locking

    extension LocalCopy {
        /// Returns the latest known posts of a list before a position, without a gap among them,
        /// and on the latest part those of the outbox.
        package func posts(in list: PostList, before: Position? = nil, limit: Int = 50) throws(ClientError)
            -> CopiedPosts
        {
            try file.withLock { file throws(ClientError) in
                let bound = min(before ?? .firstPending, .firstPending)
                let waiting = before == nil ? try file.pendingPosts(in: list, of: user) : []
                let last = bound == 0 ? 0 : bound - 1
                guard limit > 0,
                    let range = try file.ranges(of: list).last(where: {
                        $0.first <= last && (before == nil || ($0.last ?? last) >= last)
                    })
                else { return CopiedPosts(posts: waiting, reachesBeginning: false, isComplete: false) }
                let rows = try file.run(
                    File.selection
                        + "WHERE p.list = ? AND p.position >= ? AND p.position <= ? ORDER BY p.position DESC LIMIT ?",
                    list.key,
                    .integer(Int64(range.first)), .integer(Int64(min(range.last ?? last, last))),
                    .integer(Int64(min(limit, 1_000) + 1)))
                let found = try rows.prefix(min(limit, 1_000)).reversed().map { row throws(ClientError) in
                    try file.post(of: row)
                }
                let edited = try file.showing(found, of: user)
                let isWhole = rows.count <= min(limit, 1_000)
                return CopiedPosts(
                    posts: edited + waiting, reachesBeginning: range.first == 0 && isWhole,
                    isComplete: range.first == 0 || !isWhole)
            }
        }

        /// Returns one post, with what waits for it in the outbox; nil if it is not in the copy.
        package func post(_ id: PostID) throws(ClientError) -> Post? {
            try file.withLock { file throws(ClientError) in
                guard let row = try file.run(File.selection + "WHERE p.id = ?", id.value).first else {
                    return try file.pendingPost(id, of: user)
                }
                return try file.showing([try file.post(of: row)], of: user).first
            }
        }

        /// Returns what the copy knows of a user's name in a list; nil if it knows nothing of the
        /// user there.
        package func name(of user: UserID, in list: PostList) throws(ClientError) -> UserSummary? {
            try file.withLock { file throws(ClientError) in
                if user == self.user {
                    if let name = try file.waitingName() { return UserSummary(id: user, username: name) }
                    return try file.ownName(user)
                }
                guard let thread = try file.run("SELECT thread FROM ranges WHERE list = ? LIMIT 1", list.key).first
                else { return nil }
                return try file.name(of: user, at: thread[0])
            }
        }

        /// Notes the name of the user, if the copy knows none.
        package func learnOwnName(_ name: String?) throws(ClientError) {
            guard let name else { return }
            _ = try change { file, changes throws(ClientError) in
                if try file.ownName(user) == nil {
                    try file.learnOwnName(UserSummary(id: user, username: name), &changes)
                }
            }
        }

        /// Keeps a page of a list, and then applies the updates that have arrived since it was
        /// asked for, which it may lack.
        ///
        /// - Parameters:
        ///   - page: The page.
        ///   - list: The list.
        ///   - thread: The thread of the list.
        ///   - request: What was asked for; with `around` it is not kept.
        ///   - position: The position that the page was read as of.
        ///   - updates: The updates since the request was sent.
        package func keep(
            _ page: Page<Post>, of list: PostList, in thread: ThreadID, _ request: PageRequest, asOf position: Position,
            then updates: [FollowedUpdate] = []
        ) throws(ClientError) -> CopyChanges {
            guard page.entries.allSatisfy({ $0.position < .firstPending && $0.isOf(list) }),
                zip(page.entries, page.entries.dropFirst()).allSatisfy({ $0.position < $1.position }),
                page.count <= max(0, request.limit), page.older?.before ?? 0 < .firstPending
            else { throw .answerInvalid("a page of posts has others than were asked for") }
            let range = KnownRange(of: page, request, asOf: position)
            return try change { file, changes throws(ClientError) in
                // Nothing is kept that no update would correct.
                guard try file.token != nil, request.around == nil else { return }
                // What the page lacks is gone, unless it is newer than the page.
                let last = min(range.last ?? position, position)
                if range.first <= last {
                    let bounds: [SQLValue] = [
                        list.key, .integer(Int64(range.first)), .integer(Int64(min(last, .firstPending - 1))),
                    ]
                    let before = try file.run(
                        "SELECT value FROM posts WHERE list = ? AND position >= ? AND position <= ?", with: bounds)
                    let kept = Dictionary(page.entries.map { ($0.id, $0) }, uniquingKeysWith: { $1 })
                    for row in before {
                        guard case .blob(let bytes) = row[0] else { throw .storage(.damaged) }
                        let post = try File.decode(Post.self, bytes)
                        if kept[post.id] == nil { changes.lists.insert(list) }
                        if kept[post.id]?.hasContent(of: post) != true { changes.takesContent = true }
                    }
                    try file.run("DELETE FROM posts WHERE list = ? AND position >= ? AND position <= ?", with: bounds)
                }
                for post in page.entries {
                    try file.insert(post, in: list, of: thread, isStale: false)
                    changes.add(post.id, in: list)
                }
                try file.learn(page.entries, in: thread, &changes)
                try file.add(range, of: list, in: thread)
                try file.know(list.key, asOf: position)
                for update in updates { try file.apply(update, of: user, &changes) }
                try file.prune(limit: postLimit)
            }
        }

        /// Whether a user is blocked, whose posts are then marked.
        package func isBlocked(_ user: UserID) throws(ClientError) -> Bool {
            try file.withLock { file throws(ClientError) in
                try !file.run("SELECT 1 FROM users WHERE id = ? AND blocked = 1 LIMIT 1", user.value).isEmpty
            }
        }

        /// Whether the latest posts of a list are known, and those that follow will be.
        package func follows(_ list: PostList) throws(ClientError) -> Bool {
            try file.withLock { file throws(ClientError) in
                try file.ranges(of: list).last.map { $0.last == nil } ?? false
            }
        }

        /// The first part of a list with posts to read again: after which position, and how many;
        /// nil if there is none.
        ///
        /// - Parameter isIncluded: Whether a list is looked at.
        package func stalePosts(in isIncluded: (PostList) -> Bool = { _ in true }) throws(ClientError) -> (
            list: PostList, thread: ThreadID, request: PageRequest
        )? {
            try file.withLock { file throws(ClientError) in
                var last = SQLValue.blob([])
                while let row = try file.run(
                    "SELECT list, position, thread FROM posts WHERE stale = 1 AND list > ? ORDER BY list, position LIMIT 1",
                    last
                ).first {
                    guard let list = PostList(key: row[0]), case .integer(let first) = row[1],
                        case .blob(let thread) = row[2]
                    else {
                        throw .storage(.damaged)
                    }
                    last = row[0]
                    guard isIncluded(list) else { continue }
                    // As many as stand from the first stale post of the list to the last one, in
                    // one page.
                    let span = try file.run(
                        "SELECT position, stale FROM posts WHERE list = ? AND position >= ? ORDER BY position LIMIT 100",
                        list.key,
                        .integer(first))
                    let count = (span.lastIndex { $0[1] == .integer(1) } ?? 0) + 1
                    return (
                        list, ThreadID(bytes: thread), PageRequest.after(Position(max(first, 1) - 1), limit: count)
                    )
                }
                return nil
            }
        }

        /// Forgets a list that the server refuses to show.
        package func forget(_ list: PostList) throws(ClientError) -> CopyChanges {
            try change { file, changes throws(ClientError) in
                for table in ["posts", "ranges"] { try file.run("DELETE FROM \(table) WHERE list = ?", list.key) }
                (changes.lostLists, changes.takesContent) = ([list], true)
            }
        }

        /// The positions of a list that the copy claims to know, up to its token.
        package func knownRanges(of list: PostList) throws(ClientError) -> [ClosedRange<Position>] {
            try file.withLock { file throws(ClientError) in
                guard let token = try file.token else { return [] }
                return try file.ranges(of: list).map { $0.first...max($0.first, $0.last ?? token.position) }
            }
        }
    }

    extension Post {
        /// Whether the post has all that an earlier state of it had: the text, and the emoji.
        fileprivate func hasContent(of earlier: Post) -> Bool {
            body == earlier.body && Set(reactions.map(\.emoji)).isSuperset(of: earlier.reactions.map(\.emoji))
        }

        /// Whether the post can stand in a list.
        func isOf(_ list: PostList) -> Bool {
            switch list {
            case .messages(let thread): !id.isReply && self.thread == thread
            case .replies(let answered): id.isReply && message == answered
            }
        }
    }

    extension Database<ClientError> {
        static var selection: String {
            "SELECT p.value, u.name, u.blocked FROM posts p LEFT JOIN users u ON u.id = p.author AND u.thread = p.thread "
        }

        /// The post of a row of ``selection``.
        func post(of row: [SQLValue]) throws(ClientError) -> Post {
            guard case .blob(let bytes) = row[0] else { throw .storage(.damaged) }
            var post = try Self.decode(Post.self, bytes)
            if case .text(let name) = row[1] { post.author.username = name }
            post.isFromBlockedUser = row[2] == .integer(1)
            return post
        }

        /// Adds a post or replaces it.
        func insert(_ post: Post, in list: PostList, of thread: ThreadID, isStale: Bool) throws(ClientError) {
            var nameless = post
            (nameless.author.username, nameless.isFromBlockedUser) = (nil, false)
            try run(
                "INSERT OR REPLACE INTO posts VALUES (?, ?, ?, ?, ?, ?, ?)", list.key, .integer(Int64(post.position)),
                post.id.value,
                post.author.id.value, thread.value, .blob(try Self.encode(nameless)), .integer(isStale ? 1 : 0))
        }

        /// The place of the user's own name, which is that of no thread.
        static var ownPlace: SQLValue { .blob([]) }

        /// What is known of the user's own name, which is the same everywhere.
        func ownName(_ user: UserID) throws(ClientError) -> UserSummary? {
            Self.summary(
                of: user,
                try run("SELECT name FROM users WHERE id = ? AND known = 1 ORDER BY thread LIMIT 1", user.value))
        }

        /// What is known of a user's name in a thread.
        func name(of user: UserID, at place: SQLValue) throws(ClientError) -> UserSummary? {
            Self.summary(
                of: user, try run("SELECT name FROM users WHERE id = ? AND thread = ? AND known = 1", user.value, place)
            )
        }

        private static func summary(of user: UserID, _ rows: [[SQLValue]]) -> UserSummary? {
            guard let row = rows.first else { return nil }
            let name: String? = if case .text(let text) = row[0] { text } else { nil }
            return UserSummary(id: user, username: name)
        }

        /// Whether the name of an author is known in a thread.
        ///
        /// Who writes in a thread has the same name in all threads of the user; that of a new
        /// member is in no event.
        func knowsName(
            of author: UserID, in thread: ThreadID, isFromBlockedUser: Bool, _ changes: inout CopyChanges
        ) throws(ClientError) -> Bool {
            if try name(of: author, at: thread.value) != nil { return true }
            let elsewhere = try run("SELECT name, blocked FROM users WHERE id = ? AND known = 1 LIMIT 1", author.value)
                .first
            guard let elsewhere else {
                try run(
                    "INSERT OR IGNORE INTO users VALUES (?, ?, NULL, 0, ?)", author.value, thread.value,
                    .integer(isFromBlockedUser ? 1 : 0))
                return false
            }
            try learn([(author, name: elsewhere[0], blocked: elsewhere[1])], in: thread, &changes)
            return true
        }

        /// Notes the names that a page has shown, and whose posts it has marked.
        func learn(_ posts: [Post], in thread: ThreadID, _ changes: inout CopyChanges) throws(ClientError) {
            let authors = Dictionary(posts.map { ($0.author.id, $0) }, uniquingKeysWith: { $1 })
            let names = authors.map { id, post in
                (
                    id, name: post.author.username.map { SQLValue.text($0) } ?? .null,
                    blocked: SQLValue.integer(post.isFromBlockedUser ? 1 : 0)
                )
            }
            try learn(names, in: thread, &changes)
        }

        private func learn(
            _ authors: [(UserID, name: SQLValue, blocked: SQLValue)], in thread: ThreadID, _ changes: inout CopyChanges
        ) throws(ClientError) {
            var others: [UserID: String?] = [:]
            for (id, name, blocked) in authors {
                let known = try run(
                    "SELECT name, known, blocked FROM users WHERE id = ? AND thread = ?", id.value, thread.value
                ).first
                if known == [name, .integer(1), blocked] { continue }
                try run("INSERT OR REPLACE INTO users VALUES (?, ?, ?, 1, ?)", id.value, thread.value, name, blocked)
                // Views of the thread and answers can show the name of before.
                guard let known else { continue }
                changes.users.insert(id)
                if known[0] != name, known[0] != .null {
                    others[id] = if case .text(let text) = name { .some(text) } else { .some(nil) }
                }
            }
            guard !others.isEmpty else { return }
            changes.takesContent = true
            try rewriteAnswers(ContentChange(names: others), &changes)
        }

        /// Notes the user's own name.
        func learnOwnName(_ own: UserSummary, _ changes: inout CopyChanges) throws(ClientError) {
            let former = try name(of: own.id, at: Self.ownPlace)
            guard former != own else { return }
            if former?.username != nil { changes.takesContent = true }
            try run(
                "INSERT OR REPLACE INTO users VALUES (?, ?, ?, 1, 0)", own.id.value, Self.ownPlace,
                own.username.map { .text($0) } ?? .null)
            changes.users.insert(own.id)
        }

        /// Removes the oldest posts beyond the limit, a tenth of it at once, and what the ranges
        /// say of them.
        func prune(limit: Int) throws(ClientError) {
            guard case .integer(let count)? = try run("SELECT count(*) FROM posts").first?.first, count > limit else {
                return
            }
            let kept = limit - limit / 10
            guard
                case .integer(let cut)? = try run(
                    "SELECT position FROM posts ORDER BY position DESC LIMIT 1 OFFSET ?", .integer(Int64(kept))
                ).first?.first
            else { return }
            try run("DELETE FROM posts WHERE position <= ?", .integer(cut))
            try run("DELETE FROM ranges WHERE last <= ?", .integer(cut))
            try run("UPDATE OR REPLACE ranges SET first = ? WHERE first <= ?", .integer(cut + 1), .integer(cut))
        }
    }
#endif
