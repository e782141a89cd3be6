#if Client || canImport(SQLite3)
    internal import ChatDomain
    internal import ChatValues
    internal import LocalStorage

    /// The parts of the lists of posts that a copy knows without a gap.
    struct KnownRange: Hashable, Sendable {
        var first: Position
        /// Nil if the part goes on to the token, and grows with it.
        var last: Position?

        /// The positions for which a page is the whole truth.
        ///
        /// - Parameters:
        ///   - page: The page, oldest first.
        ///   - request: What was asked for: the latest posts, those before a position, or those
        ///     after one.
        ///   - position: The position that the page was read as of.
        init(of page: Page<Post>, _ request: PageRequest, asOf position: Position) {
            if let after = request.after {
                first = after + 1
                // A page that is not full is the last one.
                let isLast = request.before == nil && page.count < request.limit && !page.isTruncated
                last = isLast ? nil : page.last?.position ?? after
            } else {
                // Without older posts, the list begins here.
                first = page.older == nil ? 0 : page.first?.position ?? page.older?.before ?? 0
                // Later posts can come before a bound that lies ahead.
                last = request.before.flatMap { $0 > position ? nil : max($0, 1) - 1 }
            }
        }

        init(first: Position, last: Position?) { (self.first, self.last) = (first, last) }

        var isEmpty: Bool { last.map { $0 < first } ?? false }

        func touches(_ other: KnownRange) -> Bool {
            let endsBefore = last.map { $0 < .max && $0 + 1 < other.first } ?? false
            let beginsAfter = other.last.map { $0 < .max && $0 + 1 < first } ?? false
            return !endsBefore && !beginsAfter
        }

        func union(_ other: KnownRange) -> KnownRange {
            let end: Position? = if let last, let otherLast = other.last { max(last, otherLast) } else { nil }
            return KnownRange(first: min(first, other.first), last: end)
        }
    }

    extension Database<ClientError> {
        func ranges(of list: PostList) throws(ClientError) -> [KnownRange] {
            try run("SELECT first, last FROM ranges WHERE list = ? ORDER BY first", list.key).map {
                row throws(ClientError) in
                guard case .integer(let first) = row[0] else { throw .storage(.damaged) }
                if case .integer(let last) = row[1] { return KnownRange(first: Position(first), last: Position(last)) }
                return KnownRange(first: Position(first), last: nil)
            }
        }

        /// Whether a list is known around a new post.
        ///
        /// A post of a stream that is behind can lie before the known part: the server has it.
        func knows(_ position: Position, of list: PostList) throws(ClientError) -> Bool {
            try ranges(of: list).contains { $0.first <= position && position <= $0.last ?? .max }
        }

        /// Adds a part, and joins it with those that it touches.
        func add(_ range: KnownRange, of list: PostList, in thread: ThreadID) throws(ClientError) {
            guard !range.isEmpty else { return }
            var joined = range
            for known in try ranges(of: list) where known.touches(joined) {
                joined = joined.union(known)
                try run("DELETE FROM ranges WHERE list = ? AND first = ?", list.key, .integer(Int64(known.first)))
            }
            try run(
                "INSERT INTO ranges VALUES (?, ?, ?, ?)", list.key, .integer(Int64(joined.first)),
                joined.last.map { .integer(Int64($0)) } ?? .null, thread.value)
        }
    }
#endif
