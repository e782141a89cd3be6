import ChatDomain
import EventJournal
import Locking
import Projections

/// Joins the rows of the read models with what the posts say, from the cache of texts or else from the journal.
extension ChatStore {
    func entries(_ rows: [PostRecord<MessageID>], in thread: ThreadID) throws(ChatError) -> [TimelineEntry] {
        var places = TextPlaces(capacity: rows.count)
        for row in rows { places.add(row.position, row.editPosition) }
        let texts = try texts(at: places)
        var entries: [TimelineEntry] = []
        entries.reserveCapacity(rows.count)
        for index in rows.indices {
            let row = rows[index]
            let text = texts[index]
            entries.append(
                TimelineEntry(
                    position: row.position, id: row.id, thread: thread, author: UserSummary(id: row.author, username: row.authorName),
                    body: row.isRetracted || row.isWithheld ? nil : text.body, createdAt: text.createdAt, editedAt: text.editedAt,
                    isRetracted: row.isRetracted,
                    replyCount: row.replyCount))
        }
        return entries
    }

    func entries(_ rows: [PostRecord<ReplyID>], to message: MessageID) throws(ChatError) -> [ReplyEntry] {
        var places = TextPlaces(capacity: rows.count)
        for row in rows { places.add(row.position, row.editPosition) }
        let texts = try texts(at: places)
        var entries: [ReplyEntry] = []
        entries.reserveCapacity(rows.count)
        for index in rows.indices {
            let row = rows[index]
            let text = texts[index]
            entries.append(
                ReplyEntry(
                    position: row.position, id: row.id, message: message, author: UserSummary(id: row.author, username: row.authorName),
                    body: row.isRetracted || row.isWithheld ? nil : text.body, createdAt: text.createdAt, editedAt: text.editedAt,
                    isRetracted: row.isRetracted)
            )
        }
        return entries
    }

    /// What posts said as of their rows, and when they were written and edited.
    private func texts(at places: TextPlaces) throws(ChatError) -> [PostText] {
        var posts = try texts(at: places.posted)
        let edits = try texts(at: places.edits)
        for (edit, index) in places.edited.enumerated() {
            posts[index].body = edits[edit].body
            posts[index].editedAt = edits[edit].createdAt
        }
        return posts
    }

    /// The texts of the events at some positions, in the order of these.
    private func texts(at positions: [Position]) throws(ChatError) -> [PostText] {
        if positions.isEmpty { return [] }
        var texts = [PostText](repeating: PostText(.none), count: positions.count)
        var missing: [Int] = []
        textCache.withLock { cache in
            for index in positions.indices {
                if let text = cache.find(positions[index]) {
                    texts[index] = PostText(text)
                    continue
                }
                if missing.isEmpty { missing.reserveCapacity(positions.count - index) }
                missing.append(index)
            }
        }
        if missing.isEmpty { return texts }
        missing.sort { positions[$0] < positions[$1] }
        try read(missing, positions, &texts)
        textCache.withLock { cache in
            for index in missing { cache.add(texts[index].text, at: positions[index]) }
        }
        return texts
    }

    /// Reads the texts that some of the positions hold, which ascend along the indices.
    private func read(_ indices: [Int], _ positions: [Position], _ texts: inout [PostText]) throws(ChatError) {
        var next = 0
        var undecodable: ChatError?
        try wrapping { () throws(JournalError) in
            try log.forEachRecord(at: indices.map { positions[$0] }) { position, state, kept, erasable in
                precondition(
                    next < indices.count && position == positions[indices[next]], "the log gives the records that it is asked for, in order"
                )
                do throws(EventDecodingError) {
                    let (body, createdAt) = try ChatEvent.text(kept: kept, erasable: state == .whole ? erasable : nil)
                    texts[indices[next]] = PostText(TextCache.Text(body: body, createdAt: createdAt))
                    next += 1
                    return true
                } catch {
                    undecodable = .undecodable(position: position, error)
                    return false
                }
            }
        }
        if let undecodable { throw undecodable }
        precondition(next == indices.count, "the journal gives each record that it is asked for, or an error")
    }
}

/// Where the texts of some posts stand.
///
/// Filled and read by loops over indices: pairs of generic rows, mapped, took as long as all else that a page of texts in memory takes.
private struct TextPlaces {
    /// Of each post.
    var posted: [Position] = []
    /// Of the latest edits, of those that have one.
    var edits: [Position] = []
    /// Which posts these are.
    var edited: [Int] = []

    init(capacity: Int) { posted.reserveCapacity(capacity) }

    mutating func add(_ position: Position, _ edit: Position?) {
        if let edit {
            edits.append(edit)
            edited.append(posted.count)
        }
        posted.append(position)
    }
}

/// What a post says, and when it was written and edited.
private struct PostText {
    var body: String?
    var createdAt: Timestamp
    var editedAt: Timestamp?

    init(_ text: TextCache.Text) { (body, createdAt) = (text.body, text.createdAt) }

    /// Of a post that has not been edited, what it says.
    var text: TextCache.Text { TextCache.Text(body: body, createdAt: createdAt) }
}
