#if Client || canImport(SQLite3)
    internal import ChatDomain
    public import ChatValues
    public import Foundation

    /// The accounts of a server: signing up, signing in and out, passwords.
    ///
    /// ```swift
    /// let accounts = try ServerAccounts(server)
    /// try await accounts.signUp(username: "Ann", email: "ann@example.org", password: password)
    /// // Ann reads the code in her mail.
    /// let code = try await askForCode()
    /// try await accounts.confirm(email: "ann@example.org", code: code)
    /// let session = try await accounts.signIn(email: "ann@example.org", password: password, device: "telephone")
    /// try await tokens.save(session)
    /// ```
    ///
    /// Any call can throw ``ClientError/unreachable(_:retryAfter:)``, after which it is not known whether the server
    /// has done it, and ``ClientError/tooManyAttempts(retryAfter:)``.
    public struct ServerAccounts: Sendable {
        /// The address of the server.
        public let server: URL
        private let transport: any ClientTransport

        /// Creates the accounts of a server.
        ///
        /// - Parameters:
        ///   - server: The scheme, host and port, and the path if the server is below one.
        ///   - allowsPlainText: Whether http is allowed to any host, not only to this machine.
        ///     Passwords and tokens can then be read on the way.
        /// - Throws: ``ClientError/invalidAddress(_:)``.
        public init(_ server: URL, allowsPlainText: Bool = false) throws(ClientError) {
            self.init(server, ServerTransport(try ServerAddress(server, allowsPlainText: allowsPlainText)))
        }

        /// Creates the accounts of a server behind a transport.
        package init(_ server: URL, _ transport: any ClientTransport) {
            (self.server, self.transport) = (server, transport)
        }

        // MARK: Signing up

        /// Creates an account and has a code mailed; ``confirm(email:code:username:)`` completes
        /// it.
        ///
        /// Returns in the same way if the address has an account already: its owner gets a mail
        /// that says so.
        public func signUp(username: String, email: String, password: String) async throws(ClientError) {
            try await post("/v1/sign-up", ["username": username, "email": email, "password": password])
        }

        /// Has another code mailed to an address that is not confirmed.
        public func resendCode(email: String) async throws(ClientError) {
            try await post("/v1/resend-code", ["email": email])
        }

        /// Confirms an address and registers the user.
        ///
        /// - Parameters:
        ///   - email: The address.
        ///   - code: The six digits of the mail.
        ///   - username: Another name, after `usernameTaken`; nil for that of the sign-up.
        /// - Returns: The user.
        /// - Throws: `Problem` `invalidCode`, or `usernameTaken` if another user has the
        ///   name by now: the same code is valid with another name.
        @discardableResult
        public func confirm(email: String, code: String, username: String? = nil) async throws(ClientError)
            -> UserSummary
        {
            try await post("/v1/confirm", ["email": email, "code": code, "username": username]).decode(Confirmed.self)
                .user
        }

        // MARK: Sessions

        /// Begins a session.
        ///
        /// - Parameters:
        ///   - email: The address.
        ///   - password: The password.
        ///   - device: A label for the list of sessions, at most 256 bytes; nil for none.
        /// - Throws: `Problem` `invalidCredentials`, also for an account that is not
        ///   confirmed.
        public func signIn(email: String, password: String, device: String? = nil) async throws(ClientError)
            -> ClientSession
        {
            let answer = try await post("/v1/sign-in", ["email": email, "password": password, "device": device]).decode(
                SignedIn.self)
            // A token goes into a header.
            guard (1...4_096).contains(answer.token.utf8.count),
                answer.token.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
            else {
                throw .answerInvalid("The token of the session is not valid.")
            }
            return ClientSession(server: server, user: answer.user, token: SessionToken(rawValue: answer.token))
        }

        /// Ends a session; one that has ended already is no error.
        public func signOut(_ session: ClientSession) async throws(ClientError) {
            do { try await post("/v1/sign-out", nil, session) } catch .signedOut { return }
        }

        /// Ends all sessions of the user, this one too.
        public func signOutEverywhere(_ session: ClientSession) async throws(ClientError) {
            try await post("/v1/sign-out-everywhere", nil, session)
        }

        /// Returns the sessions of the user, the newest first.
        public func sessions(_ session: ClientSession) async throws(ClientError) -> [DeviceSession] {
            try await send("GET", "/v1/sessions", nil, session).decode(Sessions.self).items
        }

        /// Ends one of the user's sessions.
        ///
        /// - Throws: ``ClientError/notFound`` if there is no such session.
        public func endSession(_ id: DeviceSessionID, _ session: ClientSession) async throws(ClientError) {
            try await send("DELETE", "/v1/sessions/\(id)", nil, session)
        }

        // MARK: Passwords

        /// Has a code mailed that sets a new password; returns in the same way for any address.
        public func forgotPassword(email: String) async throws(ClientError) {
            try await post("/v1/forgot-password", ["email": email])
        }

        /// Sets a new password with the code of a mail, and ends all sessions.
        public func resetPassword(email: String, code: String, password: String) async throws(ClientError) {
            try await post("/v1/reset-password", ["email": email, "code": code, "password": password])
        }

        /// Changes the password and ends all other sessions.
        public func changePassword(old: String, new: String, _ session: ClientSession) async throws(ClientError) {
            try await post("/v1/change-password", ["old": old, "new": new], session)
        }

        /// Erases the user's content and deletes the account, with all its sessions.
        public func deleteAccount(password: String, _ session: ClientSession) async throws(ClientError) {
            try await post("/v1/delete-account", ["password": password], session)
        }

        // MARK: Requests

        private struct Confirmed: Decodable { let user: UserSummary }

        private struct SignedIn: Decodable {
            let token: String
            let user: UserSummary
        }

        private struct Sessions: Decodable { let items: [DeviceSession] }

        @discardableResult
        private func post(_ target: String, _ fields: [String: String?]?, _ session: ClientSession? = nil)
            async throws(ClientError)
            -> ClientAnswer
        { try await send("POST", target, fields, session) }

        /// Sends a request and returns the answer if it is one of success.
        @discardableResult
        private func send(_ method: String, _ target: String, _ fields: [String: String?]?, _ session: ClientSession?)
            async throws(ClientError) -> ClientAnswer
        {
            // Neither a token nor a password goes to another server than the session's.
            if let session, ServerAddress.text(of: session.server) != ServerAddress.text(of: server) {
                throw .invalidAddress("The session is that of another server.")
            }
            let body = fields.map { Self.json($0.compactMapValues { $0 }) }
            var request = ClientRequest(method, target, credentials: session?.token.rawValue, body: body)
            request.answerLimit = 1 << 20
            let answer: ClientAnswer
            do throws(TransportFailure) { answer = try await transport.send(request) } catch {
                throw ClientError(error)
            }
            try answer.check()
            return answer
        }

        private static func json(_ fields: [String: String]) -> Data {
            do { return try JSONEncoder().encode(fields) } catch {
                preconditionFailure("texts cannot be encoded: \(error)")
            }
        }
    }
#endif
