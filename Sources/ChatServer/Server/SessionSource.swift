#if Server
    internal import ChatDomain

    /// Where a server looks up sessions: its accounts, or the server that has them.
    protocol SessionSource: Sendable {
        /// Returns the user of the session that a token belongs to; nil if there is none.
        ///
        /// - Throws: What keeps the source from knowing; the request is rejected.
        func user(ofToken token: String) async throws -> UserID?

        /// Whether a token without a session was that of an account which was deleted.
        ///
        /// - Throws: As ``user(ofToken:)``.
        func isOfDeletedAccount(token: String) async throws -> Bool

        /// Looks up the session of a stream again.
        func validity(of token: String) async -> SessionValidity
    }

    /// Whether a stream may go on, by its session.
    enum SessionValidity: Sendable {
        case valid
        case ended
        /// The source cannot be asked, and has not confirmed the session for minutes.
        case unknown
    }
#endif
