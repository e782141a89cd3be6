import ChatDomain
import Primitives

/// Returns the first index whose position is at least a bound, or `count` if none is; positions
/// ascend.
///
/// Uses interpolation search (Peterson, 1957), because positions are almost evenly spread and each
/// probe of a large list is a cache miss. After eight probes it falls back to binary search.
///
/// - Complexity: O(log *n*) calls of `position`; O(log log *n*) for evenly spread positions.
@inline(__always)
func firstIndex(of count: Int, from bound: Position, _ position: (Int) -> Position) -> Int {
    if count == 0 { return 0 }
    // Invariant: the position at `low` is below the bound, the position at `high` is not.
    var (low, high) = (0, count - 1)
    var (lowest, highest) = (position(low), position(high))
    if lowest >= bound { return 0 }
    if highest < bound { return count }
    var guesses = 8
    while guesses > 0, high - low > 8 {
        let share = Double(bound - lowest) / Double(highest - lowest)
        let guess = min(high - 1, max(low + 1, low + Int(share * Double(high - low))))
        let found = position(guess)
        if found < bound { (low, lowest) = (guess, found) } else { (high, highest) = (guess, found) }
        guesses -= 1
    }
    return (low + 1..<high).partitioningIndex { position($0) >= bound }
}
