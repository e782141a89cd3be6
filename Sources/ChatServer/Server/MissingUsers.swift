#if Server
    internal import Chat
    internal import ChatAccounts
    internal import ChatDomain
    internal import ChatWire

    // Accounts beside an older copy of the journal, which lacks their users.

    extension AccountService {
        /// The number of accounts that are read, and at most registered by one batch of commands.
        private static let pageSize = 500

        /// Registers again the users of registered accounts that the journal lacks.
        ///
        /// A user whom the ledger lists as erased is not registered. Idempotent: what a crash
        /// interrupts, the next start continues.
        ///
        /// - Throws: What the stores throw.
        /// - Complexity: O(*n*) in the accounts, of which one page is in memory.
        func registerMissingUsers() async throws {
            var last: AccountID?
            while true {
                let page = try await run { [last] in try $0.registered(after: last, limit: Self.pageSize) }
                guard let end = page.last else { return }
                last = end.account
                let missing = page.filter { store.summary(of: $0.user) == nil && !isErased($0.user) }
                if !missing.isEmpty { try await registerAgain(missing) }
            }
        }

        private func registerAgain(_ registrations: [AccountRegistration]) async throws {
            let results = try await store.execute(registrations.map { $0.command() })
            var count = 0
            for (registration, result) in zip(registrations, results) {
                switch result {
                case .success: count += 1
                case .failure(let rejection) where rejection.code == .usernameTaken:
                    if try await registerUnderAnotherName(registration) { count += 1 }
                case .failure(let rejection): try note(rejection, of: registration)
                }
            }
            log.write("usersRegisteredAgain", ("count", "\(count)"))
        }

        /// Registers a user whose name another user of the journal has; false if it is rejected.
        ///
        /// A person who signs in finds an account that works, and can choose another name.
        private func registerUnderAnotherName(_ registration: AccountRegistration) async throws -> Bool {
            for name in registration.otherNames {
                switch try await store.execute([registration.command(named: name)])[0] {
                case .success:
                    log.write("registeredWithAnotherName", ("user", "\(registration.user)"))
                    return true
                case .failure(let rejection) where rejection.code == .usernameTaken: continue
                case .failure(let rejection):
                    try note(rejection, of: registration)
                    return false
                }
            }
            log.write(
                "registrationPending", ("user", "\(registration.user)"), ("code", Problem.usernameTaken.code.rawValue))
            return false
        }

        /// Writes a rejection to the log, or throws one that all other commands would get too.
        private func note(_ rejection: Rejection, of registration: AccountRegistration) throws {
            if rejection.code == .storageFull || rejection.code == .clockStepped { throw ChatError.rejected(rejection) }
            log.write("registrationPending", ("user", "\(registration.user)"), ("code", rejection.code.rawValue))
        }
    }

    extension AccountRegistration {
        /// The command that registers the user, with another name unless nil.
        func command(named name: String? = nil) -> CommandRequest {
            CommandRequest(.registerUser(id: user, username: name ?? username.text, subject: "\(account)"))
        }

        /// The names to try if the one of the account is taken: with a number, then made of the id.
        fileprivate var otherNames: [String] {
            let numbered = (2...9).compactMap { number -> String? in
                // A name has at most 64 scalars and 256 bytes.
                let scalars = username.text.unicodeScalars
                var kept = scalars.prefix(62)
                while String(kept).utf8.count > 254 { kept.removeLast() }
                return Username("\(String(kept))-\(number)")?.text
            }
            return numbered + ["user-" + "\(user)".suffix(12)]
        }
    }
#endif
