/// What of a reading is still to be done: ranges of positions, none of which begins before the one before it does.
struct PositionList {
    /// How many ranges are taken out together at most: they are looked up under the journal's lock.
    static let portion = 256

    private var ranges: [ClosedRange<Position>]
    private var next = 0

    init(_ ranges: [ClosedRange<Position>]) { self.ranges = ranges }

    var isEmpty: Bool { next == ranges.count }

    /// From the first position to the last; there has to be one.
    var bounds: ClosedRange<Position> { ranges[next].lowerBound...ranges[ranges.count - 1].upperBound }

    /// Takes out what does not lie beyond a position, or a portion of it.
    mutating func take(through last: Position) -> [ClosedRange<Position>] {
        let first = next
        let end = min(first + Self.portion, ranges.count)
        while next < end, ranges[next].upperBound <= last { next += 1 }
        var taken = Array(ranges[first..<next])
        if next < end, ranges[next].lowerBound <= last {
            taken.append(ranges[next].lowerBound...last)
            ranges[next] = last + 1...ranges[next].upperBound
        }
        return taken
    }
}
