#if Client || canImport(SQLite3)
    package import ChatDomain
    package import ChatValues
    internal import LocalStorage
    internal import Locking

    extension LocalCopy {
        /// Returns the latest known posts of a list before a position, without a gap among them, and on the latest part those of the
        /// outbox.
        package func posts(in list: PostList, before: Position? = nil, limit: Int = 50) throws(CopyError) -> CopiedPosts {
            try file.withLock { file throws(CopyError) in
                let bound = min(before ?? .firstPending, .firstPending)
                let waiting = before == nil ? try file.pendingPosts(in: list, of: user) : []
                let last = bound == 0 ? 0 : bound - 1
                guard limit > 0,
                    let range = try file.ranges(of: list).last(where: { $0.first <= last && (before == nil || ($0.last ?? last) >= last) })
                else { return CopiedPosts(posts: waiting, reachesBeginning: false, isComplete: false) }
                let rows = try file.run(
                    File.selection + "WHERE p.list = ? AND p.position >= ? AND p.position <= ? ORDER BY p.position DESC LIMIT ?", list.key,
                    .integer(Int64(range.first)), .integer(Int64(min(range.last ?? last, last))), .integer(Int64(min(limit, 1_000) + 1)))
                let found = try rows.prefix(min(limit, 1_000)).reversed().map { row throws(CopyError) in try file.post(of: row) }
                let edited = try file.withPendingEdits(found)
                let isWhole = rows.count <= min(limit, 1_000)
                return CopiedPosts(
                    posts: edited + waiting, reachesBeginning: range.first == 0 && isWhole, isComplete: range.first == 0 || !isWhole)
            }
        }

        /// Returns one post, with what waits for it in the outbox; nil if it is not in the copy.
        package func post(_ id: PostID) throws(CopyError) -> Post? {
            try file.withLock { file throws(CopyError) in
                guard let row = try file.run(File.selection + "WHERE p.id = ?", id.value).first else {
                    return try file.pendingPost(id, of: user)
                }
                return try file.withPendingEdits([try file.post(of: row)]).first
            }
        }

        /// Returns what the copy knows of a user's name; nil if it knows nothing of the user.
        package func name(of user: UserID) throws(CopyError) -> UserSummary? {
            try file.withLock { file throws(CopyError) in try file.name(of: user) }
        }

        /// Notes the name of the user, if the copy knows none.
        package func learnOwnName(_ name: String?) throws(CopyError) {
            guard let name else { return }
            try file.withLock { file throws(CopyError) in
                _ = try file.run("INSERT OR IGNORE INTO users VALUES (?, ?, 1, 0)", user.value, .text(name))
            }
        }

        /// Keeps a page of a list, and then applies the updates that have arrived since it was asked for, which it may lack.
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
        ) throws(CopyError) -> CopyChanges {
            guard page.entries.allSatisfy({ $0.position < .firstPending && $0.isOf(list) }),
                zip(page.entries, page.entries.dropFirst()).allSatisfy({ $0.position < $1.position }),
                page.count <= max(0, request.limit), page.older?.before ?? 0 < .firstPending
            else { throw .invalidAnswer("a page of posts has others than were asked for") }
            let range = KnownRange(of: page, request, asOf: position)
            return try file.withLock { file throws(CopyError) in
                // Nothing is kept that no update would correct.
                guard try file.token != nil, request.around == nil else { return CopyChanges() }
                return try file.transaction { () throws(CopyError) in
                    var changes = CopyChanges()
                    // What the page lacks is gone, unless it is newer than the page.
                    let last = min(range.last ?? position, position)
                    if range.first <= last {
                        let before = try file.run(
                            "SELECT id FROM posts WHERE list = ? AND position >= ? AND position <= ?", list.key,
                            .integer(Int64(range.first)),
                            .integer(Int64(min(last, .firstPending - 1))))
                        let kept = Set(page.entries.map(\.id.value))
                        if before.contains(where: { !kept.contains($0[0]) }) { changes.lists.insert(list) }
                        try file.run(
                            "DELETE FROM posts WHERE list = ? AND position >= ? AND position <= ?", list.key, .integer(Int64(range.first)),
                            .integer(Int64(min(last, .firstPending - 1))))
                    }
                    for post in page.entries {
                        try file.insert(post, in: list, of: thread, isStale: false)
                        try file.learn(post.author, isBlocked: post.isFromBlockedUser)
                        changes.add(post.id, in: list)
                    }
                    try file.add(range, of: list, in: thread)
                    for update in updates { try file.apply(update, of: user, &changes) }
                    try file.prune(limit: postLimit)
                    return changes
                }
            }
        }

        /// Whether a user is blocked, whose posts are then marked.
        package func isBlocked(_ user: UserID) throws(CopyError) -> Bool {
            try file.withLock { file throws(CopyError) in
                try file.run("SELECT blocked FROM users WHERE id = ?", user.value) == [[.integer(1)]]
            }
        }

        /// Whether the latest posts of a list are known, and those that follow will be.
        package func follows(_ list: PostList) throws(CopyError) -> Bool {
            try file.withLock { file throws(CopyError) in try file.ranges(of: list).last.map { $0.last == nil } ?? false }
        }

        /// The first part of a list with posts to read again: after which position, and how many; nil if there is none.
        ///
        /// - Parameter isIncluded: Whether a list is looked at.
        package func stalePosts(in isIncluded: (PostList) -> Bool = { _ in true }) throws(CopyError) -> (
            list: PostList, thread: ThreadID, request: PageRequest
        )? {
            try file.withLock { file throws(CopyError) in
                var last = SQLValue.blob([])
                while let row = try file.run(
                    "SELECT list, position, thread FROM posts WHERE stale = 1 AND list > ? ORDER BY list, position LIMIT 1", last
                ).first {
                    guard let list = PostList(key: row[0]), case .integer(let first) = row[1], case .blob(let thread) = row[2] else {
                        throw .damaged
                    }
                    last = row[0]
                    guard isIncluded(list) else { continue }
                    // As many as stand from the first stale post of the list to the last one, in one page.
                    let span = try file.run(
                        "SELECT position, stale FROM posts WHERE list = ? AND position >= ? ORDER BY position LIMIT 100", list.key,
                        .integer(first))
                    let count = (span.lastIndex { $0[1] == .integer(1) } ?? 0) + 1
                    return (list, ThreadID(bytes: thread), PageRequest(limit: count, after: Position(max(first, 1) - 1)))
                }
                return nil
            }
        }

        /// Forgets a list that the server refuses to show.
        package func forget(_ list: PostList) throws(CopyError) -> CopyChanges {
            try file.withLock { file throws(CopyError) in
                try file.transaction { () throws(CopyError) in
                    try file.run("DELETE FROM posts WHERE list = ?", list.key)
                    try file.run("DELETE FROM ranges WHERE list = ?", list.key)
                }
                try file.forgetLog()
                var changes = CopyChanges()
                changes.lostLists = [list]
                return changes
            }
        }

        /// The positions of a list that the copy claims to know, up to its token.
        package func knownRanges(of list: PostList) throws(CopyError) -> [ClosedRange<Position>] {
            try file.withLock { file throws(CopyError) in
                guard let token = try file.token else { return [] }
                return try file.ranges(of: list).map { $0.first...max($0.first, $0.last ?? token.position) }
            }
        }
    }

    extension Post {
        /// Whether the post can stand in a list.
        func isOf(_ list: PostList) -> Bool {
            switch list {
            case .messages(let thread): !id.isReply && self.thread == thread
            case .replies(let answered): id.isReply && message == answered
            }
        }
    }

    extension Database<CopyError> {
        static var selection: String { "SELECT p.value, u.name, u.blocked FROM posts p LEFT JOIN users u ON u.id = p.author " }

        /// The post of a row of ``selection``.
        func post(of row: [SQLValue]) throws(CopyError) -> Post {
            guard case .blob(let bytes) = row[0] else { throw .damaged }
            var post = try Self.decode(Post.self, bytes)
            if case .text(let name) = row[1] { post.author.username = name }
            post.isFromBlockedUser = row[2] == .integer(1)
            return post
        }

        /// Adds a post or replaces it.
        func insert(_ post: Post, in list: PostList, of thread: ThreadID, isStale: Bool) throws(CopyError) {
            var nameless = post
            (nameless.author.username, nameless.isFromBlockedUser) = (nil, false)
            try run(
                "INSERT OR REPLACE INTO posts VALUES (?, ?, ?, ?, ?, ?, ?)", list.key, .integer(Int64(post.position)), post.id.value,
                post.author.id.value, thread.value, .blob(try Self.encode(nameless)), .integer(isStale ? 1 : 0))
        }

        func name(of user: UserID) throws(CopyError) -> UserSummary? {
            guard let row = try run("SELECT name FROM users WHERE id = ? AND known = 1", user.value).first else { return nil }
            if case .text(let name) = row[0] { return UserSummary(id: user, username: name) }
            return UserSummary(id: user, username: nil)
        }

        /// Notes a name that the server has shown.
        func learn(_ user: UserSummary, isBlocked: Bool) throws(CopyError) {
            try run(
                "INSERT OR REPLACE INTO users VALUES (?, ?, 1, ?)", user.id.value, user.username.map { .text($0) } ?? .null,
                .integer(isBlocked ? 1 : 0))
        }

        /// Removes the oldest posts beyond the limit, a tenth of it at once, and what the ranges say of them.
        func prune(limit: Int) throws(CopyError) {
            guard case .integer(let count)? = try run("SELECT count(*) FROM posts").first?.first, count > limit else { return }
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
