public import ChatDomain
import Columns

/// Which part of a list that is ordered by position to show, oldest first.
///
/// Without anything, or with ``before`` alone, the page holds the latest entries (before that position); with ``after`` the earliest after it; with ``around`` those on
/// either side of a position, the entry at it included. ``before`` and ``after`` are exclusive, so the first and last position of a page are the bounds for the pages on
/// either side of it, and a page does not shift while messages arrive.
public struct PageRequest: Hashable, Sendable {
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
    @inline(__always)
    func indices(count: Int, position: (Int) -> Position) -> Range<Int> {
        let limit = max(0, limit)
        let lower = after.map { $0 == .max ? count : firstIndex(of: count, from: $0 + 1, position) } ?? 0
        let upper = max(lower, before.map { firstIndex(of: count, from: $0, position) } ?? count)
        if let around {
            let middle = min(upper, max(lower, firstIndex(of: count, from: around, position)))
            let older = limit / 2
            return middle - min(older, middle - lower)..<middle + min(limit - older, upper - middle)
        }
        return after == nil ? max(lower, upper - min(limit, upper))..<upper : lower..<min(upper, lower + min(limit, upper - lower))
    }
}

/// The first of so many indices, along which positions ascend, at which the position is not below a bound; their count if it is below at all of them.
///
/// It looks first where the position would be if they were evenly spread (interpolation search: Peterson, 1957), as messages over a stretch of time nearly are: in a list
/// that has left the caches each look takes longer than all that it decides, and halving takes twenty in a list of a million.
///
/// - Complexity: O(log *n*) calls of `position`, and O(log log *n*) where they are evenly spread.
@inline(__always)
func firstIndex(of count: Int, from bound: Position, _ position: (Int) -> Position) -> Int {
    if count == 0 { return 0 }
    // The one that is looked for lies above `low` and not above `high`.
    var (low, high) = (0, count - 1)
    var (lowest, highest) = (position(low), position(high))
    if lowest >= bound { return 0 }
    if highest < bound { return count }
    var guesses = 8
    while high - low > 1 {
        var middle = low + (high - low) / 2
        if guesses > 0, high - low > 8 {
            let share = Double(bound - lowest) / Double(highest - lowest)
            middle = min(high - 1, max(low + 1, low + Int(share * Double(high - low))))
            guesses -= 1
        }
        let found = position(middle)
        if found < bound { (low, lowest) = (middle, found) } else { (high, highest) = (middle, found) }
    }
    return high
}
