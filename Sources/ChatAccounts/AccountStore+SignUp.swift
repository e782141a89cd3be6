#if Server
    internal import LocalStorage
    public import ChatDomain
    internal import Locking

    extension AccountStore {
        /// The time after which the next sign-up deletes an account that was not confirmed.
        static let unconfirmedLifetime = Duration.seconds(86_400)

        /// Creates an unconfirmed account and mails its code.
        ///
        /// The answer and the time are the same for an address with an account; its owner gets a
        /// mail about the attempt. An unconfirmed account with the address is replaced.
        ///
        /// - Parameters:
        ///   - username: The username to register.
        ///   - email: The address, to which the code is mailed.
        ///   - password: The password.
        ///   - address: The network address of the client; nil omits the limit by address.
        /// - Throws: `invalidUsername`, `invalidEmail`, `invalidPassword`, `commonPassword`,
        ///   `tooManyAttempts`, `busy`, or an error of the file.
        public func signUp(username: String, email: String, password: String, address: ClientAddress?)
            throws(AccountError)
        {
            guard username.utf8.count <= 1_024, let name = Username(username) else {
                throw AccountError(.invalidUsername, "The username is not valid.")
            }
            let email = try validated(email)
            let secret = try Password(password)
            try requireUncommon(password, name, email)
            try takeAttempt(.signUp, account: email.key, address: address)
            try mails.reserve()
            do {
                let hash = try pool.hash(secret)
                let mail = try database.withLock { database throws(AccountError) in
                    try database.transaction { database throws(AccountError) in
                        try self.insert(database, name, email, hash)
                    }
                }
                mails.deliver(mail)
            } catch {
                mails.release()
                throw error
            }
        }

        private func insert(_ database: Database, _ name: Username, _ email: EmailAddress, _ hash: String)
            throws(AccountError) -> Mail
        {
            try database.run(
                "DELETE FROM accounts WHERE state = ? AND created <= ?", .integer(AccountState.unconfirmed.rawValue),
                .time(now - Self.unconfirmedLifetime))
            let code = makeCode()
            let existing = try account(database, email)
            if let existing, existing.state != .unconfirmed {
                try writePadding(database)
                return .signUpAttempt(existing.email)
            }
            if let existing { try database.run("DELETE FROM accounts WHERE id = ?", .id(existing.id.bits)) }
            let id = AccountID(bits: makeID())
            try database.run(
                "INSERT INTO accounts VALUES(?, ?, ?, ?, ?, ?, ?, ?)", .id(id.bits), .id(makeID()), .text(name.text),
                .text(email.text),
                .text(email.key), .text(hash), .integer(AccountState.unconfirmed.rawValue), .time(now))
            try storeCode(database, code, id, .confirmation)
            return .confirmation(email, name, code)
        }

        /// Mails a new confirmation code, if the account is not registered.
        ///
        /// The answer and the time are the same for every address. The code before it is void.
        ///
        /// - Parameters:
        ///   - email: The address.
        ///   - address: The network address of the client; nil omits the limit by address.
        /// - Throws: `invalidEmail`, `tooManyAttempts`, `busy`, or an error of the file.
        public func resendCode(email: String, address: ClientAddress?) throws(AccountError) {
            try mailCode(.confirmation, .signUp, email, address, states: [.unconfirmed, .confirmed])
        }

        /// Stores and mails a code if the account has one of the states; otherwise only takes the
        /// same time, and the same place among the mails.
        func mailCode(
            _ purpose: CodePurpose, _ operation: LimitedOperation, _ email: String, _ address: ClientAddress?,
            states: [AccountState]
        ) throws(AccountError) {
            let email = try validated(email)
            try takeAttempt(operation, account: email.key, address: address)
            try mails.reserve()
            do {
                let mail = try database.withLock { database throws(AccountError) in
                    try database.transaction { database throws(AccountError) -> Mail? in
                        let code = self.makeCode()
                        guard let row = try self.account(database, email), states.contains(row.state) else {
                            try self.writePadding(database)
                            return nil
                        }
                        try self.storeCode(database, code, row.id, purpose)
                        return purpose == .reset
                            ? .reset(row.email, code) : .confirmation(row.email, row.username, code)
                    }
                }
                mails.deliver(mail)
            } catch {
                mails.release()
                throw error
            }
        }

        /// Confirms an address with the mailed code, and returns what the server registers.
        ///
        /// The same code works again until ``markRegistered(account:)``, so a client can repeat the
        /// call, with another username if the journal has given the first one to another user.
        ///
        /// Until it is confirmed, an account has the password of the last person who signed up with
        /// the address, and this need not be the person who gets the mail. So a client that has the
        /// password sends it: only the person who signed up last can confirm. A wrong password and
        /// a wrong code are one and the same failed try, with the same answer and in the same time,
        /// so a caller who has only one of the two learns nothing about it.
        ///
        /// - Parameters:
        ///   - email: The address.
        ///   - code: The code of the last mail.
        ///   - username: Replaces the username of the sign-up, unless nil.
        ///   - password: The password of the sign-up; nil omits its check.
        ///   - address: The network address of the client; nil omits the limit by address.
        /// - Throws: `invalidCode` for a wrong code or password; `commonPassword` if the password
        ///   is the other username; `invalidEmail`, `invalidUsername`, `tooManyAttempts`, `busy`,
        ///   or an error of the file.
        public func confirm(
            email: String, code: String, username: String? = nil, password: String? = nil, address: ClientAddress?
        ) throws(AccountError) -> AccountRegistration {
            let email = try validated(email)
            var name: Username?
            if let username {
                name = username.utf8.count <= 1_024 ? Username(username) : nil
                if name == nil { throw AccountError(.invalidUsername, "The username is not valid.") }
            }
            // All three are of the caller, so this tells nothing about an account.
            if let name, let password { try requireUncommon(password, name, email) }
            try takeAttempt(.confirm, account: email.key, address: address)
            // Compared before the code and in every case, so that the time does not show which is
            // wrong.
            let hash = if let password { try matchingHash(email, password) } else { String?.none }
            let registration = try database.withLock { database throws(AccountError) in
                try database.transaction { database throws(AccountError) -> AccountRegistration? in
                    guard let row = try self.account(database, email),
                        row.state == .unconfirmed || row.state == .confirmed
                    else {
                        try self.writePadding(database)
                        return nil
                    }
                    // A wrong try is counted by the commit, so this returns nil and does not throw.
                    // The sign-up may have been replaced while the password was compared.
                    let isPasswordRight = password == nil || hash == row.password
                    guard try self.tryCode(database, code, row.id, .confirmation, withRightPassword: isPasswordRight)
                    else { return nil }
                    let username = name ?? row.username
                    try database.run(
                        "UPDATE accounts SET state = ?, username = ? WHERE id = ?",
                        .integer(AccountState.confirmed.rawValue),
                        .text(username.text), .id(row.id.bits))
                    return AccountRegistration(account: row.id, user: row.user, username: username)
                }
            }
            guard let registration else { throw .invalidCode }
            return registration
        }

        /// Returns the password hash of the address if the password belongs to it; takes the same
        /// time if not.
        private func matchingHash(_ email: EmailAddress, _ password: String) throws(AccountError) -> String? {
            guard let secret = Password(ifValid: password) else { return nil }
            let stored = try database.withLock { database throws(AccountError) in
                try self.account(database, email)?.password
            }
            return try pool.verify(secret, stored) ? stored : nil
        }

        /// Notes that the journal has the user, which ends the sign-up.
        ///
        /// Idempotent.
        ///
        /// - Throws: `unknownAccount` for an account that is not confirmed, or an error of the
        ///   file.
        public func markRegistered(account: AccountID) throws(AccountError) {
            try database.withLock { database throws(AccountError) in
                try database.transaction { database throws(AccountError) in
                    try database.run(
                        "UPDATE accounts SET state = ? WHERE id = ? AND state IN (?, ?)",
                        .integer(AccountState.registered.rawValue),
                        .id(account.bits), .integer(AccountState.confirmed.rawValue),
                        .integer(AccountState.registered.rawValue))
                    guard database.changeCount == 1 else { throw .unknownAccount }
                    try self.removeCode(database, account, .confirmation)
                }
            }
        }

        /// Gives a confirmed account that is not registered another username.
        ///
        /// - Throws: `unknownAccount` for an account in another state, or an error of the file.
        public func rename(account: AccountID, username: Username) throws(AccountError) {
            try database.withLock { database throws(AccountError) in
                try database.run(
                    "UPDATE accounts SET username = ? WHERE id = ? AND state = ?", .text(username.text),
                    .id(account.bits),
                    .integer(AccountState.confirmed.rawValue))
                guard database.changeCount == 1 else { throw .unknownAccount }
            }
        }

        /// Returns the confirmed accounts whose registration was not noted, oldest first.
        ///
        /// The server registers them at its start, before it accepts requests.
        ///
        /// - Throws: An error of the file.
        public func unregistered() throws(AccountError) -> [AccountRegistration] {
            try rows(in: .confirmed).map(\.registration)
        }

        /// Returns the next registered accounts, in the order of their ids.
        ///
        /// - Parameters:
        ///   - account: The exclusive start; nil begins with the first account.
        ///   - limit: The maximum number of accounts.
        /// - Throws: An error of the file.
        /// - Complexity: O(*log n* + `limit`) in the accounts, unless many are not registered.
        package func registered(after account: AccountID?, limit: Int) throws(AccountError) -> [AccountRegistration] {
            try database.withLock { database throws(AccountError) in
                // The plus sign keeps SQLite from the index of states, whose rows it would sort.
                let rows = try database.run(
                    "SELECT \(AccountRow.columns) FROM accounts WHERE id > ? AND +state = ? ORDER BY id LIMIT ?",
                    account.map { .id($0.bits) } ?? .blob([]), .integer(AccountState.registered.rawValue),
                    .integer(Int64(limit)))
                return try rows.map { row throws(AccountError) in try AccountRow(row).registration }
            }
        }

        /// Returns the user of the registered account with an address; nil if there is none.
        ///
        /// - Throws: An error of the file.
        package func registeredUser(withEmail email: EmailAddress) throws(AccountError) -> UserID? {
            try database.withLock { database throws(AccountError) in
                guard let row = try self.account(database, email), row.state == .registered else { return nil }
                return row.user
            }
        }

        func rows(in state: AccountState) throws(AccountError) -> [AccountRow] {
            try database.withLock { database throws(AccountError) in
                let rows = try database.run(
                    "SELECT \(AccountRow.columns) FROM accounts WHERE state = ? ORDER BY id", .integer(state.rawValue))
                return try rows.map { row throws(AccountError) in try AccountRow(row) }
            }
        }
    }
#endif
