#if Server
    /// Memory that clients make the server hold, by client and all together.
    ///
    /// Who is signed in has a share of their own, of which a part is always there: a client that
    /// withholds the last byte of a body, or does not read an answer, keeps no other user from the
    /// chat.
    struct ClientBudget: Sendable {
        /// The bytes of all clients.
        var maximum = 112 << 20
        /// The bytes of these that only users within their minimum get.
        var reserve = 16 << 20
        /// The bytes of all clients without a session.
        var anonymousMaximum = 32 << 20
        /// The bytes of one user.
        var userMaximum = 48 << 20
        /// The bytes that a user has, also if all together have taken everything but the reserve.
        var userMinimum = 512 << 10
        /// The bytes of one address.
        var addressMaximum = 4 << 20

        /// A budget of numbers instead of bytes, for users.
        static func numbers(userMaximum: Int) -> ClientBudget {
            var budget = ClientBudget()
            (budget.maximum, budget.reserve, budget.userMaximum, budget.userMinimum) = (.max, 0, userMaximum, 0)
            return budget
        }

        private(set) var byteCount = 0
        private var anonymousCount = 0
        private var counts: [Client: Int] = [:]

        /// Takes bytes; returns false if the client, or all together, have no more.
        mutating func take(_ byteCount: Int, by client: Client) -> Bool {
            guard isWithin(client, beside: byteCount) else { return false }
            add(byteCount, to: client)
            return true
        }

        /// Takes bytes that exist already, and may be more than there are.
        mutating func add(_ byteCount: Int, to client: Client) {
            self.byteCount += byteCount
            if client.isAnonymous { anonymousCount += byteCount }
            counts[client, default: 0] += byteCount
        }

        /// Gives back bytes that the client has taken.
        mutating func giveBack(_ byteCount: Int, by client: Client) {
            self.byteCount -= byteCount
            if client.isAnonymous { anonymousCount -= byteCount }
            let rest = counts[client, default: 0] - byteCount
            counts[client] = rest == 0 ? nil : rest
        }

        /// Whether a client has no more than it may, with some bytes more.
        func isWithin(_ client: Client, beside more: Int = 0) -> Bool {
            let bytes = counts[client, default: 0] + more
            let isMinimum = !client.isAnonymous && bytes <= userMinimum
            return bytes <= maximum(of: client) && byteCount + more <= (isMinimum ? maximum : maximum - reserve)
                && (!client.isAnonymous || anonymousCount + more <= anonymousMaximum)
        }

        /// Whether a client has an eighth of what it may: making room looks at every connection,
        /// and must not be needed again soon.
        func hasRoom(for client: Client) -> Bool { isWithin(client, beside: maximum(of: client) / 8) }

        /// Whether all together have more than they may beside the reserve.
        var isExceeded: Bool { byteCount > maximum - reserve }

        private func maximum(of client: Client) -> Int {
            switch client {
            case .user: userMaximum
            case .address: addressMaximum
            case .shared: anonymousMaximum
            }
        }
    }
#endif
