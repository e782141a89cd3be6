#if Server
    internal import LocalStorage
    public import ChatDomain
    internal import Locking

    /// The address of an account.
    extension AccountStore {
        /// Returns the addresses of a registered account; nil if the user has none.
        ///
        /// - Throws: An error of the file.
        public func addresses(of user: UserID) throws(AccountError) -> AccountAddresses? {
            try database.withLock { database throws(AccountError) in
                guard let row = try self.account(database, user), row.state == .registered else { return nil }
                return AccountAddresses(present: row.email, next: try self.nextAddress(database, row.id))
            }
        }

        /// Checks the password of a registered account.
        ///
        /// - Throws: `invalidCredentials`, `tooManyAttempts`, `busy`, or an error of the file.
        public func checkPassword(user: UserID, password: String) throws(AccountError) {
            _ = try verified(user, password)
        }

        /// Begins a change of the address: mails a code to the present address, and another one to
        /// the new address.
        ///
        /// The answer and the time are the same for a new address that has an account; its owner
        /// gets a mail about the attempt instead of a code. A change that began before is void.
        ///
        /// - Parameters:
        ///   - user: The user of the account.
        ///   - password: The password.
        ///   - email: The new address.
        ///   - address: The network address of the client; nil omits the limit by address.
        /// - Throws: `invalidEmail`, also for the present address; `invalidCredentials`,
        ///   `tooManyAttempts`, `busy`, or an error of the file.
        public func requestEmailChange(user: UserID, password: String, email: String, address: ClientAddress?)
            throws(AccountError)
        {
            let email = try validated(email)
            let row = try verified(user, password)
            guard email.key != row.email.key else {
                throw AccountError(.invalidEmail, "The account has this address already.")
            }
            // As a sign-up: both mail a code to an address that another person may have.
            try takeAttempt(.signUp, account: email.key, address: address)
            // Each change has a new code for the present address, which must not be guessed more
            // often than that of a reset.
            try takeAttempt(.reset, account: row.email.key, address: nil)
            try mails.reserve()
            do throws(AccountError) { try mails.reserve() } catch {
                mails.release()
                throw error
            }
            do {
                let both = try database.withLock { database throws(AccountError) in
                    try database.transaction { database throws(AccountError) in
                        try self.beginEmailChange(database, row, to: email)
                    }
                }
                for mail in both { mails.deliver(mail) }
            } catch {
                for _ in 0..<2 { mails.release() }
                throw error
            }
        }

        private func beginEmailChange(_ database: Database, _ row: AccountRow, to email: EmailAddress)
            throws(AccountError) -> [Mail]
        {
            // The account may have changed while the password was compared.
            guard let found = try account(database, row.user), found.password == row.password,
                found.state == .registered
            else {
                throw .invalidCredentials
            }
            try Self.removeExpired(database, at: now)
            try database.run(
                "INSERT OR REPLACE INTO email_changes VALUES(?, ?, ?)", .id(row.id.bits), .text(email.text),
                .time(now + Self.codeLifetime))
            let (old, new) = (makeCode(), makeCode())
            try storeCode(database, old, row.id, .presentAddress)
            // Also for an address that has an account, where nobody learns it.
            try storeCode(database, new, row.id, .newAddress)
            let other = try account(database, email)
            let owner = other?.state == .unconfirmed ? nil : other
            return [
                .presentAddress(found.email, next: email, old),
                owner.map { .changeAttempt($0.email) } ?? .newAddress(email, found.username, new),
            ]
        }

        /// Changes the address with both codes, and ends all other sessions.
        ///
        /// The earlier address gets a mail about the change. A new password is mailed to the
        /// address, so other sessions end as with a change of the password.
        ///
        /// - Parameters:
        ///   - user: The user of the account.
        ///   - present: The code of the mail to the present address.
        ///   - new: The code of the mail to the new address.
        ///   - kept: The session that stays, usually the one of the caller; nil ends all.
        ///   - address: The network address of the client; nil omits the limit by address.
        /// - Throws: `invalidCode` if one of the codes is wrong or has expired, or the address has
        ///   got another account meanwhile; `tooManyAttempts`, `busy`, or an error of the file.
        public func confirmEmailChange(
            user: UserID, present: String, new: String, keeping kept: AccountSessionID? = nil, address: ClientAddress?
        ) throws(AccountError) {
            try takeAttempt(.confirm, account: "\(user)", address: address)
            try mails.reserve()
            let former: EmailAddress?
            do {
                former = try database.withLock { database throws(AccountError) in
                    try database.transaction { database throws(AccountError) in
                        try self.changeEmail(database, user, present, new, keeping: kept)
                    }
                }
            } catch {
                mails.release()
                throw error
            }
            guard let former else {
                mails.release()
                throw .invalidCode
            }
            mails.deliver(.addressChanged(former))
        }

        /// Returns the earlier address; nil if the address was not changed.
        ///
        /// A wrong try is counted by the commit, so this does not throw.
        private func changeEmail(
            _ database: Database, _ user: UserID, _ present: String, _ new: String, keeping kept: AccountSessionID?
        ) throws(AccountError) -> EmailAddress? {
            guard let row = try account(database, user), row.state == .registered,
                let email = try nextAddress(database, row.id)
            else {
                try writePadding(database)
                return nil
            }
            let isPresentRight = try tryCode(database, present, row.id, .presentAddress)
            let isNewRight = try tryCode(database, new, row.id, .newAddress)
            guard isPresentRight, isNewRight else { return nil }
            if let other = try account(database, email) {
                guard other.state == .unconfirmed else { return nil }
                // The owner of the address has just confirmed it for this account.
                try database.run("DELETE FROM accounts WHERE id = ?", .id(other.id.bits))
            }
            try database.run(
                "UPDATE accounts SET email = ?, email_key = ? WHERE id = ?", .text(email.text), .text(email.key),
                .id(row.id.bits))
            try endEmailChange(database, row.id)
            try removeCode(database, row.id, .reset)
            try endSessions(database, user, except: kept)
            return row.email
        }

        private func nextAddress(_ database: Database, _ account: AccountID) throws(AccountError) -> EmailAddress? {
            let rows = try database.run(
                "SELECT email FROM email_changes WHERE account = ? AND expires > ? AND expires < ?", .id(account.bits),
                .time(now), .time(now + Self.codeLifetime + Self.codeLifetime))
            guard let value = rows.first?.first else { return nil }
            guard case .text(let text) = value, let email = EmailAddress(text) else { throw .damaged }
            return email
        }

        /// Removes the codes and the changes that have expired, and the addresses in them.
        static func removeExpired(_ database: Database, at time: Timestamp) throws(AccountError) {
            for table in ["codes", "email_changes"] {
                try database.run("DELETE FROM \(table) WHERE expires <= ?", .time(time))
            }
        }

        /// Makes a change of the address void that was not confirmed.
        func endEmailChange(_ database: Database, _ account: AccountID) throws(AccountError) {
            try database.run("DELETE FROM email_changes WHERE account = ?", .id(account.bits))
            for purpose in [CodePurpose.presentAddress, .newAddress] { try removeCode(database, account, purpose) }
        }
    }
#endif
