#if Server
    internal import LocalStorage
    public import ChatDomain
    internal import Locking

    extension AccountStore {
        /// Changes the password and ends all other sessions.
        ///
        /// - Parameters:
        ///   - user: The user of the account.
        ///   - old: The present password.
        ///   - new: The new password.
        ///   - kept: The session that stays, usually the one of the caller; nil ends all.
        /// - Throws: `invalidCredentials` for a wrong old password or an unknown user,
        ///   `invalidPassword`, `commonPassword`, `tooManyAttempts`, `busy`, or an error of the
        ///   file.
        public func changePassword(user: UserID, old: String, new: String, keeping kept: AccountSessionID? = nil)
            throws(AccountError)
        {
            let secret = try Password(new)
            let row = try verified(user, old)
            try requireUncommon(new, row.username, row.email)
            let hash = try pool.hash(secret)
            try database.withLock { database throws(AccountError) in
                try database.transaction { database throws(AccountError) in
                    try database.run(
                        "UPDATE accounts SET password = ? WHERE id = ? AND password = ? AND state = ?", .text(hash),
                        .id(row.id.bits),
                        .text(row.password), .integer(AccountState.registered.rawValue))
                    guard database.changeCount == 1 else { throw .invalidCredentials }
                    try self.removeCode(database, row.id, .reset)
                    try self.endEmailChange(database, row.id)
                    try self.endSessions(database, user, except: kept)
                }
            }
        }

        /// Returns the registered account of a user after a check of its password.
        func verified(_ user: UserID, _ password: String) throws(AccountError) -> AccountRow {
            let found = try database.withLock { database throws(AccountError) in try self.account(database, user) }
            try takeAttempt(.signIn, account: found?.email.key ?? user.description, address: nil)
            guard let secret = Password(ifValid: password) else { throw .invalidCredentials }
            guard try pool.verify(secret, found?.password), let found, found.state == .registered else {
                throw .invalidCredentials
            }
            return found
        }

        /// Mails a code for a new password, if the address has a registered account.
        ///
        /// The answer and the time are the same for every address.
        ///
        /// - Parameters:
        ///   - email: The address.
        ///   - address: The network address of the client; nil omits the limit by address.
        /// - Throws: `invalidEmail`, `tooManyAttempts`, `busy`, or an error of the file.
        public func requestReset(email: String, address: ClientAddress?) throws(AccountError) {
            try mailCode(.reset, .reset, email, address, states: [.confirmed, .registered])
        }

        /// Sets a new password with the mailed code, and ends all sessions.
        ///
        /// - Parameters:
        ///   - email: The address.
        ///   - code: The code of the last mail.
        ///   - new: The new password.
        ///   - address: The network address of the client; nil omits the limit by address.
        /// - Throws: `invalidCode`, `invalidEmail`, `invalidPassword`, `commonPassword`,
        ///   `tooManyAttempts`, `busy`, or an error of the file.
        public func reset(email: String, code: String, new: String, address: ClientAddress?) throws(AccountError) {
            let email = try validated(email)
            let secret = try Password(new)
            try takeAttempt(.reset, account: email.key, address: address)
            // Hashed before the code is checked, so that a right and a wrong code take the same
            // time.
            let hash = try pool.hash(secret)
            let isReset = try database.withLock { database throws(AccountError) in
                try database.transaction { database throws(AccountError) -> Bool in
                    guard let row = try self.account(database, email),
                        row.state == .confirmed || row.state == .registered
                    else {
                        try self.writePadding(database)
                        return false
                    }
                    guard try self.tryCode(database, code, row.id, .reset) else { return false }
                    // Only who has the code learns that the password is a name of the account; the
                    // code stays valid.
                    try self.requireUncommon(new, row.username, row.email)
                    try database.run("UPDATE accounts SET password = ? WHERE id = ?", .text(hash), .id(row.id.bits))
                    try self.removeCode(database, row.id, .reset)
                    try self.endEmailChange(database, row.id)
                    try self.endSessions(database, row.user, except: nil)
                    return true
                }
            }
            guard isReset else { throw .invalidCode }
        }

        /// Begins the deletion of an account: ends its sessions and codes, and marks it.
        ///
        /// The server then erases the user in the journal and calls ``finishDeletion(account:)``.
        ///
        /// - Throws: `invalidCredentials`, `tooManyAttempts`, `busy`, or an error of the file.
        public func beginDeletion(user: UserID, password: String) throws(AccountError) -> AccountDeletion {
            let row = try verified(user, password)
            try database.withLock { database throws(AccountError) in
                try database.transaction { database throws(AccountError) in
                    try database.run(
                        "UPDATE accounts SET state = ? WHERE id = ? AND password = ? AND state = ?",
                        .integer(AccountState.deleting.rawValue), .id(row.id.bits), .text(row.password),
                        .integer(AccountState.registered.rawValue))
                    guard database.changeCount == 1 else { throw .invalidCredentials }
                    try database.run("DELETE FROM codes WHERE account = ?", .id(row.id.bits))
                    try database.run(
                        "INSERT OR IGNORE INTO deleted_sessions SELECT token, ? FROM sessions WHERE account = ?",
                        .time(self.now), .id(row.id.bits))
                    try self.endSessions(database, user, except: nil)
                }
            }
            return AccountDeletion(account: row.id, user: user)
        }

        /// Returns the accounts whose deletion has begun and not ended, oldest first.
        ///
        /// - Throws: An error of the file.
        public func pendingDeletions() throws(AccountError) -> [AccountDeletion] {
            try rows(in: .deleting).map { AccountDeletion(account: $0.id, user: $0.user) }
        }

        /// Deletes the row of an account whose deletion has begun, and its bytes in the file.
        ///
        /// Idempotent.
        ///
        /// - Throws: An error of the file. With `busy` the row may be deleted and its bytes still
        ///   be in the write-ahead log, which another program reads: call it again.
        public func finishDeletion(account: AccountID) throws(AccountError) {
            try database.withLock { database throws(AccountError) in
                try database.run(
                    "DELETE FROM accounts WHERE id = ? AND state = ?", .id(account.bits),
                    .integer(AccountState.deleting.rawValue))
                // The write-ahead log has the deleted row until it is copied and cut.
                guard try database.checkpoint() else { throw .fileIsHeld }
            }
        }
    }
#endif
