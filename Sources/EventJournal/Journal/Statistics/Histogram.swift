extension JournalStatistics {
    /// The distribution of values over ranges whose upper bounds are powers of two.
    ///
    /// The number of counters is fixed: counting does not allocate, and every quantile is known to
    /// within a factor of two. The unit is the caller's.
    ///
    ///     var sizes = JournalStatistics.Histogram(powersOfTwo: 0...20)
    ///     for size in [3, 5, 900] { sizes.record(size) }
    ///     sizes.quantile(0.5)  // 8: at least half of the values are at most 8
    public struct Histogram: Sendable {
        /// The exponent of the first bucket's upper bound.
        let smallestExponent: Int
        /// The number of buckets in use, including the last one, which has no upper bound.
        private let bucketCount: Int
        /// The number of values in each bucket.
        ///
        /// Stored inline, so that neither counting nor copying allocates; 64 buckets suffice for
        /// every power of two.
        private var tallies = InlineArray<64, UInt64>(repeating: 0)
        /// The number of values.
        public private(set) var count: UInt64 = 0
        /// The sum of the values, clamped to `UInt64.max`.
        public private(set) var sum: UInt64 = 0
        /// The maximum value, or 0 when there are no values.
        public private(set) var maximum: UInt64 = 0

        /// Creates an empty histogram whose buckets end at these powers of two, plus one unbounded
        /// bucket.
        ///
        /// - Precondition: The exponents lie in 0...62.
        public init(powersOfTwo exponents: ClosedRange<Int>) {
            precondition(
                exponents.lowerBound >= 0 && exponents.upperBound <= 62,
                "the bounds are powers of two that fit in 63 bits")
            smallestExponent = exponents.lowerBound
            bucketCount = exponents.count + 1
        }

        /// Counts a value.
        ///
        /// - Complexity: O(1).
        public mutating func record(_ value: UInt64) {
            // The exponent of the smallest power of two not less than the value.
            let exponent = value <= 1 ? 0 : UInt64.bitWidth - (value - 1).leadingZeroBitCount
            tallies[min(max(exponent - smallestExponent, 0), bucketCount - 1)] &+= 1
            count &+= 1
            let (total, overflow) = sum.addingReportingOverflow(value)
            sum = overflow ? .max : total
            if value > maximum { maximum = value }
        }
    }
}

extension JournalStatistics.Histogram {
    /// A range of values and its count.
    public struct Bucket: Hashable, Sendable {
        /// The greatest value of the range; nil for the last bucket, which has no upper bound.
        public let upperBound: UInt64?
        /// The number of values in this bucket, not cumulative.
        public let count: UInt64
    }

    /// All buckets, in ascending order of their bounds.
    public var buckets: [Bucket] {
        (0..<bucketCount).map { Bucket(upperBound: upperBound(of: $0), count: tallies[$0]) }
    }

    /// The mean of the values, or 0 when there are no values.
    public var mean: Double { count == 0 ? 0 : Double(sum) / Double(count) }

    /// Returns an estimate of a quantile: a value that at least this fraction of the values does
    /// not exceed.
    ///
    /// The exact quantile is the value of rank ⌈fraction × count⌉, at least rank 1. The estimate is
    /// the upper bound of its bucket, or ``maximum`` if that is less. So the estimate is never less
    /// than the exact quantile. It is less than twice the exact quantile, except in the first
    /// bucket, where it is at most that bucket's bound. In the last bucket it is ``maximum``.
    ///
    /// - Parameter fraction: Clamped to 0...1.
    /// - Returns: nil if there are no values.
    /// - Complexity: Linear in the number of buckets.
    public func quantile(_ fraction: Double) -> UInt64? {
        guard count > 0 else { return nil }
        let exact = (min(fraction > 0 ? fraction : 0, 1) * Double(count)).rounded(.up)
        var left = max(1, min(UInt64(exactly: exact) ?? count, count))
        for bucket in buckets {
            if left <= bucket.count { return min(bucket.upperBound ?? maximum, maximum) }
            left -= bucket.count
        }
        return maximum
    }

    private func upperBound(of index: Int) -> UInt64? {
        index == bucketCount - 1 ? nil : 1 << UInt64(smallestExponent + index)
    }
}

extension JournalStatistics.Histogram: Hashable {
    /// Whether both have the same bounds, counts, sum and maximum.
    public static func == (left: Self, right: Self) -> Bool {
        left.sum == right.sum && left.maximum == right.maximum && left.buckets == right.buckets
    }

    /// Hashes the values that `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(sum)
        hasher.combine(maximum)
        hasher.combine(buckets)
    }
}

extension JournalStatistics.Histogram: Codable {
    private enum CodingKeys: CodingKey { case count, sum, maximum, firstBound, counts }

    /// Decodes a histogram.
    ///
    /// - Throws: `DecodingError.dataCorrupted` when `firstBound` is not a power of two, the bounds
    ///   do not fit in 63 bits, or the counts do not add up to `count`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let firstBound = try container.decode(UInt64.self, forKey: .firstBound)
        let counts = try container.decode([UInt64].self, forKey: .counts)
        let exponent = firstBound.trailingZeroBitCount
        guard firstBound.nonzeroBitCount == 1, counts.count >= 2, exponent + counts.count - 2 <= 62 else {
            throw DecodingError.dataCorruptedError(
                forKey: .firstBound, in: container,
                debugDescription: "the bounds are not powers of two that fit in 63 bits")
        }
        self.init(powersOfTwo: exponent...(exponent + counts.count - 2))
        count = try container.decode(UInt64.self, forKey: .count)
        sum = try container.decode(UInt64.self, forKey: .sum)
        maximum = try container.decode(UInt64.self, forKey: .maximum)
        // Subtracts from the count, because a sum could overflow.
        var left = count
        var fits = true
        for (index, inBucket) in counts.enumerated() {
            tallies[index] = inBucket
            fits = fits && inBucket <= left
            left &-= inBucket
        }
        guard fits, left == 0 else {
            throw DecodingError.dataCorruptedError(
                forKey: .counts, in: container, debugDescription: "the counts do not add up to count")
        }
    }

    /// Encodes the counts without the bounds of their buckets.
    ///
    /// The result is `{"count":3,"sum":908,"maximum":900,"firstBound":1,"counts":[0,0,1,1,...]}`.
    /// Bucket *i* ends at `firstBound` × 2^*i*; the last one has no upper bound.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(count, forKey: .count)
        try container.encode(sum, forKey: .sum)
        try container.encode(maximum, forKey: .maximum)
        try container.encode(1 << UInt64(smallestExponent), forKey: .firstBound)
        try container.encode(buckets.map(\.count), forKey: .counts)
    }
}
