import ChatDomain
import Columns

extension PostRuns.Run: PlainElement {}

extension Activity: StoreComponent {
    func write(to writer: inout ColumnWriter) {
        days.write(to: &writer)
        for lists in [registrations, sessions, activeUsers] { lists.writeLists(to: &writer) }
        userDays.write(to: &writer)
        latestDays.write(to: &writer)
        messages.write(to: &writer)
        replies.write(to: &writer)
    }

    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) {
        days = try IDTable(from: &reader)
        registrations = try Column(lists: &reader, atMost: days.count)
        sessions = try Column(lists: &reader, atMost: days.count)
        activeUsers = try Column(lists: &reader, atMost: days.count)
        try require(activeUsers.count == days.count, "active users of \(activeUsers.count) days for \(days.count)")
        if days.count > 0 { newestDay = CalendarDay(daysSince1970: Int64(bitPattern: UInt64(truncatingIfNeeded: days.id(days.count - 1)))) }
        userDays = try PairIndex(from: &reader)
        try userDays.check(firstBelow: days.count, secondBelow: ids.users.count)
        latestDays = try Column(from: &reader)
        try require(latestDays.count <= ids.users.count, "the latest days of \(latestDays.count) users")
        try latestDays.check(below: days.count + 1)
        messages = try PostRuns(from: &reader, days: days.count, posts: ids.messages.count)
        replies = try PostRuns(from: &reader, days: days.count, posts: ids.replies.count)
    }
}

extension PostRuns {
    func write(to writer: inout ColumnWriter) {
        counts.write(to: &writer)
        runs.writeLists(to: &writer)
        writer.write(UInt64(truncatingIfNeeded: latestDay + 1))
    }

    init(from reader: inout ColumnReader, days: Int, posts: Int) throws(ColumnError) {
        counts = try Column(from: &reader)
        runs = try Column(lists: &reader, atMost: days)
        let latest: UInt64 = try reader.read()
        try require(latest <= UInt64(counts.count), "posts of day \(latest), but only \(counts.count) days exist")
        latestDay = Int(latest) - 1
        try require(runs.count == counts.count, "runs of \(runs.count) days for \(counts.count)")
        for day in runs.indices {
            var before: UInt32 = 0
            // `PostRuns.count` subtracts two of these values, so they must not decrease.
            for run in runs[day] {
                try require(
                    run.before >= before && run.before <= counts[day] && Int(run.first) < posts, "a run of posts that do not exist")
                before = run.before
            }
        }
    }
}

extension Column {
    /// Days are few, so each list is written with its own count.
    fileprivate func writeLists<Item: PlainElement>(to writer: inout ColumnWriter) where Element == Column<Item> {
        writer.write(count)
        for list in self { list.write(to: &writer) }
    }

    fileprivate init<Item: PlainElement>(lists reader: inout ColumnReader, atMost most: Int) throws(ColumnError)
    where Element == Column<Item> {
        self.init()
        let count = try reader.readCount()
        try require(count <= most, "\(count) lists for \(most) days")
        for _ in 0..<count { append(try Column<Item>(from: &reader)) }
    }
}
