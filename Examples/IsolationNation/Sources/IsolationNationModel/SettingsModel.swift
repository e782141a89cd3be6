#if Client || canImport(SQLite3)
    public import ChatClient
    public import Observation

    /// The devices of the user, and the password.
    @MainActor @Observable public final class SettingsModel {
        /// The sessions, the newest first.
        public private(set) var devices: [DeviceSession] = []
        /// Whether a request is under way.
        public private(set) var isBusy = false
        /// What went wrong, or what was done.
        public var feedback: Feedback?

        @ObservationIgnored private let accounts: ServerAccounts
        @ObservationIgnored private let session: ClientSession

        init(_ accounts: ServerAccounts, _ session: ClientSession) {
            (self.accounts, self.session) = (accounts, session)
        }

        /// Reads the sessions.
        public func reload() async { await attempt { self.devices = try await self.accounts.sessions(self.session) } }

        /// Ends the session of another device.
        public func end(_ device: DeviceSession) async {
            await attempt {
                do throws(ClientError) { try await self.accounts.endSession(device.id, self.session) } catch .notFound {
                    // It has ended already.
                }
                self.devices = try await self.accounts.sessions(self.session)
            }
        }

        /// Changes the password, which ends all other sessions.
        public func changePassword(old: String, new: String) async {
            await attempt {
                try await self.accounts.changePassword(old: old, new: new, self.session)
                self.devices = try await self.accounts.sessions(self.session)
                self.feedback = Feedback(
                    code: "passwordChanged", "The password is changed, and all other sessions have ended.")
            }
        }

        private func attempt(_ body: () async throws -> Void) async {
            guard !isBusy else { return }
            isBusy = true
            defer { isBusy = false }
            feedback = nil
            do { try await body() } catch { feedback = Feedback(error) }
        }
    }
#endif
