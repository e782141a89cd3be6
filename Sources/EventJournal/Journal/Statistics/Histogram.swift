extension JournalStatistics {
    /// How many values fell into which range, where the ranges' upper bounds are powers of two.
    ///
    /// A value of a fixed number of counters: counting takes a few nanoseconds and no memory, and says of any quantile what it is to within
    /// a factor of two. The unit is that of whoever counts.
    ///
    ///     var sizes = JournalStatistics.Histogram(powersOfTwo: 0...20)
    ///     for size in [3, 5, 900] { sizes.record(size) }
    ///     sizes.quantile(0.5)  // 8: at least half of the values are at most 8
    public struct Histogram: Sendable {
        /// The exponent of the first bucket's upper bound.
        let smallestExponent: Int
        /// How many buckets are in use, the one for the values beyond the last bound included.
        private let bucketCount: Int
        /// How many values each bucket has.
        ///
        /// In place, so that neither counting nor copying allocates; 64 are enough for every power of two.
        private var tallies = InlineArray<64, UInt64>(repeating: 0)
        /// How many values were counted.
        public private(set) var count: UInt64 = 0
        /// The sum of the values; it stays at the greatest number rather than run over.
        public private(set) var sum: UInt64 = 0
        /// The greatest value, 0 when there is none.
        public private(set) var maximum: UInt64 = 0

        /// Makes an empty histogram whose buckets end at these powers of two; one more takes what is beyond them.
        ///
        /// - Precondition: The exponents lie in 0...62.
        public init(powersOfTwo exponents: ClosedRange<Int>) {
            precondition(exponents.lowerBound >= 0 && exponents.upperBound <= 62, "the bounds are powers of two that fit in 63 bits")
            smallestExponent = exponents.lowerBound
            bucketCount = exponents.count + 1
        }

        /// Counts a value.
        ///
        /// - Complexity: O(1).
        public mutating func record(_ value: UInt64) {
            // The exponent of the least power of two that is not below the value.
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
    /// A range of values and how many fell into it.
    public struct Bucket: Hashable, Sendable {
        /// The greatest value that belongs here; nil in the last bucket, which takes everything beyond the one before.
        public let upperBound: UInt64?
        /// How many values are here and in no earlier bucket.
        public let count: UInt64
    }

    /// All buckets, the smallest values first.
    public var buckets: [Bucket] {
        (0..<bucketCount).map { Bucket(upperBound: upperBound(of: $0), count: tallies[$0]) }
    }

    /// The mean of the values, 0 when there is none.
    public var mean: Double { count == 0 ? 0 : Double(sum) / Double(count) }

    /// A value that at least this fraction of all values does not exceed: an estimate of the quantile, such as 0.99.
    ///
    /// The estimate is the upper bound of the bucket that holds the exact quantile (the value of rank ⌈fraction × count⌉, the least of
    /// rank 1), or the greatest value if that is less. So it is never below the exact quantile; it is less than twice the exact one where
    /// that lies above the first bucket's bound; within the first bucket it is at most that bound, and beyond the last one the greatest
    /// value.
    ///
    /// - Parameter fraction: 0 to 1; taken as the nearer of these when outside.
    /// - Returns: nil when nothing was counted.
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
    /// Whether both have the same bounds and have counted values of the same buckets, sum and maximum.
    public static func == (left: Self, right: Self) -> Bool {
        left.sum == right.sum && left.maximum == right.maximum && left.buckets == right.buckets
    }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(sum)
        hasher.combine(maximum)
        hasher.combine(buckets)
    }
}

extension JournalStatistics.Histogram: Codable {
    private enum CodingKeys: CodingKey { case count, sum, maximum, firstBound, counts }

    /// Reads a histogram.
    ///
    /// - Throws: `DecodingError.dataCorrupted` when `firstBound` is no power of two, the bounds do not fit in 63 bits, or the counts do not
    ///   add up to `count`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let firstBound = try container.decode(UInt64.self, forKey: .firstBound)
        let counts = try container.decode([UInt64].self, forKey: .counts)
        let exponent = firstBound.trailingZeroBitCount
        guard firstBound.nonzeroBitCount == 1, counts.count >= 2, exponent + counts.count - 2 <= 62 else {
            throw DecodingError.dataCorruptedError(
                forKey: .firstBound, in: container, debugDescription: "the bounds are not powers of two that fit in 63 bits")
        }
        self.init(powersOfTwo: exponent...(exponent + counts.count - 2))
        count = try container.decode(UInt64.self, forKey: .count)
        sum = try container.decode(UInt64.self, forKey: .sum)
        maximum = try container.decode(UInt64.self, forKey: .maximum)
        // Down from the count, so that no sum can run over.
        var left = count
        var fits = true
        for (index, inBucket) in counts.enumerated() {
            tallies[index] = inBucket
            fits = fits && inBucket <= left
            left &-= inBucket
        }
        guard fits, left == 0 else {
            throw DecodingError.dataCorruptedError(forKey: .counts, in: container, debugDescription: "the counts do not add up to count")
        }
    }

    /// Writes `{"count":3,"sum":908,"maximum":900,"firstBound":1,"counts":[0,0,1,1,...]}`: bucket *i* ends at `firstBound` × 2^*i*, the
    /// last one has no end.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(count, forKey: .count)
        try container.encode(sum, forKey: .sum)
        try container.encode(maximum, forKey: .maximum)
        try container.encode(1 << UInt64(smallestExponent), forKey: .firstBound)
        try container.encode(buckets.map(\.count), forKey: .counts)
    }
}
