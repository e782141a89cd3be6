import ChatDomain
import Columns

/// What happened on each day, as of any position.
///
/// Days come in any order, because an import brings its own times. What happens seldom is a position each, by day; messages and replies are numbered in the order of
/// positions already, so a day keeps the runs of consecutive numbers that are its own, and a position cuts all days by one number.
struct Activity: Equatable, Sendable {
    /// The days in the order in which events first named them, each as the bits of its number.
    var days = IDTable()
    /// The day that came last to be one of them, which nearly every event is of.
    var newestDay: CalendarDay?
    var registrations = Column<Column<Position>>()
    var sessions = Column<Column<Position>>()
    /// By the day: where each of its active users was first active on it.
    var activeUsers = Column<Column<Position>>()
    /// The pairs of a day and a user that there have been.
    var userDays = PairIndex()
    /// By the user: the number + 1 of the day of their latest event, so that the pair is looked up only when the day changes.
    var latestDays = Column<UInt32>()
    var messages = PostRuns()
    var replies = PostRuns()

    /// Applies the next event.
    @inline(__always)
    mutating func apply(_ event: EventRow, at position: Position, _ indexes: EventIndexes, isRegistration: Bool) {
        // Whoever ends a session need not be active: it may end by itself.
        guard indexes.user >= 0, event.kind != .sessionEnded else { return }
        let day = index(of: CalendarDay(event.createdAt))
        noteActive(indexes.user, on: day, at: position)
        switch event.kind {
        case .messagePosted: if indexes.isNew { messages.append(indexes.post, on: day) }
        case .replyPosted: if indexes.isNew { replies.append(indexes.post, on: day) }
        case .sessionStarted: if indexes.isNew { sessions.element(day, default: Column()) { $0.append(position) } }
        case .userRegistered: if isRegistration { registrations.element(day, default: Column()) { $0.append(position) } }
        default: break
        }
    }

    private mutating func noteActive(_ user: Int, on day: Int, at position: Position) {
        let mark = UInt32(truncatingIfNeeded: day + 1)
        guard user >= latestDays.count || latestDays[user] != mark else { return }
        latestDays.element(user, default: 0) { $0 = mark }
        if userDays.insert(day, user).isNew { activeUsers[day].append(position) }
    }

    @inline(__always)
    private mutating func index(of day: CalendarDay) -> Int { day == newestDay ? activeUsers.count - 1 : find(day) }

    private mutating func find(_ day: CalendarDay) -> Int {
        let (index, isNew) = days.insert(UInt128(UInt64(bitPattern: day.daysSince1970)))
        if isNew {
            newestDay = day
            activeUsers.append(Column())
        }
        return index
    }

    /// What had happened on a day as of a position, nil if nothing had or the day is outside a range.
    ///
    /// - Parameters:
    ///   - number: The day's index.
    ///   - messageCount: How many messages there were as of that position; replies likewise.
    /// - Complexity: O(log *n*).
    func day(
        _ number: Int, in range: ClosedRange<CalendarDay>, asOf position: Position, messageCount: Int, replyCount: Int
    ) -> ActivityDay? {
        let day = CalendarDay(daysSince1970: Int64(bitPattern: UInt64(truncatingIfNeeded: days.id(number))))
        guard range.contains(day) else { return nil }
        let activity = ActivityDay(
            day: day, registrations: registrations.count(number, asOf: position), sessions: sessions.count(number, asOf: position),
            activeUsers: activeUsers.count(number, asOf: position), messages: messages.count(on: number, ofFirst: messageCount),
            replies: replies.count(on: number, ofFirst: replyCount))
        // Whatever is counted has a user, who is counted too.
        return activity.activeUsers == 0 ? nil : activity
    }
}

/// Which of the posts, by their numbers, are of which day: 8 bytes for each run of consecutive numbers of one day.
struct PostRuns: Equatable, Sendable {
    var runs = Column<Column<Run>>()
    /// By the day: how many posts it has.
    var counts = Column<UInt32>()
    /// The day of the latest post, -1 before the first: the posts have consecutive indexes.
    var latestDay = -1

    struct Run: Equatable, Sendable, BitwiseCopyable {
        /// The number of the run's first post.
        var first: UInt32
        /// How many posts the day has before it.
        var before: UInt32
    }

    /// Puts the next post, whose index is the greatest so far, on a day.
    @inline(__always)
    mutating func append(_ post: Int, on day: Int) {
        if day == latestDay { counts[day] &+= 1 } else { begin(UInt32(truncatingIfNeeded: post), on: day) }
    }

    private mutating func begin(_ post: UInt32, on day: Int) {
        counts.element(day, default: 0) { _ in }
        let count = counts[day]
        runs.element(day, default: Column()) { $0.append(Run(first: post, before: count)) }
        counts[day] = count &+ 1
        latestDay = day
    }

    /// How many of the first so many posts are of a day: O(log *n*) in the day's runs.
    func count(on day: Int, ofFirst cut: Int) -> Int {
        guard day < counts.count else { return 0 }
        let runs = runs[day]
        let next = partition(runs.count) { Int(runs[$0].first) >= cut }
        guard next > 0 else { return 0 }
        let run = runs[next - 1]
        let end = next < runs.count ? runs[next].before : counts[day]
        return Int(run.before) + min(cut - Int(run.first), Int(end - run.before))
    }
}

extension Column<Column<Position>> {
    /// How many of the ascending positions of a list lie up to a position.
    fileprivate func count(_ index: Int, asOf position: Position) -> Int {
        guard index < count else { return 0 }
        let positions = self[index]
        if let last = positions.last, last <= position { return positions.count }
        return partition(positions.count) { positions[$0] > position }
    }
}
