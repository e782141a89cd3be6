package import ChatDomain

extension ReadModels {
    /// Returns the activity of each day, in calendar order; days without activity are omitted.
    ///
    /// - Parameters:
    ///   - first: The first day; nil for no lower bound.
    ///   - last: The last day; nil for no upper bound.
    ///   - position: The last position counted.
    /// - Complexity: O(*d* log *n*), where *d* is the number of days with activity.
    package func activity(from first: CalendarDay? = nil, to last: CalendarDay? = nil, asOf position: Position) -> [ActivityDay] {
        compactMap(scanOfDays()) { activity(onDay: $0, from: first, to: last, asOf: position) }.sorted { $0.day < $1.day }
    }

    /// Returns the activity of a day in a scan; nil without activity or outside the bounds.
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
