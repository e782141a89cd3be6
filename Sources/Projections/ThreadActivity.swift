public import ChatDomain
import Columns
public import ChatValues
import Primitives

/// The activity of a thread on the days of a range, as far as its viewer may read it.
public struct ThreadActivity: Hashable, Sendable, Codable {
    /// The first day of the range.
    public var from: CalendarDay
    /// The last day of the range.
    public var to: CalendarDay
    /// The days with messages, ascending.
    public var days: [Day]
    /// The number of different authors of these messages.
    public var people: Int
    /// Whether messages of the range are not counted, because more than the query counts exist.
    public var hasMore = false

    /// Creates the activity, for example in a test.
    public init(from: CalendarDay, to: CalendarDay, days: [Day], people: Int, hasMore: Bool = false) {
        (self.from, self.to, self.days, self.people, self.hasMore) = (from, to, days, people, hasMore)
    }

    /// A day with messages.
    public struct Day: Hashable, Sendable, Codable {
        /// The day in UTC, by display time: imports count on their original day.
        public var day: CalendarDay
        /// The number of messages posted, including those retracted later.
        public var messages: Int

        /// Creates a day, for example in a test.
        public init(day: CalendarDay, messages: Int) { (self.day, self.messages) = (day, messages) }
    }

    private enum CodingKeys: String, AbsentAsNullKey {
        case from, to, days, people
        case hasMore = "more"
        static let omittedIfFalse = [hasMore]
    }
}

/// The number of messages on each of the last days, and of their authors, in a thread.
public struct ThreadActivityQuery: ChatQuery {
    /// The answer.
    public typealias Answer = ThreadActivity
    /// The name and the path.
    public static let name = "threadActivity", path = "/v1/threads/{thread}/activity"
    /// The numbers of days.
    public static let ranges = ["days": 1...maximumDayCount]
    /// The maximum number of days of an answer.
    package static let maximumDayCount = 366
    /// The number of days of a query that says none.
    package static let defaultDayCount = 28

    /// The thread.
    public var thread: ThreadID
    /// The number of days; nil for 28.
    public var days: Int?

    /// Creates the query.
    public init(thread: ThreadID, days: Int? = nil) { (self.thread, self.days) = (thread, days) }
}

/// A scan of a thread's messages on the days of a range, the last day first, in bounded steps.
package struct ThreadActivityScan: Sendable {
    private let thread: Int
    private let from: CalendarDay
    /// The day of the next run.
    private var day: CalendarDay
    /// The number of the day's runs that are left; nil before the first one.
    private var runsLeft: Int?
    /// The messages of the run that are left, as indexes in the thread.
    private var messages = 0..<0
    /// The messages that the viewer may read, as indexes in the thread.
    private let readable: Range<Int>

    /// The number of messages by day.
    package private(set) var counts: [CalendarDay: Int] = [:]
    /// The authors.
    package private(set) var authors: Set<Int> = []

    fileprivate init(thread: Int, readable: Range<Int>, _ range: ClosedRange<CalendarDay>) {
        (self.thread, self.readable, from, day) = (thread, readable, range.lowerBound, range.upperBound)
    }

    /// Whether every message was counted.
    package var isAtEnd: Bool { (readable.isEmpty || day < from) && messages.isEmpty }

    /// Counts further messages; looks at most at `limit` days, runs of the community's messages,
    /// and messages.
    package mutating func advance(_ models: borrowing ReadModels, limit: Int) {
        var rest = limit
        while rest > 0, !isAtEnd {
            rest -= 1
            if let message = messages.popLast() {
                authors.insert(
                    models.identities.posts.messages.author(
                        Int(models.views.timelines.threads[thread].messages[message]))
                )
            } else {
                beginRun(models)
            }
        }
    }

    private mutating func beginRun(_ models: borrowing ReadModels) {
        let posts = models.views.activity.messages
        guard let row = models.views.activity.days.find(UInt128(UInt64(bitPattern: day.daysSince1970))),
            row < posts.counts.count
        else {
            return endDay()
        }
        let left = runsLeft ?? posts.runs[row].count
        guard left > 0 else { return endDay() }
        runsLeft = left - 1
        let run = posts.range(ofRun: left - 1, onDay: row)
        let list = models.views.timelines.threads[thread].messages
        func first(_ post: Int) -> Int {
            readable.lowerBound + (0..<readable.count).partitioningIndex { Int(list[readable.lowerBound + $0]) >= post }
        }
        messages = first(run.lowerBound)..<first(run.upperBound)
        if !messages.isEmpty { counts[day, default: 0] += messages.count }
    }

    private mutating func endDay() {
        runsLeft = nil
        day.daysSince1970 -= 1
    }
}

extension ReadModels {
    /// Returns a scan of the messages of a thread on the days of a range, after a position and as
    /// of one.
    package func activityScan(
        of id: ThreadID, _ range: ClosedRange<CalendarDay>, after start: Position, asOf position: Position
    ) -> ThreadActivityScan? {
        guard let thread = index(ofThread: id, asOf: position) else { return nil }
        let end = messageCount(ofThread: thread, asOf: position)
        let hidden = min(end, hiddenCount(ofThread: thread, through: start, asOf: position))
        return ThreadActivityScan(thread: thread, readable: hidden..<end, range)
    }
}

extension PostRuns {
    /// Returns the dense indexes of the posts of a run.
    func range(ofRun run: Int, onDay day: Int) -> Range<Int> {
        let runs = runs[day]
        let end = run + 1 < runs.count ? runs[run + 1].countBefore : count(on: day)
        let first = Int(runs[run].first)
        return first..<first + Int(end - runs[run].countBefore)
    }
}
