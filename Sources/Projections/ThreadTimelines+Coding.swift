import ChatDomain
import Columns

extension ThreadTimelines: StoreComponent {
    func write(to writer: inout ColumnWriter) {
        writer.write(threads.count)
        writer.write(threads.indices) { threads[$0].openedAt }
        writer.write(threads.indices) { UInt64(bitPattern: threads[$0].createdAt.millisecondsSince1970) }
        writer.write(threads.indices, text: { threads[$0].name })
        writer.write(threads.indices) { threads[$0].isImported ? 1 : 0 as UInt8 }
        for thread in threads {
            thread.messages.write(to: &writer)
            thread.positions.write(to: &writer)
            thread.members.write(to: &writer)
        }
        messageHistories.write(to: &writer)
        replyHistories.write(to: &writer)
    }

    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) {
        let count = try reader.readCount()
        try require(count == ids.threads.count, "timelines of \(count) threads for \(ids.threads.count)")
        let positions: [Position] = try reader.readArray(count)
        let times: [UInt64] = try reader.readArray(count)
        let names = try reader.readTexts(count)
        let areImported: [UInt8] = try reader.readArray(count)
        for thread in 0..<count {
            var timeline = ThreadTimeline(createdAt: Timestamp(millisecondsSince1970: Int64(bitPattern: times[thread])))
            timeline.openedAt = positions[thread]
            timeline.name = names[thread]
            timeline.isImported = areImported[thread] != 0
            timeline.messages = try PackedColumn(from: &reader, .short, atMost: ids.messages.count)
            try timeline.messages.check(below: ids.messages.count)
            timeline.positions = try PackedColumn(from: &reader, .short, atMost: Int(clamping: head))
            try require(timeline.positions.last ?? 0 <= head, "an event of a thread after \(head)")
            timeline.members = try PackedColumn(from: &reader, .short, atMost: timeline.positions.count)
            try require(timeline.members.count == timeline.positions.count, "members at other events than a thread's")
            threads.append(timeline)
        }
        messageHistories = try PostHistories(from: &reader, posts: ids.messages.count, replies: ids.replies.count, head: head)
        replyHistories = try PostHistories(from: &reader, posts: ids.replies.count, replies: 0, head: head)
    }
}

extension PostHistories {
    func write(to writer: inout ColumnWriter) {
        haveHistory.write(to: &writer)
        numbers.write(to: &writer)
        for change in Change.allCases { self[change].write(to: &writer) }
        versions.write(to: &writer)
    }

    /// Reads the histories of `posts` posts, with links to at most `replyCount` replies.
    init(from reader: inout ColumnReader, posts: Int, replies replyCount: Int, head: Position) throws(ColumnError) {
        haveHistory = try PackedColumn(from: &reader, atMost: posts)
        try require(haveHistory.count == posts, "\(haveHistory.count) marks for \(posts) posts")
        numbers = try SubsetIndex(from: &reader)
        try numbers.check(below: posts)
        for change in Change.allCases {
            self[change] = try PackedColumn(from: &reader, atMost: numbers.count)
            try require(self[change].count == numbers.count, "\(self[change].count) histories of \(numbers.count) posts")
        }
        versions = try Versions(from: &reader, head: head)
        // Versions other than replies have the value 0.
        try versions.check(below: max(1, replyCount))
        for change in Change.allCases { try self[change].check(below: versions.count + 1) }
        if replyCount == 0 { try replies.check(below: 1) }
    }
}
