#if Client || canImport(SQLite3)
    public import ChatClient
    public import Observation

    /// The screens before a session: signing up, confirming the address, signing in, a forgotten
    /// password.
    @MainActor @Observable public final class AccountModel {
        /// The form that is shown.
        public enum Step: Hashable, Sendable {
            case signIn, signUp, confirm, forgotPassword, newPassword
        }

        /// The form that is shown.
        public var step: Step {
            didSet { if step != oldValue { (feedback, needsAnotherName) = (nil, false) } }
        }
        /// What the user enters.
        public var (username, email, password, code) = ("", "", "", "")
        /// Whether a request is under way.
        public private(set) var isBusy = false
        /// What went wrong, or what was done.
        public private(set) var feedback: Feedback?
        /// Whether another user has the name by now, so that the confirmation needs another one.
        public private(set) var needsAnotherName = false

        @ObservationIgnored private let accounts: ServerAccounts
        @ObservationIgnored private let device: String?
        @ObservationIgnored private let signedIn: (ClientSession) async throws -> Void

        /// Creates the screens.
        ///
        /// - Parameters:
        ///   - accounts: The accounts of the server.
        ///   - device: The label of the device in the list of sessions.
        ///   - feedback: Why the user is asked for an account; nil at the first start.
        ///   - signedIn: Is called with the new session.
        public init(
            _ accounts: ServerAccounts, device: String?, feedback: Feedback? = nil,
            signedIn: @escaping (ClientSession) async throws -> Void
        ) {
            (self.accounts, self.device, self.signedIn) = (accounts, device, signedIn)
            step = .signIn
            self.feedback = feedback
        }

        /// Whether the form has all that is needed.
        public var canSubmit: Bool {
            guard !isBusy, !email.isEmpty else { return false }
            return switch step {
            case .signIn: !password.isEmpty
            case .signUp: !username.isEmpty && !password.isEmpty
            case .confirm: !code.isEmpty && (!needsAnotherName || !username.isEmpty)
            case .forgotPassword: true
            case .newPassword: !code.isEmpty && !password.isEmpty
            }
        }

        /// Sends the form, and goes on to the next one.
        public func submit() async { await attempt { try await self.submitStep() } }

        /// Has another code mailed.
        public func resendCode() async {
            await attempt {
                try await self.accounts.resendCode(email: self.email)
                self.feedback = .codeSent
            }
        }

        private func submitStep() async throws {
            switch step {
            case .signIn: try await signIn()
            case .signUp:
                try await accounts.signUp(username: username, email: email, password: password)
                go(to: .confirm, .codeSent)
            case .confirm:
                do throws(ClientError) {
                    try await accounts.confirm(email: email, code: code, username: needsAnotherName ? username : nil)
                } catch {
                    if case .problem(let problem) = error, problem.code == .usernameTaken { needsAnotherName = true }
                    throw error
                }
                go(to: .signIn, .confirmed)
                // The password of the sign-up, if the app was not ended meanwhile.
                if !password.isEmpty { try await signIn() }
            case .forgotPassword:
                try await accounts.forgotPassword(email: email)
                password = ""
                go(to: .newPassword, .codeSent)
            case .newPassword:
                try await accounts.resetPassword(email: email, code: code, password: password)
                go(to: .signIn, .passwordChanged)
            }
        }

        private func signIn() async throws {
            let session: ClientSession
            do throws(ClientError) {
                session = try await accounts.signIn(email: email, password: password, device: device)
            } catch {
                // Confirmed, but without a name: the code of the mail is asked for again.
                if case .problem(let problem) = error, problem.code == .notRegistered {
                    go(to: .confirm, nil)
                    needsAnotherName = true
                }
                throw error
            }
            try await signedIn(session)
            (password, code) = ("", "")
        }

        private func go(to next: Step, _ feedback: Feedback?) {
            step = next
            code = ""
            self.feedback = feedback
        }

        private func attempt(_ body: () async throws -> Void) async {
            guard !isBusy else { return }
            isBusy = true
            defer { isBusy = false }
            feedback = nil
            do { try await body() } catch { feedback = Feedback(error) }
        }
    }

    extension Feedback {
        /// The server answers in the same way for any address.
        static let codeSent = Feedback(code: "codeSent", "A mail with a code is on its way to this address.")
        static let confirmed = Feedback(code: "confirmed", "The address is confirmed. Sign in.")
        static let passwordChanged = Feedback(
            code: "passwordChanged", "The password is changed, and all sessions have ended. Sign in.")
    }
#endif
