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
    ///
    /// - Complexity: O(*n*) in the number of ranges.
    public var count: UInt64 { ranges.reduce(0) { $0 &+ ($1.upperBound - $1.lowerBound) &+ 1 } }

    /// Whether a position is in the set.
    ///
    /// - Complexity: O(log *n*) in the number of ranges.
    public func contains(_ position: Position) -> Bool {
        let next = ranges.partitioningIndex { $0.lowerBound > position }
        return next > 0 && ranges[next - 1].upperBound >= position
    }

    /// Returns the positions of the set within a range.
    ///
    /// - Complexity: O(log *n*) in the number of ranges, plus the number of ranges of the result.
    public func clamped(to range: ClosedRange<Position>) -> PositionSet {
        var result = PositionSet()
        let first = ranges.partitioningIndex { $0.upperBound >= range.lowerBound }
        let end = ranges.partitioningIndex { $0.lowerBound > range.upperBound }
        if first < end { result.ranges = ranges[first..<end].map { $0.clamped(to: range) } }
        return result
    }

    /// Adds a position after those of the set.
    ///
    /// - Precondition: The position is not less than any position in the set.
    /// - Complexity: O(1) amortised.
    public mutating func append(_ position: Position) {
        if let last = ranges.last {
            precondition(position >= last.upperBound, "the position is less than one in the set")
        }
        append(position...position)
    }

    /// Adds the positions of another set.
    ///
    /// - Complexity: O(*n* log *n*) in the number of ranges.
    public mutating func formUnion(_ other: PositionSet) { self = PositionSet(ranges + other.ranges) }

    /// Returns the positions of the set that are not in another one.
    ///
    /// - Complexity: O(*n*) in the number of ranges of both.
    public func subtracting(_ other: PositionSet) -> PositionSet {
        var result = PositionSet()
        var removed = other.ranges[...]
        for range in ranges {
            var rest: ClosedRange<Position>? = range
            while let left = rest, let next = removed.first, next.lowerBound <= left.upperBound {
                if next.lowerBound > left.lowerBound { result.ranges.append(left.lowerBound...next.lowerBound - 1) }
                // A range that goes beyond this one can also concern the next one.
                guard next.upperBound < left.upperBound else {
                    rest = nil
                    break
                }
                rest = max(left.lowerBound, next.upperBound + 1)...left.upperBound
                removed.removeFirst()
            }
            if let rest { result.ranges.append(rest) }
        }
        return result
    }

    /// Adds a range that does not begin before the last one.
    private mutating func append(_ range: ClosedRange<Position>) {
        guard let last = ranges.last, range.lowerBound <= last.upperBound || range.lowerBound == last.upperBound + 1
        else {
            ranges.append(range)
            return
        }
        ranges[ranges.count - 1] = last.lowerBound...max(last.upperBound, range.upperBound)
    }
}

extension PositionSet: Codable {
    /// Decodes an array of ranges, each an array of its first and last position.
    ///
    /// - Throws: `DecodingError.dataCorrupted` for a range that does not have two positions, from
    ///   1, in ascending order.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        self.init(
            try container.decode([[Position]].self).map { bounds in
                guard bounds.count == 2, bounds[0] >= 1, bounds[0] <= bounds[1] else {
                    throw DecodingError.dataCorruptedError(
                        in: container, debugDescription: "not a range of positions, such as [3,7]")
                }
                return bounds[0]...bounds[1]
            })
    }

    /// Encodes the ranges, for example as `[[1,3],[7,7]]`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(ranges.map { [$0.lowerBound, $0.upperBound] })
    }
}
