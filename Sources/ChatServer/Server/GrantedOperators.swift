#if Server
    internal import Chat
    internal import ChatAccounts
    internal import ChatDomain
    internal import ChatWire

    // Operators by the addresses of their accounts. No answer and no error depends on these
    // addresses; the log names one by its number in `ServerOptions.operators`, from 1.

    extension AccountService {
        /// Makes the users of all accounts with an address of ``operators`` operators.
        ///
        /// An address without a confirmed account is granted when it is confirmed.
        func grantOperators() async {
            for index in operators.indices {
                await logging(index) {
                    if let user = try await user(withAddress: index) {
                        try await grant(user, index)
                    } else {
                        log.write("operatorNotConfirmed", ("address", "\(index + 1)"))
                    }
                }
            }
        }

        /// Makes a user an operator if ``operators`` has the address of their account.
        ///
        /// A failure is written to the log only, because the user is registered; the next start
        /// tries again.
        func grantOperator(_ user: UserID) async {
            for index in operators.indices {
                await logging(index) {
                    if try await self.user(withAddress: index) == user { try await grant(user, index) }
                }
            }
        }

        private func user(withAddress index: Int) async throws -> UserID? {
            let address = operators[index]
            return try await run { try $0.registeredUser(withEmail: address) }
        }

        private func grant(_ user: UserID, _ index: Int) async throws {
            switch try await store.execute([CommandRequest(.grantOperator(user: user))])[0] {
            case .success(let receipt):
                if receipt.positions != nil { log.write("operatorGranted", ("user", "\(user)")) }
            // An erased user, or one whom an older copy of the journal lacks.
            case .failure(let rejection):
                log.write("operatorNotGranted", ("address", "\(index + 1)"), ("code", rejection.code.rawValue))
            }
        }

        private func logging(_ index: Int, _ body: () async throws -> Void) async {
            do { try await body() } catch {
                log.write("operatorNotGranted", ("address", "\(index + 1)"), ("code", Self.code(of: error)))
            }
        }
    }
#endif
