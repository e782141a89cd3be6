import ChatDomain
import EventJournal
import Projections
import Synchronization

/// Joins the rows of the read models with what the posts say, from the cache of texts or else from the journal.
extension ChatStore {
    func entries(_ rows: [PostRecord<MessageID>], in thread: ThreadID) throws(ChatError) -> [TimelineEntry] {
        let texts = try texts(of: rows)
        return zip(rows, texts).map { row, text in
            TimelineEntry(
                position: row.position, id: row.id, thread: thread, author: Person(id: row.author, username: row.authorName),
                body: row.isRetracted ? nil : text.body, createdAt: text.createdAt, editedAt: text.editedAt, retracted: row.isRetracted,
                replyCount: row.replyCount)
        }
    }

    func entries(_ rows: [PostRecord<ReplyID>], to message: MessageID) throws(ChatError) -> [ReplyEntry] {
        let texts = try texts(of: rows)
        return zip(rows, texts).map { row, text in
            ReplyEntry(
                position: row.position, id: row.id, message: message, author: Person(id: row.author, username: row.authorName),
                body: row.isRetracted ? nil : text.body, createdAt: text.createdAt, editedAt: text.editedAt, retracted: row.isRetracted)
        }
    }

    func entry(_ row: PostRecord<MessageID>, in thread: ThreadID) throws(ChatError) -> TimelineEntry {
        try entries([row], in: thread)[0]
    }

    /// What posts said as of their rows, and when they were written and edited.
    private func texts<ID>(of rows: [PostRecord<ID>]) throws(ChatError) -> [PostText] {
        let posted = try texts(at: rows.map(\.position))
        let edits = try texts(at: rows.compactMap(\.editPosition))
        var edit = edits.startIndex
        return zip(rows, posted).map { row, posted in
            guard row.editPosition != nil else { return PostText(body: posted.body, createdAt: posted.createdAt) }
            defer { edit += 1 }
            return PostText(body: edits[edit].body, createdAt: posted.createdAt, editedAt: edits[edit].createdAt)
        }
    }

    /// The texts of the events at some positions, in the order of these.
    private func texts(at positions: [Position]) throws(ChatError) -> [TextCache.Text] {
        if positions.isEmpty { return [] }
        var found: [TextCache.Text?] = textCache.withLock { cache in positions.map { cache.find($0) } }
        let missing = found.indices.filter { found[$0] == nil }.sorted { positions[$0] < positions[$1] }
        var start = missing.startIndex
        while start < missing.endIndex {
            // One reading for posts that stand close together: what lies between them is passed over faster than another one begins.
            var end = start + 1
            while end < missing.endIndex, positions[missing[end]] - positions[missing[end - 1]] <= 8 { end += 1 }
            try read(missing[start..<end], positions, &found)
            start = end
        }
        textCache.withLock { cache in
            for index in missing { if let text = found[index] { cache.add(text, at: positions[index]) } }
        }
        return found.compactMap { $0 }
    }

    /// Reads the texts that some of the positions hold, which ascend along the indices.
    private func read(
        _ indices: ArraySlice<Int>, _ positions: [Position], _ found: inout [TextCache.Text?]
    ) throws(ChatError) {
        guard let first = indices.first, let last = indices.last else { return }
        var next = indices.startIndex
        var undecodable: ChatError?
        try wrapping { () throws(JournalError) in
            try log.forEachRecord(in: positions[first]...positions[last]) { position, state, kept, erasable in
                guard next < indices.endIndex, position == positions[indices[next]] else { return true }
                do throws(EventDecodingError) {
                    let event = try Event(kept: kept, erasable: state == .whole ? erasable : nil)
                    while next < indices.endIndex, position == positions[indices[next]] {
                        found[indices[next]] = TextCache.Text(body: event.body, createdAt: event.createdAt)
                        next += 1
                    }
                    return true
                } catch {
                    undecodable = .undecodable(position: position, error)
                    return false
                }
            }
        }
        if let undecodable { throw undecodable }
        precondition(next == indices.endIndex, "the journal gives each record that it is asked for, or an error")
    }
}

/// What a post says, and when it was written and edited.
private struct PostText {
    var body: String?
    var createdAt: Timestamp
    var editedAt: Timestamp?
}
