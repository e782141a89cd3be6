import ChatDomain
import Columns

extension ThreadTimeline.LogEntry: PlainElement {}
extension PostHistories.Chains: PlainElement {}

extension ThreadTimelines: ReadModelComponent {
    func write(to writer: inout ColumnWriter) {
        writer.write(threads.count)
        writer.write(threads.indices) { threads[$0].openedAt }
        writer.write(threads.indices) { UInt64(bitPattern: threads[$0].createdAt.millisecondsSince1970) }
        writer.write(threads.indices, text: { threads[$0].name })
        writer.write(threads.indices) { threads[$0].isImported ? 1 : 0 as UInt8 }
        writer.write(threads.indices, list: { threads[$0].messages })
        for thread in threads { thread.entries.write(to: &writer) }
        messageHistories.write(to: &writer)
        replyHistories.write(to: &writer)
    }

    init(from reader: inout ColumnReader, _ state: ChatState) throws(ColumnError) {
        let count = try reader.readCount()
        try require(count == state.threads.count, "timelines of \(count) threads for \(state.threads.count)")
        let positions: [Position] = try reader.readArray(count)
        let times: [UInt64] = try reader.readArray(count)
        let names = try reader.readTexts(count)
        let areImported: [UInt8] = try reader.readArray(count)
        let messages = try reader.readLists(count, below: state.messages.count)
        for thread in 0..<count {
            var timeline = ThreadTimeline(createdAt: Timestamp(millisecondsSince1970: Int64(bitPattern: times[thread])))
            timeline.openedAt = positions[thread]
            timeline.name = names[thread]
            timeline.isImported = areImported[thread] != 0
            timeline.messages = messages[thread]
            timeline.entries = try Column(from: &reader)
            try require(timeline.entries.last?.position ?? 0 <= state.head, "an event of a thread after \(state.head)")
            threads.append(timeline)
        }
        messageHistories = try PostHistories(from: &reader, posts: state.messages.count, replies: state.replies.count, head: state.head)
        replyHistories = try PostHistories(from: &reader, posts: state.replies.count, replies: 0, head: state.head)
    }
}

extension PostHistories {
    func write(to writer: inout ColumnWriter) {
        numbers.write(to: &writer)
        chains.write(to: &writer)
        versions.write(to: &writer)
    }

    /// Reads histories of so many posts, to which so many replies can lead.
    init(from reader: inout ColumnReader, posts: Int, replies: Int, head: Position) throws(ColumnError) {
        numbers = try SparseIndex(from: &reader)
        try numbers.check(below: posts)
        chains = try Column(from: &reader)
        versions = try Versions(from: &reader, head: head)
        try require(chains.count == numbers.count, "\(chains.count) histories of \(numbers.count) posts")
        // A version that is no reply has the value 0.
        try versions.check(below: max(1, replies))
        var newest = Chains()
        chains.forEachPiece { piece in
            for chain in piece {
                newest.edit = max(newest.edit, chain.edit)
                newest.retraction = max(newest.retraction, chain.retraction)
                newest.reply = max(newest.reply, chain.reply)
                newest.replyRetraction = max(newest.replyRetraction, chain.replyRetraction)
            }
        }
        for link in [newest.edit, newest.retraction, newest.reply, newest.replyRetraction] { try versions.check(link) }
        try require(replies > 0 || newest.reply == 0, "a reply where there are none")
    }
}
