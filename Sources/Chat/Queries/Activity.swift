public import ChatDomain
import EventJournal
public import Projections

/// Activity.
extension ChatStore {
    /// Returns the activity of each day, for the host only; days without activity are omitted.
    ///
    /// An import counts on the day of its original time, so past days can change.
    ///
    /// - Parameters:
    ///   - first: The first day; nil for no lower bound.
    ///   - last: The last day; nil for no upper bound.
    ///   - point: The point in the history to read as of; later recordings are not counted.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>).
    /// - Complexity: O(*d* log *d*) in the number of days with activity.
    public func activity(
        from first: CalendarDay? = nil, to last: CalendarDay? = nil, asOf point: AsOf = .now
    ) throws(ChatError) -> [ActivityDay] {
        let (scan, sections) = try sections(point, as: .host) { models, _ throws(ChatError) in models.dayScan() }
        return sections.compactMap(scan) {
            $0.activity(onDay: $1, from: first, to: last, asOf: sections.viewpoint.position)
        }
        .sorted { $0.day < $1.day }
    }
}

/// The activity of a thread.
extension ChatStore {
    /// The maximum number of messages and runs of messages that an answer counts.
    static let maximumActivityStepCount = 100_000
}

extension ThreadActivityQuery: StoreQuery {
    /// Computes the answer.
    public func answer(from reader: ChatReader) throws(ChatError) -> ThreadActivity {
        let (start, sections) = try reader.sections { models, view throws(ChatError) in
            try models.requireReadable(thread, from: view)
        }
        let view = sections.viewpoint
        let last = CalendarDay(try reader.store.time(of: reader.point, view))
        let first = CalendarDay(
            daysSince1970: last.daysSince1970
                - Int64(min(max(days ?? Self.defaultDayCount, 1), Self.maximumDayCount) - 1))
        var found = ThreadActivity(from: first, to: last, days: [], people: 0)
        guard
            var scan = sections.withSection({
                $0.activityScan(of: thread, first...last, after: start, asOf: view.position)
            })
        else {
            return found
        }
        var rest = ChatStore.maximumActivityStepCount
        while !scan.isAtEnd, rest > 0 {
            sections.withSection { scan.advance($0, limit: SectionedQuery.rowCount) }
            rest -= SectionedQuery.rowCount
        }
        found.days = scan.counts.map { ThreadActivity.Day(day: $0.key, messages: $0.value) }.sorted { $0.day < $1.day }
        (found.people, found.hasMore) = (scan.authors.count, !scan.isAtEnd)
        return found
    }
}

extension ChatReader {
    /// Returns the number of messages on each of the last days, and of their authors, in a thread.
    ///
    /// The last day is that of the point, by the clock of the store as of now. Only messages that
    /// the viewer may read are counted, as in ``timeline(_:page:)``, also those of users
    /// whom the viewer blocks.
    ///
    /// - Parameters:
    ///   - thread: The thread.
    ///   - days: The number of days, from 1 to 366; others are clamped.
    /// - Throws: The errors of every query (<doc:Chat#Errors-of-every-query>);
    ///   ``ChatError/rejected(_:)`` with `unknownThread`; with a viewer also `notAMember`.
    /// - Complexity: O(*n* + *d* log *n*), where *n* is the number of the messages in the days and
    ///   *d* the number of days; an import with times in disorder adds to *d*. At most the latest
    ///   100,000 are counted, and then `ThreadActivity.hasMore` is true.
    public func activity(in thread: ThreadID, days: Int = 28) throws(ChatError) -> ThreadActivity {
        try answer(ThreadActivityQuery(thread: thread, days: days))
    }
}
