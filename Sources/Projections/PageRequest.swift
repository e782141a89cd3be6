public import ChatDomain

/// A range of a list ordered by position; the page is returned oldest entry first.
///
/// Without bounds, or with ``before`` alone, the page holds the latest entries (before that
/// position). With ``after`` it holds the earliest entries after that position. With ``around`` it
/// holds entries on both sides of a position, including the entry at it. ``before`` and ``after``
/// are exclusive, so the first and last positions of a page are the bounds of the adjacent pages. A
/// page does not shift while messages arrive.
///
/// Bounds can be combined. With ``before`` and ``after`` the page holds the earliest entries
/// between them. With ``around`` and a bound, the halves end at the bound, and a centre beyond it
/// counts as the bound.
public struct PageRequest: Hashable, Sendable {
    /// The maximum number of entries; a negative limit counts as 0.
    public var limit: Int
    /// The exclusive upper bound; nil for none.
    public var before: Position?
    /// The exclusive lower bound; the page then holds the earliest entries after it.
    public var after: Position?
    /// The centre of the page: half of the entries precede it, half start at it.
    ///
    /// With an odd limit, the later half is larger. A short half is not compensated by the other
    /// half, so the earlier half stays stable while messages arrive. The position may be that of
    /// any event, such as an edit or the last event before a time.
    public var around: Position?

    /// Every entry of a list.
    public static let all = PageRequest(limit: .max)

    /// Creates a page request.
    public init(limit: Int = 50, before: Position? = nil, after: Position? = nil, around: Position? = nil) {
        self.limit = limit
        self.before = before
        self.after = after
        self.around = around
    }

    /// Returns the indices of the page in a list of ascending positions.
    ///
    /// - Parameters:
    ///   - count: The length of the list.
    ///   - position: Returns the position of the entry at an index.
    /// - Returns: The indices of the page.
    /// - Complexity: O(log *n*) calls of `position`.
    @inline(__always)
    package func indices(count: Int, position: (Int) -> Position) -> Range<Int> {
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
