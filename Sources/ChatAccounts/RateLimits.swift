#if Server
    /// A token bucket: a number of attempts at once, and one more after each interval.
    public struct AttemptLimit: Hashable, Sendable {
        /// The attempts that are possible at once.
        public let burst: Int
        /// The milliseconds after which one more attempt is possible.
        public let intervalMilliseconds: Int64

        /// Creates a limit; at least one attempt, an interval of 1 ms to 30 days.
        public init(burst: Int, intervalMilliseconds: Int64) {
            self.burst = min(max(burst, 1), 1_000_000)
            self.intervalMilliseconds = min(max(intervalMilliseconds, 1), 30 * 86_400_000)
        }
    }

    extension OperationLimits {
        /// The limit of an address: 100 times the burst and the rate on loopback, whose address is
        /// shared.
        func limit(for address: ClientAddress) -> AttemptLimit {
            guard address.isLoopback else { return self.address }
            return AttemptLimit(
                burst: self.address.burst * 100, intervalMilliseconds: self.address.intervalMilliseconds / 100)
        }
    }

    /// The operations with limits of their own.
    enum LimitedOperation: Hashable { case signUp, confirm, signIn, reset }

    /// The token buckets of accounts and addresses: a bounded number, in memory.
    ///
    /// A bucket is stored as the time at which it is full again, so a full bucket needs no entry.
    struct AttemptBuckets {
        enum Key: Hashable {
            case account(LimitedOperation, String)
            case address(LimitedOperation, ClientAddress)
        }

        private var fullAt: [Key: Int64] = [:]
        private let maximumCount: Int

        var count: Int { fullAt.count }

        /// Creates an empty table; beyond `maximumCount` the buckets nearest to full are dropped.
        init(maximumCount: Int = 65_536) { self.maximumCount = maximumCount }

        /// Takes one attempt; returns the milliseconds to wait if none is left.
        mutating func take(_ key: Key, _ limit: AttemptLimit, now: Int64) -> Int64? {
            let full = max(fullAt[key] ?? now, now) + limit.intervalMilliseconds
            let wait = full - now - Int64(limit.burst) * limit.intervalMilliseconds
            guard wait <= 0 else { return wait }
            if fullAt[key] == nil && fullAt.count >= maximumCount { shrink(now: now) }
            fullAt[key] = full
            return nil
        }

        /// Keeps the half of the buckets that are farthest from full.
        private mutating func shrink(now: Int64) {
            let kept = fullAt.filter { $0.value > now }.sorted { $0.value > $1.value }.prefix(maximumCount / 2)
            fullAt = Dictionary(uniqueKeysWithValues: kept.map { ($0.key, $0.value) })
        }
    }
#endif
