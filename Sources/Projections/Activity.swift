package import ChatDomain
import Columns
import Primitives

/// The activity of each day, as of any position.
///
/// Days arrive in any order, because imports have their own times. Rare events store one position
/// each, by day. Messages and replies have dense indexes in position order, so a day stores the
/// runs of consecutive indexes that belong to it.
struct Activity: Equatable, Sendable {
    /// The days in order of first occurrence, each as the bits of its number.
    var days = IDInterner()
    /// The day added last, to which nearly every event belongs.
    ///
    /// Its index is `activeUsers.count - 1`.
    var newestDay: CalendarDay?
    var registrations = Column<Column<Position>>()
    var sessions = Column<Column<Position>>()
    /// By day: the position of each active user's first event of the day.
    var activeUsers = Column<Column<Position>>()
    /// The pairs of a day and a user active on it.
    var userDays = PairInterner()
    /// By user: the index + 1 of the day of the user's latest event.
    ///
    /// Avoids a lookup in ``userDays`` while the day stays the same.
    var latestDayOfUser = Column<UInt32>()
    var messages = PostRuns()
    var replies = PostRuns()

    /// Applies the next event, which is a new message.
    @inline(__always)
    mutating func append(message: Int, by user: Int, at position: Position, _ createdAt: Timestamp) {
        let day = index(of: CalendarDay(createdAt))
        markActive(user, on: day, at: position)
        messages.append(message, on: day)
    }

    /// Applies the next event, other than a new message.
    mutating func apply(_ event: EventRow, at position: Position, _ indexes: EventIndexes, isRegistration: Bool) {
        guard let user = Self.activeUser(event, indexes) else { return }
        let day = index(of: CalendarDay(event.createdAt))
        markActive(user, on: day, at: position)
        switch event.kind {
        case .replyPosted: if indexes.isNew { replies.append(indexes.secondIndex, on: day) }
        case .sessionStarted:
            if indexes.isNew { sessions.updateElement(day, default: Column()) { $0.append(position) } }
        case .userRegistered:
            if isRegistration { registrations.updateElement(day, default: Column()) { $0.append(position) } }
        default: break
        }
    }

    /// Returns the index of the user who acted; nil if none did.
    private static func activeUser(_ event: EventRow, _ indexes: EventIndexes) -> Int? {
        switch event.kind {
        // A session can end without an action of its user; the host program appoints operators and
        // erases content.
        case .sessionEnded, .operatorGranted, .operatorRevoked, .userErased: return nil
        default: break
        }
        guard indexes.user >= 0 else { return nil }
        return event.kind?.form.hasOtherActor == true ? indexes.secondIndex : indexes.user
    }

    @inline(__always)
    private mutating func markActive(_ user: Int, on day: Int, at position: Position) {
        let mark = UInt32(truncatingIfNeeded: day + 1)
        if user >= latestDayOfUser.count || latestDayOfUser[user] != mark {
            beginDay(user, mark, on: day, at: position)
        }
    }

    private mutating func beginDay(_ user: Int, _ mark: UInt32, on day: Int, at position: Position) {
        latestDayOfUser.updateElement(user, default: 0) { $0 = mark }
        if userDays.insert(day, user).isNew { activeUsers[day].append(position) }
    }

    @inline(__always)
    private mutating func index(of day: CalendarDay) -> Int {
        day == newestDay ? activeUsers.count - 1 : findOrInsert(day)
    }

    private mutating func findOrInsert(_ day: CalendarDay) -> Int {
        let (index, isNew) = days.insert(UInt128(UInt64(bitPattern: day.daysSince1970)))
        if isNew {
            newestDay = day
            activeUsers.append(Column())
        }
        return index
    }

    /// Returns the activity of a day as of a position; nil without activity or outside the range.
    ///
    /// - Parameters:
    ///   - index: The day's index.
    ///   - messageCount: The number of messages as of the position.
    ///   - replyCount: The number of replies as of the position.
    /// - Complexity: O(log *n*).
    func day(
        _ index: Int, in range: ClosedRange<CalendarDay>, asOf position: Position, messageCount: Int, replyCount: Int
    ) -> ActivityDay? {
        let day = CalendarDay(daysSince1970: Int64(bitPattern: UInt64(truncatingIfNeeded: days.id(index))))
        guard range.contains(day) else { return nil }
        let activity = ActivityDay(
            day: day, registrationCount: registrations.count(index, asOf: position),
            sessionCount: sessions.count(index, asOf: position),
            activeUserCount: activeUsers.count(index, asOf: position),
            messageCount: messages.count(on: index, ofFirst: messageCount),
            replyCount: replies.count(on: index, ofFirst: replyCount))
        // Every counted event has an active user.
        return activity.activeUserCount == 0 ? nil : activity
    }
}

/// The posts of each day, as runs of consecutive dense indexes at 8 bytes per run.
struct PostRuns: Equatable, Sendable {
    var runs = Column<Column<Run>>()
    /// By day: the number of posts, without those of the latest run.
    var counts = Column<UInt32>()
    /// The day of the latest post; -1 before the first.
    var latestDay = -1
    /// The number of posts in the latest run.
    var latestRunCount: UInt32 = 0

    struct Run: Equatable, Sendable, BitwiseCopyable {
        /// The index of the first post in the run.
        var first: UInt32
        /// The number of the day's posts before the run.
        var countBefore: UInt32
    }

    /// Adds the next post to a day; its index must be the greatest so far.
    @inline(__always)
    mutating func append(_ post: Int, on day: Int) {
        if day != latestDay { beginRun(UInt32(truncatingIfNeeded: post), on: day) }
        latestRunCount &+= 1
    }

