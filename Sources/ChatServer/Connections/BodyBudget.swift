#if Server
    internal import ChatAccounts
    internal import ChatDomain

    /// The memory of the bodies that are being read.
    ///
    /// Who is signed in pays with a share of their own, of which a part is always there, so that clients
    /// that withhold the last byte of a body keep no other user from posting.
    struct BodyBudget {
        /// Who sends a body.
        enum Payer: Hashable, Sendable {
            case user(UserID)
            /// A client without a session at an address of its own.
            case address(ClientAddress)
            /// Clients without a session at an address that many can share, or at none.
            case shared
        }

        /// The bytes of all bodies.
        static let maximum = 64 << 20
        /// The bytes of all bodies of clients without a session.
        static let anonymousMaximum = 8 << 20
        /// The bytes of the bodies of one user.
        static let userMaximum = 8 << 20
        /// The bytes that each user has, also if all together have no more.
        static let userMinimum = 64 << 10
        /// The bytes of the bodies of one address.
        static let addressMaximum = 512 << 10

        private var count = 0
        private var anonymousCount = 0
        private var counts: [Payer: Int] = [:]

        /// Takes bytes; returns false if the payer, or all together, have no more.
        mutating func take(_ byteCount: Int, from payer: Payer) -> Bool {
            let payers = counts[payer, default: 0] + byteCount
            let isMinimum = !payer.isAnonymous && payers <= Self.userMinimum
            guard payers <= Self.maximum(of: payer), isMinimum || count + byteCount <= Self.maximum else { return false }
            if payer.isAnonymous {
                guard anonymousCount + byteCount <= Self.anonymousMaximum else { return false }
                anonymousCount += byteCount
            }
            count += byteCount
            counts[payer] = payers
            return true
        }

        /// Gives back bytes that the payer has taken.
        mutating func giveBack(_ byteCount: Int, to payer: Payer) {
            count -= byteCount
            if payer.isAnonymous { anonymousCount -= byteCount }
            let rest = counts[payer, default: 0] - byteCount
            counts[payer] = rest == 0 ? nil : rest
        }

        private static func maximum(of payer: Payer) -> Int {
            switch payer {
            case .user: userMaximum
            case .address: addressMaximum
            case .shared: anonymousMaximum
            }
        }
    }

    extension BodyBudget.Payer {
        var isAnonymous: Bool { if case .user = self { false } else { true } }
    }
#endif
