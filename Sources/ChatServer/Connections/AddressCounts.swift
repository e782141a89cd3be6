#if Server
    internal import ChatAccounts

    /// The number of connections of each address.
    struct AddressCounts {
        private let maximum: Int
        private let isExempt: @Sendable (ClientAddress) -> Bool
        private var counts: [ClientAddress: Int] = [:]

        /// Creates the counts; an exempt address has no maximum.
        init(maximum: Int, isExempt: @escaping @Sendable (ClientAddress) -> Bool) {
            (self.maximum, self.isExempt) = (maximum, isExempt)
        }

        /// Counts a connection; returns false if its address has too many already.
        mutating func add(_ peer: ClientAddress?) -> Bool {
            guard let peer, !isExempt(peer) else { return true }
            guard counts[peer, default: 0] < maximum else { return false }
            counts[peer, default: 0] += 1
            return true
        }

        mutating func remove(_ peer: ClientAddress?) {
            guard let peer, let count = counts[peer] else { return }
            counts[peer] = count == 1 ? nil : count - 1
        }
    }
#endif
