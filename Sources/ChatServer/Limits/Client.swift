#if Server
    internal import ChatAccounts
    internal import ChatDomain

    /// Who asks, as far as the server knows: whose turn it is, and who pays for memory.
    enum Client: Hashable, Sendable {
        case user(UserID)
        /// A client without a session at an address of its own.
        case address(ClientAddress)
        /// Clients without a session at an address that many can share, or at none.
        case shared

        var isAnonymous: Bool { if case .user = self { false } else { true } }
    }
#endif
