import ChatDomain
import EventJournal
import Locking
import Projections

// Joins rows of the read models with texts from the cache or the journal.

extension ChatStore {
    /// Returns the posts of rows.
    ///
    /// - Parameter thread: The thread of messages; nil for replies.
    func posts(_ rows: [PostRecord], in thread: ThreadID? = nil) throws(ChatError) -> [Post] {
        var textPositions = TextPositions(capacity: rows.count)
        for row in rows { textPositions.add(row.position, row.editPosition) }
        var texts = try texts(at: textPositions)
        var posts: [Post] = []
        posts.reserveCapacity(rows.count)
        for index in rows.indices {
            // A row or a body in a constant would be a copy (Benchmarks/README.md, R2).
            let body = texts[index].body.take()
            posts.append(
                Post(
                    id: rows[index].id, position: rows[index].position, thread: thread, message: rows[index].message,
                    author: UserSummary(id: rows[index].author, username: rows[index].authorName),
                    body: rows[index].isTextShown ? body : nil, createdAt: texts[index].createdAt,
                    editedAt: texts[index].editedAt,
                    editPosition: rows[index].editPosition, isRetracted: rows[index].isRetracted,
                    isRemoved: rows[index].isRemoved,
                    isFromBlockedUser: rows[index].isBlocked, replyCount: rows[index].replyCount))
        }
        // Most posts have neither reactions nor mentions.
        for index in rows.indices where rows[index].reactions != nil {
            posts[index].reactions = rows[index].reactions ?? []
        }
        for index in rows.indices where texts[index].mentions != nil && rows[index].isTextShown {
            posts[index].mentions = texts[index].mentions ?? []
        }
        return posts
    }

    /// Returns the texts of posts at the version of their rows, with creation and edit times.
    private func texts(at textPositions: TextPositions) throws(ChatError) -> [PostText] {
        var posts = try texts(at: textPositions.posted)
        let edits = try texts(at: textPositions.edits)
        for (edit, index) in textPositions.editedPosts.enumerated() {
            posts[index].body = edits[edit].body
            posts[index].mentions = edits[edit].mentions
            posts[index].editedAt = edits[edit].createdAt
        }
        return posts
    }

    /// Returns the texts of the events at these positions, in the given order.
    private func texts(at positions: [Position]) throws(ChatError) -> [PostText] {
        if positions.isEmpty { return [] }
        var texts: [PostText] = []
        texts.reserveCapacity(positions.count)
        var missing: [Int] = []
        textCache.withLock { cache in
            for index in positions.indices {
                if let text = cache.text(positions[index]) {
                    texts.append(PostText(text))
                    continue
                }
                texts.append(PostText(.none))
                if missing.isEmpty { missing.reserveCapacity(positions.count - index) }
                missing.append(index)
            }
        }
        if missing.isEmpty { return texts }
        missing.sort { positions[$0] < positions[$1] }
        let epoch = erasedPositions.epoch
        try read(missing, positions, &texts)
        textCache.withLock { cache in
            // A text that was erased meanwhile must not come back.
            if erasedPositions.epoch != epoch { return }
            for index in missing { cache.insert(texts[index].text, at: positions[index]) }
        }
        return texts
    }

    /// Reads the texts at the indexed positions, which ascend along `indices`.
    private func read(_ indices: [Int], _ positions: [Position], _ texts: inout [PostText]) throws(ChatError) {
        var next = 0
        var undecodable: ChatError?
        try wrappingJournalErrors { () throws(JournalError) in
            try log.forEachRecord(at: indices.map { positions[$0] }) { position, state, kept, erasable in
                precondition(
                    next < indices.count && position == positions[indices[next]],
                    "The log must return the requested records in order."
                )
                do throws(EventDecodingError) {
                    let (body, createdAt, mentions) = try ChatEvent.text(
                        kept: kept, erasable: state == .whole ? erasable : nil)
                    texts[indices[next]] = PostText(
                        TextCache.Text(body: body, createdAt: createdAt, mentions: mentions.isEmpty ? nil : mentions))
                    next += 1
                    return true
                } catch {
                    undecodable = .undecodable(position: position, error)
                    return false
                }
            }
        }
        if let undecodable { throw undecodable }
        precondition(next == indices.count, "The log must return each requested record or throw.")
    }
}

extension PostRecord {
    /// Whether the viewer is shown the text and the mentions.
    ///
    /// Stored properties: a computed one of another module costs a call and a copy
    /// (Benchmarks/README.md, R1b).
    fileprivate var isTextShown: Bool { !isRetracted && !isRemoved && !isWithheld }
}

/// The positions of the texts of some posts.
///
/// Filled and read in loops over indices, because mapping rows to pairs is slow.
private struct TextPositions {
    /// The positions at which the posts were posted.
    var posted: [Position] = []
    /// The positions of the latest edits, for edited posts only.
    var edits: [Position] = []
    /// The index of the post of each edit.
    var editedPosts: [Int] = []

    init(capacity: Int) { posted.reserveCapacity(capacity) }

    mutating func add(_ position: Position, _ edit: Position?) {
        if let edit {
            edits.append(edit)
            editedPosts.append(posted.count)
        }
        posted.append(position)
    }
}

/// The text of a post, with its creation and edit times and its mentions.
private struct PostText {
    var body: String?
    var createdAt: Timestamp
    var editedAt: Timestamp?
    /// Nil if the text mentions no user.
    var mentions: [UserID]?

    init(_ text: TextCache.Text) { (body, createdAt, mentions) = (text.body, text.createdAt, text.mentions) }

    /// The cacheable text of a post that has not been edited.
    var text: TextCache.Text { TextCache.Text(body: body, createdAt: createdAt, mentions: mentions) }
}
