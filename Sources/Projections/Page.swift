public import ChatDomain
import Columns

/// Which part of a list that is ordered by position to show, oldest first.
///
/// Without anything, or with ``before`` alone, the page holds the latest entries (before that position); with ``after`` the earliest after it; with ``around`` those on
/// either side of a position, the entry at it included. ``before`` and ``after`` are exclusive, so the first and last position of a page are the bounds for the pages on
/// either side of it, and a page does not shift while messages arrive.
public struct Page: Hashable, Sendable {
    /// How many entries at most; a negative limit is taken as 0.
    public var limit: Int
    /// Only entries at smaller positions.
    public var before: Position?
    /// Only entries at greater positions, and the earliest of them.
    public var after: Position?
    /// Half of the entries from before this position, and half from it on; of an odd limit the greater half is the later one.
    ///
    /// What one side lacks the other does not make up for, so that the earlier half stays as it is while messages arrive. The position need not be that of an entry: any
    /// event will do, such as an edit of a message or the last event before a time.
    public var around: Position?

    /// Makes a page.
    public init(limit: Int = 50, before: Position? = nil, after: Position? = nil, around: Position? = nil) {
        self.limit = limit
        self.before = before
        self.after = after
        self.around = around
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
        if let around {
            let middle = min(upper, max(lower, partition(count) { position($0) >= around }))
            let older = limit / 2
            return middle - min(older, middle - lower)..<middle + min(limit - older, upper - middle)
        }
        return after == nil ? max(lower, upper - min(limit, upper))..<upper : lower..<min(upper, lower + min(limit, upper - lower))
    }
}
