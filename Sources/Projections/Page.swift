public import ChatDomain
import Columns

/// Which part of a list that is ordered by position to show, oldest first.
///
/// With neither bound, or ``before`` alone, the page holds the latest entries (before that position); with ``after`` the earliest after it. Both bounds are exclusive, so
/// the first and last position of a page are the bounds for the pages on either side of it, and a page does not shift while messages arrive.
public struct Page: Hashable, Sendable {
    /// How many entries at most; a negative limit is taken as 0.
    public var limit: Int
    /// Only entries at smaller positions.
    public var before: Position?
    /// Only entries at greater positions, and the earliest of them.
    public var after: Position?

    /// Makes a page.
    public init(limit: Int = 50, before: Position? = nil, after: Position? = nil) {
        self.limit = limit
        self.before = before
        self.after = after
    }

    /// Finds the page in a list whose positions ascend.
    ///
    /// - Parameters:
    ///   - count: The length of the list.
    ///   - position: The position of the entry at an index.
    /// - Returns: The indices of the page.
    /// - Complexity: O(log *n*) calls of `position`.
    func indices(count: Int, position: (Int) -> Position) -> Range<Int> {
        let limit = max(0, limit)
        let lower = after.map { bound in partition(count) { position($0) > bound } } ?? 0
        let upper = max(lower, before.map { bound in partition(count) { position($0) >= bound } } ?? count)
        return after == nil ? max(lower, upper - min(limit, upper))..<upper : lower..<min(upper, lower + min(limit, upper - lower))
    }
}
