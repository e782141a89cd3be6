#if Server
    internal import LocalStorage
    public import ChatDomain
    internal import Dispatch
    internal import Locking
    internal import Primitives

    extension AccountStore {
        /// The time after the last use at which a session expires.
        static let idleLifetime = Duration.seconds(14 * 86_400)
        /// The time after the sign-in at which a session expires.
        static let absoluteLifetime = Duration.seconds(30 * 86_400)
        /// The time for which a token of a deleted account is known as one.
        static let deletedLifetime = Duration.seconds(365 * 86_400)
        /// The time before a last use is written again.
        static let lastUsePrecision = Duration.seconds(60)
        /// A new session ends the oldest one beyond this number, which bounds the file.
        static let maximumSessionCount: Int64 = 50

        /// Checks a password and begins a session.
        ///
        /// An unknown address, a wrong password, an unconfirmed account and one that is being
        /// deleted have the same error. An unconfirmed account must: otherwise a sign-up followed
        /// by a sign-in would show whether the address had an account before.
        ///
        /// - Parameters:
        ///   - email: The address.
        ///   - password: The password.
        ///   - device: A label for the list of sessions, of at most 256 bytes; nil for none.
        ///   - address: The network address of the client; nil omits the limit by address.
        /// - Throws: `invalidEmail`; `invalidCredentials`; `notRegistered`, with the right password
        ///   of a confirmed account; `invalidDevice`, `tooManyAttempts`, `busy`, or an error of the
        ///   file.
        public func signIn(email: String, password: String, device: String? = nil, address: ClientAddress?)
            throws(AccountError) -> SignedIn
        {
            guard (device ?? "").utf8.count <= 256,
                (device ?? "").unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
            else {
                throw AccountError(.invalidDevice, "A device label has at most 256 bytes and no control characters.")
            }
            let email = try validated(email)
            try takeAttempt(.signIn, account: email.key, address: address)
            guard let secret = Password(ifValid: password) else { throw .invalidCredentials }
            let found = try database.withLock { database throws(AccountError) in try self.account(database, email) }
            guard try pool.verify(secret, found?.password), let found else { throw .invalidCredentials }
            switch found.state {
            case .unconfirmed, .deleting: throw .invalidCredentials
            case .confirmed:
                throw AccountError(
                    .notRegistered, "The username is not registered. Confirm again with another username.")
            case .registered: break
            }
            let renewed = pool.needsRehash(found.password) ? try pool.hash(secret) : found.password
            let random = options.environment.randomBytes(32)
            let time = now
            let session = AccountSession(
                id: AccountSessionID(bits: makeID()), user: found.user, created: time, lastUsed: time, device: device)
            try database.withLock { database throws(AccountError) in
                try database.transaction { database throws(AccountError) in
                    // The account may have changed while the password was compared.
                    try database.run(
                        "UPDATE accounts SET password = ? WHERE id = ? AND password = ? AND state = ?", .text(renewed),
                        .id(found.id.bits),
                        .text(found.password), .integer(AccountState.registered.rawValue))
                    guard database.changeCount == 1 else { throw .invalidCredentials }
                    try database.run(
                        "DELETE FROM sessions WHERE account = ? AND (created <= ? OR used <= ?)", .id(found.id.bits),
                        .time(time - Self.absoluteLifetime), .time(time - Self.idleLifetime))
                    try database.run(
                        "INSERT INTO sessions VALUES(?, ?, ?, ?, ?, ?)", .id(session.id.bits), .id(found.id.bits),
                        .blob(Sodium.digest(random)), .time(time), .time(time), device.map { .text($0) } ?? .null)
                    try database.run(
                        """
                        DELETE FROM sessions WHERE id IN
                        (SELECT id FROM sessions WHERE account = ? ORDER BY created DESC, id DESC LIMIT -1 OFFSET ?)
                        """, .id(found.id.bits), .integer(Self.maximumSessionCount))
                }
            }
            return SignedIn(token: Self.token(random), session: session)
        }

        private static func token(_ bytes: [UInt8]) -> String {
            String(Base64.text(of: bytes).compactMap { $0 == "=" ? nil : $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
        }

        /// Returns the digest of a token in its only valid form, or nil.
        private static func digest(_ token: String) -> [UInt8]? {
            guard token.utf8.count == 43,
                !token.utf8.contains(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "/") })
            else {
                return nil
            }
            let standard = String(token.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }) + "="
            return Base64.bytes(of: standard).map { Sodium.digest($0) }
        }

        /// Returns the session of a token, or nil if it is wrong, ended or expired.
        ///
        /// A session expires 14 days after its last use and 30 days after the sign-in. One that
        /// began more than 30 days ahead of the clock, under a wrong one, is not valid either. The
        /// last use is written at most once a minute, after this returns. The lookup is by digest,
        /// so its time says nothing about the token.
        ///
        /// It does not wait for writers, and sees every operation that has returned.
        ///
        /// - Throws: An error of the file.
        public func session(token: String) throws(AccountError) -> AccountSession? {
            guard let digest = Self.digest(token) else { return nil }
            let time = now
            let rows = try reader.withLock { database throws(AccountError) in
                try database.run(
                    """
                    SELECT \(AccountSession.columns) FROM sessions JOIN accounts ON accounts.id = sessions.account
                    WHERE token = ? AND sessions.created > ? AND sessions.created < ? AND used > ? AND state = ?
                    """, .blob(digest), .time(time - Self.absoluteLifetime), .time(time + Self.absoluteLifetime),
                    .time(time - Self.idleLifetime),
                    .integer(AccountState.registered.rawValue))
            }
            guard let row = rows.first else { return nil }
            let session = try AccountSession(row)
            if time >= session.lastUsed + Self.lastUsePrecision { writeLastUse(of: session.id, time) }
            return session
        }

        /// Whether a token was that of a session which had not expired when its account was deleted,
        /// at most a year ago.
        ///
        /// Whoever has such a token had the account, so that this tells nobody else.
        ///
        /// - Throws: An error of the file.
        public func isOfDeletedAccount(token: String) throws(AccountError) -> Bool {
            guard let digest = Self.digest(token) else { return false }
            return try reader.withLock { database throws(AccountError) in
                try database.run(
                    "SELECT 1 FROM deleted_sessions WHERE token = ? AND deleted > ?", .blob(digest),
                    .time(now - Self.deletedLifetime)) != []
            }
        }

        /// Writes a last use on a queue, so that the look-up does not wait for a commit.
        private func writeLastUse(of session: AccountSessionID, _ time: Timestamp) {
            let isFirst = unwrittenUses.withLock { uses in
                if uses.updateValue(time, forKey: session) != nil { return false }
                return uses.count == 1
            }
            if isFirst { lastUseQueue.async { [self] in writeLastUses() } }
        }

        /// Writes the noted last uses, up to 1,000 in a transaction, and removes what has expired.
        private func writeLastUses() {
            while true {
                let uses = unwrittenUses.withLock { uses in Array(uses.prefix(1_000)) }
                if uses.isEmpty { return }
                do throws(AccountError) {
                    try database.withLock { database throws(AccountError) in
                        try database.transaction { database throws(AccountError) in
                            try Self.removeExpired(database, at: self.now)
                            for (session, time) in uses {
                                try database.run(
                                    "UPDATE sessions SET used = ? WHERE id = ? AND used <= ?", .time(time),
                                    .id(session.bits),
                                    .time(time - Self.lastUsePrecision))
                            }
                        }
                    }
                } catch { options.lastUseFailed(error) }
                unwrittenUses.withLock { noted in for (session, _) in uses { noted[session] = nil } }
            }
        }

        /// Returns the sessions of a user that have not expired, newest first.
        ///
        /// - Throws: An error of the file.
        public func sessions(of user: UserID) throws(AccountError) -> [AccountSession] {
            try database.withLock { database throws(AccountError) in
                let time = self.now
                let rows = try database.run(
                    """
                    SELECT \(AccountSession.columns) FROM sessions JOIN accounts ON accounts.id = sessions.account
                    WHERE user = ? AND sessions.created > ? AND used > ? ORDER BY sessions.created DESC, sessions.id DESC
                    """, .id(user.bits), .time(time - Self.absoluteLifetime), .time(time - Self.idleLifetime))
                return try rows.map { row throws(AccountError) in try AccountSession(row) }
            }
        }

        /// Ends the session of a token; a wrong token has no effect.
        ///
        /// - Throws: An error of the file.
        public func signOut(token: String) throws(AccountError) {
            guard let digest = Self.digest(token) else { return }
            try database.withLock { database throws(AccountError) in
                _ = try database.run("DELETE FROM sessions WHERE token = ?", .blob(digest))
            }
        }

        /// Ends all sessions of a user but one.
        ///
        /// - Throws: An error of the file.
        public func signOutEverywhere(user: UserID, except kept: AccountSessionID? = nil) throws(AccountError) {
            try database.withLock { database throws(AccountError) in try self.endSessions(database, user, except: kept)
            }
        }

        /// Ends one session of a user; false if the user has no such session.
        ///
        /// - Throws: An error of the file.
        public func endSession(id: AccountSessionID, of user: UserID) throws(AccountError) -> Bool {
            try database.withLock { database throws(AccountError) in
                try database.run(
                    "DELETE FROM sessions WHERE id = ? AND account = (SELECT id FROM accounts WHERE user = ?)",
                    .id(id.bits), .id(user.bits)
                )
                return database.changeCount == 1
            }
        }

        func endSessions(_ database: Database, _ user: UserID, except kept: AccountSessionID?) throws(AccountError) {
            try database.run(
                "DELETE FROM sessions WHERE account = (SELECT id FROM accounts WHERE user = ?) AND id IS NOT ?",
                .id(user.bits),
                kept.map { .id($0.bits) } ?? .null)
        }
    }
#endif
