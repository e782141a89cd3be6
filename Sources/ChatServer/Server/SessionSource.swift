#if Server
    internal import ChatDomain

    /// Where a server looks up sessions: its accounts, or the server that has them.
    protocol SessionSource: Sendable {
        /// Returns the user of the session that a token belongs to; nil if there is none.
        ///
        /// - Throws: What keeps the source from knowing; the request is refused.
        func user(ofToken token: String) async throws -> UserID?

        /// Whether a stream whose session had this token may go on.
        func isValid(_ token: String) async -> Bool
    }
#endif
