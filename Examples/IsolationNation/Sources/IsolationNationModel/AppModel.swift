#if Client || canImport(SQLite3)
    public import ChatClient
    public import Foundation
    public import Observation

    /// The app: asks for an account, or shows the chat of the session that is kept.
    @MainActor @Observable public final class AppModel {
        /// What the app shows.
        public enum Screen {
            /// The session is being read.
            case starting
            /// There is no session.
            case account(AccountModel)
            /// The chat of a session.
            case chat(SessionModel)
            /// The copy of the chat on this device cannot be opened.
            case unusableCopy(ClientSession, Feedback)
        }

        /// What the app shows.
        public private(set) var screen = Screen.starting

        @ObservationIgnored private let accounts: ServerAccounts
        @ObservationIgnored private let tokens: any TokenStore
        @ObservationIgnored private let directory: String
        @ObservationIgnored private let device: String?
        /// The task of ``start()``, which belongs to no window.
        @ObservationIgnored private var starting: Task<Void, Never>?
        /// Whether the user is ending the session, so that it is no error if the client reports its
        /// end.
        @ObservationIgnored private var isEndingSession = false

        /// Creates the app.
        ///
        /// - Parameters:
        ///   - server: The address of the server.
        ///   - tokens: Keeps the session between the starts of the app.
        ///   - directory: The directory of the copies, which is created if it does not exist.
        ///   - device: The label of the device in the list of sessions.
        /// - Throws: ``ClientError`` if the address cannot be used, or an error of the file system.
        public init(server: URL, tokens: any TokenStore, directory: String, device: String? = nil) throws {
            accounts = try ServerAccounts(server)
            (self.tokens, self.directory, self.device) = (tokens, directory, device)
            try FileManager.default.createDirectory(
                atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }

        /// Continues the session that is kept, if any, once for all windows.
        public func start() async {
            let task = starting ?? Task { await continueSession() }
            starting = task
            await task.value
        }

        private func continueSession() async {
            do {
                if let session = try await tokens.load() { open(session) } else { askForAccount(nil) }
            } catch { askForAccount(Feedback(error)) }
        }

        /// Ends the session, and removes the copy from the device.
        ///
        /// - Parameter discardsOutbox: Whether what waits to be sent may be lost.
        /// - Throws: ``OutboxRefusal/itemsPending(_:)`` if something waits and may not be lost.
        public func signOut(discardsOutbox: Bool = false) async throws {
            try await endSession { session, account in
                // Before the client is stopped, so that it goes on sending if the user decides
                // otherwise.
                let count = try session.client?.pendingCount ?? 0
                guard discardsOutbox || count == 0 else { throw OutboxRefusal.itemsPending(count) }
                let problem = try await self.removeCopyAndSession(session, discardsOutbox: discardsOutbox)
                // Without a network too: the user may give the device away.
                do { try await self.accounts.signOut(account) } catch { return problem ?? .signedOutHereOnly }
                return problem
            }
        }

        /// Erases what the user wrote, deletes the account, and removes the copy from the device.
        public func deleteAccount(password: String) async throws {
            try await endSession { session, account in
                try await self.accounts.deleteAccount(password: password, account)
                return try await self.removeCopyAndSession(session, discardsOutbox: true) ?? .accountDeleted
            }
        }

        /// Ends the session that is shown, and asks for an account with the feedback.
        private func endSession(_ body: (SessionModel, ClientSession) async throws -> Feedback?) async throws {
            guard !isEndingSession, case .chat(let session) = screen, let account = session.account else { return }
            isEndingSession = true
            do {
                let feedback = try await body(session, account)
                isEndingSession = false
                askForAccount(feedback)
            } catch {
                isEndingSession = false
                await endIfSignedOut(session)
                throw error
            }
        }

        private func endIfSignedOut(_ session: SessionModel) async {
            guard !isEndingSession, case .chat(let shown) = screen, shown === session else { return }
            if session.stopReason == .accountDeleted {
                // On another device: nothing of the user stays on this one.
                var feedback: Feedback? = .accountDeleted
                do { feedback = try await removeCopyAndSession(session, discardsOutbox: true) ?? feedback } catch {
                    feedback = Feedback(error) ?? feedback
                }
                askForAccount(feedback)
                return
            }
            guard session.stopReason == .signedOut else { return }
            // The copy stays, with its outbox, for the next session of the same user. No other user
            // can open it.
            session.client?.close()
            var feedback = Feedback(failure: StopReason.signedOut)
            do { try await tokens.remove() } catch { feedback = Feedback(error) ?? feedback }
            askForAccount(feedback)
        }

        /// Tries to open the copy again, for example after another program has ended.
        public func openAgain() {
            if case .unusableCopy(let session, _) = screen { open(session) }
        }

        /// Begins a new copy in place of one that cannot be opened, with what can be read of its
        /// outbox.
        public func replaceCopy() {
            guard case .unusableCopy(let session, _) = screen else { return }
            do throws(ClientError) {
                let (client, _) = try ChatClient.startingOver(session, directory: directory)
                client.close()
                open(session)
            } catch { screen = .unusableCopy(session, Feedback(failure: error)) }
        }

        /// Returns what is wrong if the copy is gone and the session cannot be removed.
        private func removeCopyAndSession(_ session: SessionModel, discardsOutbox: Bool) async throws -> Feedback? {
            await session.stop()
            do { try session.client?.removeCopy(discardsOutbox: discardsOutbox) } catch {
                session.start()
                throw error
            }
            do { try await tokens.remove() } catch { return Feedback(error) }
            return nil
        }

        private func open(_ session: ClientSession) {
            do throws(ClientError) {
                let client = try ChatClient(session, directory: directory)
                let chat = SessionModel(client, account: session, accounts) { [weak self] in
                    await self?.endIfSignedOut($0)
                }
                screen = .chat(chat)
                chat.start()
            } catch { screen = .unusableCopy(session, Feedback(failure: error)) }
        }

        private func askForAccount(_ feedback: Feedback?) {
            screen = .account(
                AccountModel(accounts, device: device, feedback: feedback) { [weak self] session in
                    guard let self else { return }
                    try await tokens.save(session)
                    open(session)
                })
        }
    }

    extension Feedback {
        static let signedOutHereOnly = Feedback(
            code: "signedOutHereOnly",
            "Signed out on this device. The server could not be told: end the session in the settings of another device."
        )
        static let accountDeleted = Feedback(
            code: "accountDeleted", "The account is deleted, and what you wrote is erased.")
    }
#endif
