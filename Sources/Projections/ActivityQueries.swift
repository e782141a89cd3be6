public import ChatDomain

extension ReadModels {
    /// What happened on each day, in the order of the calendar; a day on which nothing happened is left out.
    ///
    /// - Parameters:
    ///   - first: The first day to show, nil for all from the beginning.
    ///   - last: The last day to show, nil for all to the end.
    ///   - position: What stands after it is not counted.
    /// - Complexity: O(*d* log *n*), where *d* is the number of days that there are.
    public func activity(from first: Day? = nil, to last: Day? = nil, asOf position: Position) -> [ActivityDay] {
        let first = first ?? Day(daysSince1970: .min)
        let last = last ?? Day(daysSince1970: .max)
        guard first <= last else { return [] }
        return views.activity.days(
            in: first...last, asOf: position, messageCount: messageCount(asOf: position), replyCount: replyCount(asOf: position))
    }
}
