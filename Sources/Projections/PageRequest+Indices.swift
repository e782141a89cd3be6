package import ChatDomain
package import ChatValues

extension PageRequest {
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
        return after == nil
            ? max(lower, upper - min(limit, upper))..<upper : lower..<min(upper, lower + min(limit, upper - lower))
    }
}
