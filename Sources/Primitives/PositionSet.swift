/// A set of positions, as ascending ranges that neither overlap nor touch.
public struct PositionSet: Hashable, Sendable {
    /// The ranges, ascending.
    public private(set) var ranges: [ClosedRange<Position>] = []

    /// Creates an empty set.
    public init() {}

    /// Creates the set of all positions in some ranges, which may overlap and come in any order.
    ///
    /// - Complexity: O(*n* log *n*) in the number of ranges.
    public init(_ ranges: some Sequence<ClosedRange<Position>>) {
        for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) { append(range) }
    }

    /// Whether the set has no positions.
    public var isEmpty: Bool { ranges.isEmpty }

    /// The number of positions.
    public var count: UInt64 { ranges.reduce(0) { $0 &+ ($1.upperBound - $1.lowerBound) &+ 1 } }

    /// Whether a position is in the set.
    ///
    /// - Complexity: O(log *n*) in the number of ranges.
    public func contains(_ position: Position) -> Bool {
        let next = ranges.partitioningIndex { $0.lowerBound > position }
        return next > 0 && ranges[next - 1].upperBound >= position
    }

    /// Returns the positions of the set within a range.
    public func clamped(to range: ClosedRange<Position>) -> PositionSet {
        var result = PositionSet()
        let first = ranges.partitioningIndex { $0.upperBound >= range.lowerBound }
        let end = ranges.partitioningIndex { $0.lowerBound > range.upperBound }
        if first < end { result.ranges = ranges[first..<end].map { $0.clamped(to: range) } }
        return result
    }

    /// Adds a position that is not less than any in the set.
    ///
    /// - Complexity: O(1) amortised.
    public mutating func append(_ position: Position) { append(position...position) }

    /// Adds the positions of another set.
    ///
    /// - Complexity: O(*n* log *n*) in the number of ranges.
    public mutating func formUnion(_ other: PositionSet) { self = PositionSet(ranges + other.ranges) }

    /// Adds a range that does not begin before the last one.
    private mutating func append(_ range: ClosedRange<Position>) {
        guard let last = ranges.last, range.lowerBound <= last.upperBound || range.lowerBound == last.upperBound + 1 else {
            ranges.append(range)
            return
        }
        ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
    }
}
