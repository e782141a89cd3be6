package import ChatDomain

extension ReadModels {
    /// What happened on each day, in the order of the calendar; a day on which nothing happened is left out.
    ///
    /// - Parameters:
    ///   - first: The first day to show, nil for all from the beginning.
    ///   - last: The last day to show, nil for all to the end.
    ///   - position: What stands after it is not counted.
    /// - Complexity: O(*d* log *n*), where *d* is the number of days that there are.
    package func activity(from first: CalendarDay? = nil, to last: CalendarDay? = nil, asOf position: Position) -> [ActivityDay] {
        compactMap(scanOfDays()) { activity(onDay: $0, from: first, to: last, asOf: position) }.sorted { $0.day < $1.day }
    }

    /// What had happened on a day of a scan, nil if nothing had or the day is outside the bounds.
    ///
    /// - Complexity: O(log *n*).
    package func activity(onDay row: Int, from first: CalendarDay?, to last: CalendarDay?, asOf position: Position) -> ActivityDay? {
        let first = first ?? CalendarDay(daysSince1970: .min)
        let last = last ?? CalendarDay(daysSince1970: .max)
        guard first <= last else { return nil }
        return views.activity.day(
            row, in: first...last, asOf: position, messageCount: messageCount(asOf: position), replyCount: replyCount(asOf: position))
    }
}
