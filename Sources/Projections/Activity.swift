import ChatDomain
import Columns

/// What happened on each day, as of any position.
///
/// Days come in any order, because an import brings its own times. What happens seldom is a position each, by day; messages and replies are numbered in the order of
/// positions already, so a day keeps the runs of consecutive numbers that are its own, and a position cuts all days by one number.
struct Activity: Equatable, Sendable {
    /// The days in the order in which they came up, each as the two halves of its number.
    var days = PairIndex()
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

    /// Takes in the next event.
    mutating func apply(_ event: EventRow, at position: Position, _ numbers: EventNumbers) {
        guard Self.isActivity(event, numbers) else { return }
        let day = number(of: Day(event.createdAt))
        noteActive(numbers.user, on: day, at: position)
        if numbers.isNew { count(event, on: day, at: position, numbers) }
    }

    /// Counts what an event did.
    private mutating func count(_ event: EventRow, on day: Int, at position: Position, _ numbers: EventNumbers) {
        switch event.kind {
        case .userRegistered: registrations.element(day, default: Column()) { $0.append(position) }
        case .sessionStarted: sessions.element(day, default: Column()) { $0.append(position) }
        case .messagePosted: messages.append(numbers.post, on: day)
        case .replyPosted: replies.append(numbers.post, on: day)
        default: break
        }
    }

    /// Takes in the next events.
    mutating func apply(_ events: NumberedEvents) {
        let (rows, numbers) = (events.events.rows, events.numbers)
        var start = 0
        while start < rows.count {
            guard Self.isActivity(rows[start], numbers[start]) else {
                start += 1
                continue
            }
            // The events of one day that come one after the other.
            let day = Day(rows[start].createdAt)
            let number = number(of: day)
            let times = day.times
            var posts: (first: Int, count: Int)? = nil
            var index = start
            while index < rows.count {
                guard Self.isActivity(rows[index], numbers[index]) else {
                    index += 1
                    continue
                }
                guard times.contains(rows[index].createdAt) else { break }
                noteActive(numbers[index].user, on: number, at: events.position(index))
                if numbers[index].isNew {
                    if rows[index].kind == .messagePosted {
                        // Messages that are new have consecutive numbers.
                        posts = (posts?.first ?? numbers[index].post, (posts?.count ?? 0) + 1)
                    } else {
                        count(rows[index], on: number, at: events.position(index), numbers[index])
                    }
                }
                index += 1
            }
            if let posts { messages.append(posts.first, count: posts.count, on: number) }
            start = index
        }
    }

    /// Whether an event shows that its user was active.
    @inline(__always)
    private static func isActivity(_ event: EventRow, _ numbers: EventNumbers) -> Bool { numbers.user >= 0 && event.kind != .sessionEnded }

    private mutating func noteActive(_ user: Int, on day: Int, at position: Position) {
        let mark = UInt32(truncatingIfNeeded: day + 1)
        guard user >= latestDays.count || latestDays[user] != mark else { return }
        latestDays.element(user, default: 0) { $0 = mark }
        if userDays.insert(day, user).isNew { activeUsers.element(day, default: Column()) { $0.append(position) } }
    }

    private mutating func number(of day: Day) -> Int {
        let bits = UInt64(bitPattern: day.daysSince1970)
        let halves = (first: Int(bits >> 32), second: Int(bits & 0xFFFF_FFFF))
        // Nearly always the day that came up last.
        if days.count > 0, days.pair(days.count - 1) == halves { return days.count - 1 }
        return days.insert(halves.first, halves.second).index
    }

    /// The days on which anything had happened as of a position, in the order of the calendar.
    ///
    /// - Parameters:
    ///   - messageCount: How many messages there were as of that position; replies likewise.
    /// - Complexity: O(*d* log *n*), where *d* is the number of days that there are.
    func days(in range: ClosedRange<Day>, asOf position: Position, messageCount: Int, replyCount: Int) -> [ActivityDay] {
        (0..<days.count).compactMap { number -> ActivityDay? in
            let halves = days.pair(number)
            let day = Day(daysSince1970: Int64(bitPattern: UInt64(halves.first) << 32 | UInt64(halves.second)))
            guard range.contains(day) else { return nil }
            let activity = ActivityDay(
                day: day, registrations: registrations.count(number, asOf: position), sessions: sessions.count(number, asOf: position),
                activeUsers: activeUsers.count(number, asOf: position), messages: messages.count(on: number, ofFirst: messageCount),
                replies: replies.count(on: number, ofFirst: replyCount))
            // Whatever is counted has a user, who is counted too.
            return activity.activeUsers == 0 ? nil : activity
        }.sorted { $0.day < $1.day }
    }
}

/// Which of the posts, by their numbers, are of which day: 8 bytes for each run of consecutive numbers of one day.
struct PostRuns: Equatable, Sendable {
    var runs = Column<Column<Run>>()
    /// By the day: how many posts it has.
    var counts = Column<UInt32>()

    struct Run: Equatable, Sendable, BitwiseCopyable {
        /// The number of the run's first post.
        var first: UInt32
        /// How many posts the day has before it.
        var before: UInt32
    }

    /// Puts the next posts, with consecutive numbers of which the first is the greatest so far, on a day.
    mutating func append(_ post: Int, count added: Int = 1, on day: Int) {
        let post = UInt32(truncatingIfNeeded: post)
        counts.element(day, default: 0) { _ in }
        let count = counts[day]
        runs.element(day, default: Column()) { runs in
            if let last = runs.last, last.first &+ (count &- last.before) == post { return }
            runs.append(Run(first: post, before: count))
        }
        counts[day] = count &+ UInt32(truncatingIfNeeded: added)
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
