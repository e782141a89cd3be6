#if Server
    internal import Chat
    internal import ChatAccounts
    internal import ChatDomain
    internal import ChatWire
    internal import Locking

    /// The accounts of a server that writes, called on threads that may wait.
    final class AccountService: Sendable {
        let store: ChatStore
        private let accounts: AccountStore
        let log: ServerLog
        /// The confirmed addresses whose users become operators.
        let operators: [EmailAddress]
        /// Hash passwords: as many threads as the store hashes at once.
        private let passwordThreads: WorkerThreads
        /// Read and write accounts.
        private let accountThreads = WorkerThreads("chat accounts", count: 2, limit: 256)
        /// Erases users; a call takes the time of a replay.
        private let erasureThread = WorkerThreads("chat erasure", count: 1, limit: 64)
        /// The users whom the ledger of the journal lists as erased; the journal may lack them.
        private let erasedUsers = Lock(Set<UserID>())
        /// The pause until a row is deleted whose file another program holds.
        private static let retryPause = Duration.seconds(2)
        /// Whether the last call that failed for the file of the accounts has not been followed by a
        /// write that succeeded.
        private let hasFailed = Lock(false)

        init(_ store: ChatStore, _ accounts: AccountStore, _ log: ServerLog, operators: [EmailAddress]) {
            (self.store, self.accounts, self.log, self.operators) = (store, accounts, log, operators)
            passwordThreads = WorkerThreads("chat passwords", count: accounts.concurrentHashes, limit: 64)
            accounts.believeClock { store.clockStatus.rejection == nil }
        }

        /// The number of calls that wait for a thread that hashes passwords.
        var waitingPasswordCount: Int { passwordThreads.waitingCount }

        /// Calls the account store on a thread that may hash a password.
        func runHashing<Value: Sendable>(_ body: @escaping @Sendable (AccountStore) throws -> Value) async throws
            -> Value
        {
            try await passwordThreads.run { [self] in try noting(body) }
        }

        /// Calls the account store on a thread that waits for its file only.
        func run<Value: Sendable>(_ body: @escaping @Sendable (AccountStore) throws -> Value) async throws -> Value {
            try await accountThreads.run { [self] in try noting(body) }
        }

        /// Calls the account store, and notes an error of its file.
        private func noting<Value>(_ body: (AccountStore) throws -> Value) throws -> Value {
            do { return try body(accounts) } catch let error as AccountError {
                if error.code == .storageFull || error.code == .storage { hasFailed.withLock { $0 = true } }
                throw error
            }
        }

        /// Returns what keeps accounts from being written, and mails from being delivered, as far as
        /// is known; writes something if the last write has failed.
        func findFaults() async -> [ServerFault] {
            var faults: [ServerFault] = []
            do {
                try await accountThreads.run { [self] in
                    try accounts.checkFile(byWriting: hasFailed.withLock { $0 })
                    hasFailed.withLock { $0 = false }
                }
            } catch let error as AccountError {
                // While another program holds the file, nothing is known.
                if error.code != .busy { faults.append(error.code == .storageFull ? .accountsFull : .accountsFailed) }
            } catch {
                // The threads have ended with the server.
            }
            if accounts.mailFailure() != nil { faults.append(.mailFailed) }
            return faults
        }

        /// Returns the session that a token belongs to; nil if there is none.
        ///
        /// Does not wait for writers, so it needs no thread of its own.
        func session(_ token: String) throws(AccountError) -> AccountSession? { try accounts.session(token: token) }

        func summary(of user: UserID) -> UserSummary { store.summary(of: user) ?? UserSummary(id: user, username: nil) }

        /// Whether the ledger lists the user as erased, whom an older copy of the journal lacks.
        func isErased(_ user: UserID) -> Bool { erasedUsers.withLock { $0.contains(user) } }

        /// Adds the token of a state that contains what the request has written.
        func addResumeToken(to response: inout WireResponse) { response.addResumeToken(of: store) }

        /// Registers a confirmed account in the journal, and notes that.
        ///
        /// Idempotent: after a crash in between, the registration is a duplicate.
        ///
        /// - Throws: ``Problem`` with `usernameTaken`, or with `invalidCode` for an erased user;
        ///   what the stores throw.
        func register(_ registration: AccountRegistration) async throws {
            if isErased(registration.user) {
                throw Problem(400, .init(rawValue: "invalidCode"), "This account was erased.", field: "code")
            }
            // As a batch: Swift 6.3.1 crashes on `catch .rejected` of a typed error in a function
            // with plain `throws` (swiftlang/swift#89787).
            if case .failure(let rejection) = try await store.execute([registration.command()])[0] {
                switch rejection.code {
                case .usernameTaken: throw Problem.usernameTaken
                case .identifierTaken where store.userID(withSubject: "\(registration.account)") == registration.user:
                    // The person has confirmed again with another username after the journal had
                    // registered the first one: the user exists, with that name.
                    break
                default: throw ChatError.rejected(rejection)
                }
            }
            try await run { try $0.markRegistered(account: registration.account) }
            await grantOperator(registration.user)
        }

        /// Erases the user of an account whose deletion has begun, and deletes its row.
        ///
        /// If another program holds the file of the accounts, the row is deleted later.
        func finish(_ deletion: AccountDeletion) async throws {
            try await erasureThread.run { [store] in
                do throws(ChatError) {
                    try store.eraseUser(deletion.user, reason: "account-deleted")
                } catch .rejected(let rejection) where rejection.code == .unknownUser {
                    // The account was never registered in this journal.
                }
            }
            try await deleteRow(of: deletion)
        }

        /// Deletes the row of an account whose user is erased, and its bytes in the file; tries
        /// again while another program, for example a backup, holds the file.
        private func deleteRow(of deletion: AccountDeletion) async throws {
            do {
                try await erasureThread.run { [accounts] in try accounts.finishDeletion(account: deletion.account) }
            } catch let error as AccountError where error.code == .busy {
                log.write("deletionPending", ("user", "\(deletion.user)"), ("code", Problem(error).code.rawValue))
                Task { [weak self] in
                    do {
                        try await Task.sleep(for: Self.retryPause)
                        try await self?.deleteRow(of: deletion)
                    } catch {
                        // The next start completes it.
                        self?.log.write("deletionPending", ("user", "\(deletion.user)"), ("code", Self.code(of: error)))
                    }
                }
            }
        }

        /// Completes what a crash has interrupted, registrations and deletions, and registers the
        /// users that the journal lacks because it is an older copy; then grants ``operators``.
        func completeInterrupted() async {
            do {
                let erased = try await erasureThread.run { [store] in try store.usersErasedByLedger() }
                erasedUsers.withLock { $0 = erased }
                // First, because these accounts had their names before the others.
                do { try await registerMissingUsers() } catch {
                    // The next start goes on.
                    log.write("usersNotRegistered", ("code", Self.code(of: error)))
                }
                for registration in try await run({ try $0.unregistered() }) {
                    do { try await register(registration) } catch {
                        // The person confirms again, for example with another username.
                        log.write(
                            "registrationPending", ("user", "\(registration.user)"), ("code", Self.code(of: error)))
                    }
                }
                for deletion in try await run({ try $0.pendingDeletions() }) {
                    do { try await finish(deletion) } catch {
                        log.write("deletionPending", ("user", "\(deletion.user)"), ("code", Self.code(of: error)))
                    }
                }
            } catch {
                log.write("accountsUnreadable", ("code", Self.code(of: error)))
            }
            await grantOperators()
        }

        static func code(of error: any Error) -> String { Problem(serverError: error).code.rawValue }

        /// Ends the threads after the calls that wait.
        func stop() { for threads in [passwordThreads, accountThreads, erasureThread] { threads.stop() } }
    }

    extension AccountService: SessionSource {
        func user(ofToken token: String) throws(AccountError) -> UserID? { try session(token)?.user }

        func isOfDeletedAccount(token: String) throws(AccountError) -> Bool {
            try accounts.isOfDeletedAccount(token: token)
        }

        func validity(of token: String) -> SessionValidity {
            // An error of the file leaves the session as it is.
            do throws(AccountError) { return try session(token) != nil ? .valid : .ended } catch { return .valid }
        }
    }
#endif
