#if Server
    /// Memory that clients make the server hold.
    ///
    /// Who is signed in pays with a share of their own, of which a part is always there: a client
    /// that withholds the last byte of a body, or does not read an answer, keeps no other user from
    /// the chat.
    struct ClientBudget {
        /// The bytes of all clients.
        let maximum: Int
        /// The bytes of all clients without a session.
        var anonymousMaximum = 0
        /// The bytes of one user.
        let userMaximum: Int
        /// The bytes that each user has, also if all together have no more.
        let userMinimum: Int
        /// The bytes of one address.
        var addressMaximum = 0

        /// The bodies that are being read.
        static let bodies = ClientBudget(
            maximum: 32 << 20, anonymousMaximum: 8 << 20, userMaximum: 8 << 20, userMinimum: 64 << 10,
            addressMaximum: 512 << 10)
        /// The answers to users that are not read.
        static let answers = ClientBudget(maximum: 128 << 20, userMaximum: 16 << 20, userMinimum: 1 << 20)

        private var count = 0
        private var anonymousCount = 0
        private var counts: [Client: Int] = [:]

        init(maximum: Int, anonymousMaximum: Int = 0, userMaximum: Int, userMinimum: Int, addressMaximum: Int = 0) {
            (self.maximum, self.anonymousMaximum, self.addressMaximum) = (maximum, anonymousMaximum, addressMaximum)
            (self.userMaximum, self.userMinimum) = (userMaximum, userMinimum)
        }

        /// Takes bytes; returns false if the client, or all together, have no more.
        mutating func take(_ byteCount: Int, by client: Client) -> Bool {
            let clients = counts[client, default: 0] + byteCount
            let isMinimum = !client.isAnonymous && clients <= userMinimum
            guard clients <= maximum(of: client), isMinimum || count + byteCount <= maximum else { return false }
            guard !client.isAnonymous || anonymousCount + byteCount <= anonymousMaximum else { return false }
            add(byteCount, to: client)
            return true
        }

        /// Takes bytes that exist already, and may be more than there are.
        mutating func add(_ byteCount: Int, to client: Client) {
            count += byteCount
            if client.isAnonymous { anonymousCount += byteCount }
            counts[client, default: 0] += byteCount
        }

        /// Whether a client with a session has bytes left.
        func hasRoom(for client: Client) -> Bool {
            let bytes = counts[client, default: 0]
            return bytes < userMaximum && (bytes < userMinimum || count < maximum)
        }

        /// Gives back bytes that the client has taken.
        mutating func giveBack(_ byteCount: Int, by client: Client) {
            count -= byteCount
            if client.isAnonymous { anonymousCount -= byteCount }
            let rest = counts[client, default: 0] - byteCount
            counts[client] = rest == 0 ? nil : rest
        }

        private func maximum(of client: Client) -> Int {
            switch client {
            case .user: userMaximum
            case .address: addressMaximum
            case .shared: anonymousMaximum
            }
        }
    }
#endif
