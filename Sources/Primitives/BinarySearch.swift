extension RandomAccessCollection {
    /// Returns the index of the first element that satisfies a condition, or `endIndex` if none.
    ///
    /// - Precondition: Once an element satisfies the condition, all later elements do.
    /// - Complexity: O(log *n*) calls of the condition.
    @inlinable @inline(__always)
    package func partitioningIndex<Failure: Error>(where condition: (Element) throws(Failure) -> Bool) throws(Failure)
        -> Index
    {
        var lower = startIndex
        var count = count
        while count > 0 {
            let half = count / 2
            let middle = index(lower, offsetBy: half)
            if try condition(self[middle]) {
                count = half
            } else {
                lower = index(after: middle)
                count -= half + 1
            }
        }
        return lower
    }
}