    private mutating func beginRun(_ post: UInt32, on day: Int) {
        if latestDay >= 0 { counts[latestDay] &+= latestRunCount }
        counts.updateElement(day, default: 0) { _ in }
        let count = counts[day]
        runs.updateElement(day, default: Column()) { $0.append(Run(first: post, countBefore: count)) }
        (latestDay, latestRunCount) = (day, 0)
    }

    /// Returns the number of a day's posts.
    func count(on day: Int) -> UInt32 { day == latestDay ? counts[day] &+ latestRunCount : counts[day] }

    /// Returns the number of a day's posts among the first `cut` posts.
    ///
    /// - Complexity: O(log *n*) in the number of the day's runs.
    func count(on day: Int, ofFirst cut: Int) -> Int {
        guard day < counts.count else { return 0 }
        let runs = runs[day]
        let next = (0..<runs.count).partitioningIndex { Int(runs[$0].first) >= cut }
        guard next > 0 else { return 0 }
        let run = runs[next - 1]
        let end = next < runs.count ? runs[next].countBefore : count(on: day)
        return Int(run.countBefore) + min(cut - Int(run.first), Int(end - run.countBefore))
    }
}

extension Column<Column<Position>> {
    /// Returns the number of a list's positions at or before a position; the list ascends.
    fileprivate func count(_ index: Int, asOf position: Position) -> Int {
        guard index < count else { return 0 }
        let positions = self[index]
        if let last = positions.last, last <= position { return positions.count }
        return (0..<positions.count).partitioningIndex { positions[$0] > position }
    }
}

extension ReadModels {
    /// Returns the activity of each day, in calendar order; days without activity are omitted.
    ///
    /// - Parameters:
    ///   - first: The first day; nil for no lower bound.
    ///   - last: The last day; nil for no upper bound.
    ///   - position: The last position counted.
    /// - Complexity: O(*d* log *n*), where *d* is the number of days with activity.
    package func activity(from first: CalendarDay? = nil, to last: CalendarDay? = nil, asOf position: Position)
        -> [ActivityDay]
    {
        compactMap(dayScan()) { activity(onDay: $0, from: first, to: last, asOf: position) }.sorted { $0.day < $1.day }
    }

    /// Returns the activity of a day in a scan; nil without activity or outside the bounds.
    ///
    /// - Complexity: O(log *n*).
    package func activity(onDay row: Int, from first: CalendarDay?, to last: CalendarDay?, asOf position: Position)
        -> ActivityDay?
    {
        let first = first ?? CalendarDay(daysSince1970: .min)
        let last = last ?? CalendarDay(daysSince1970: .max)
        guard first <= last else { return nil }
        return views.activity.day(
            row, in: first...last, asOf: position, messageCount: messageCount(asOf: position),
            replyCount: replyCount(asOf: position))
    }
}

extension PostRuns.Run: PlainElement {}

extension Activity: CheckpointComponent {
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError) {
        try days.visit(&visitor)
        try registrations.visit(&visitor, atMost: days.count)
        try sessions.visit(&visitor, atMost: days.count)
        try activeUsers.visit(&visitor, atMost: days.count)
        if visitor.isReading {
            try require(activeUsers.count == days.count, "active users of \(activeUsers.count) days for \(days.count)")
            if days.count > 0 {
                newestDay = CalendarDay(
                    daysSince1970: Int64(bitPattern: UInt64(truncatingIfNeeded: days.id(days.count - 1))))
            }
        }
        try userDays.visit(&visitor, below: days.count, ids.users.count)
        try latestDayOfUser.visit(&visitor, atMost: ids.users.count, below: days.count + 1)
        try messages.visit(&visitor, days: days.count, posts: ids.posts.messages.count)
        try replies.visit(&visitor, days: days.count, posts: ids.posts.replies.count)
    }
}

extension PostRuns {
    mutating func visit(_ visitor: inout ColumnVisitor, days: Int, posts: Int) throws(ColumnError) {
        let before = self
        var counts = Column(before.counts.indices.lazy.map(before.count))
        try counts.visit(&visitor, atMost: days)
        try runs.visit(&visitor, atMost: days)
        var latest = UInt64(truncatingIfNeeded: latestDay + 1)
        try visitor.visit(&latest)
        if visitor.isReading {
            try require(latest <= UInt64(counts.count), "posts of day \(latest), but only \(counts.count) days exist")
            latestDay = Int(latest) - 1
            try require(runs.count == counts.count, "runs of \(runs.count) days for \(counts.count)")
            for day in runs.indices {
                var before: UInt32 = 0
                // `PostRuns.count` subtracts two of these values, so they must not decrease.
                for run in runs[day] {
                    try require(
                        run.countBefore >= before && run.countBefore <= counts[day] && Int(run.first) < posts,
                        "a run of posts that do not exist")
                    before = run.countBefore
                }
            }
            self.counts = counts
            if latestDay >= 0 {
                guard let run = runs[latestDay].last else { throw ColumnError("the latest post is in no run") }
                latestRunCount = counts[latestDay] - run.countBefore
                self.counts[latestDay] = run.countBefore
            }
        }
    }
}

extension Column {
    /// Visits at most this many lists; days are few, so each list has its own count.
    fileprivate mutating func visit<Item: PlainElement>(_ visitor: inout ColumnVisitor, atMost most: Int)
        throws(ColumnError)
    where Element == Column<Item> {
        try visitor.visit(
            &self,
            write: { lists, writer in
                writer.write(lists.count)
                for list in lists { list.write(to: &writer) }
            },
            read: { (lists, reader) throws(ColumnError) in
                let count = try reader.readCount()
                try require(count <= most, "\(count) lists for \(most) days")
                for _ in 0..<count { lists.append(try Column<Item>(from: &reader)) }
            })
    }
}
