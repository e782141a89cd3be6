#if Server
    import ChatDomain
    import TestSupport
    import Testing

    @testable import ChatAccounts

    /// Random operations against a simple model of the accounts.
    struct ModelTests {
        /// A code and the wrong tries that it has left.
        private struct Code {
            var text: String?
            var left = 0

            init(_ text: String? = nil) {
                self.text = text
                left = 5
            }

            mutating func countTry() {
                left -= 1
                if left == 0 { text = nil }
            }
        }

        private struct Account {
            var state = "unconfirmed"
            var password: String
            var code = Code()
            var reset = Code()
            var registration: AccountRegistration?
            var tokens: Set<String> = []
        }

        @Test func randomOperationsMatchTheModel() throws {
            var random = SplitMix64(seed: Repetitions.seed)
            for _ in 0..<Repetitions.few(10, of: 200) {
                let fixture = try Fixture()
                var store = try fixture.open()
                var model: [String: Account] = [:]
                let passwords = ["password one", "password two", "password six"]
                for step in 0..<60 {
                    let email = ["a@x.org", "b@x.org", "c@x.org"].randomElement(using: &random) ?? ""
                    let password = passwords.randomElement(using: &random) ?? ""
                    let account = model[email]
                    let isRight = UInt8.random(in: 0..<4, using: &random) > 0
                    let place: Comment = "CHATJOURNAL_SEED=\(Repetitions.seed), step \(step), \(email)"
                    switch Int.random(in: 0..<10, using: &random) {
                    case 0:
                        try store.signUp(username: "Ann", email: email, password: password, address: nil)
                        if account == nil || account?.state == "unconfirmed" {
                            model[email] = Account(password: password, code: Code(try fixture.code(store, email)))
                        }
                    case 1:
                        let code = isRight ? account?.code.text ?? "000000" : wrong(account?.code.text ?? "")
                        let isAccepted = isRight && account?.code.text != nil
                        let result = failure {
                            let registration = try store.confirm(email: email, code: code, address: nil)
                            model[email]?.registration = registration
                        }
                        #expect(result == (isAccepted ? nil : .invalidCode), place)
                        if isAccepted { model[email]?.state = "confirmed" }
                        if !isRight { model[email]?.code.countTry() }
                    case 2:
                        guard let registration = account?.registration else { continue }
                        let result = failure { try store.markRegistered(account: registration.account) }
                        #expect(result == (account?.state == "deleting" ? .unknownAccount : nil), place)
                        if account?.state == "confirmed" {
                            model[email]?.state = "registered"
                            model[email]?.code = Code()
                        }
                    case 3, 4:
                        let isEqual = account?.password == password
                        let expected: AccountError.Code? =
                            isEqual && account?.state == "registered"
                            ? nil : isEqual && account?.state == "confirmed" ? .notRegistered : .invalidCredentials
                        let result = failure {
                            let token = try fixture.signIn(store, email, password).token
                            model[email]?.tokens.insert(token)
                        }
                        #expect(result == expected, place)
                    case 5:
                        try store.requestReset(email: email, address: nil)
                        guard let account, ["confirmed", "registered"].contains(account.state) else { continue }
                        model[email]?.reset = Code(try fixture.code(store, email))
                    case 6:
                        let code = isRight ? account?.reset.text ?? "000000" : wrong(account?.reset.text ?? "")
                        let isAccepted = isRight && account?.reset.text != nil
                        #expect(
                            failure { try store.reset(email: email, code: code, new: password, address: nil) }
                                == (isAccepted ? nil : .invalidCode), place)
                        if isAccepted {
                            model[email]?.password = password
                            model[email]?.reset = Code()
                            model[email]?.tokens = []
                        }
                        if !isRight { model[email]?.reset.countTry() }
                    case 7:
                        guard let token = account?.tokens.randomElement(using: &random) else { continue }
                        try store.signOut(token: token)
                        model[email]?.tokens.remove(token)
                    case 8:
                        guard let registration = account?.registration else { continue }
                        if account?.state == "deleting" {
                            try store.finishDeletion(account: registration.account)
                            model[email] = nil
                        } else {
                            let isAccepted = account?.state == "registered" && account?.password == password
                            let result = failure {
                                _ = try store.beginDeletion(user: registration.user, password: password)
                            }
                            #expect(result == (isAccepted ? nil : .invalidCredentials), place)
                            if isAccepted {
                                model[email]?.state = "deleting"
                                model[email]?.tokens = []
                                model[email]?.reset = Code()
                            }
                        }
                    default: store = try fixture.open()
                    }
                    let confirmed = model.values.filter { $0.state == "confirmed" }.compactMap(\.registration?.account)
                    #expect(Set(try store.unregistered().map(\.account)) == Set(confirmed), place)
                    let deleting = model.values.filter { $0.state == "deleting" }.compactMap(\.registration?.account)
                    #expect(Set(try store.pendingDeletions().map(\.account)) == Set(deleting), place)
                    for account in model.values {
                        guard let user = account.registration?.user else { continue }
                        #expect(try store.sessions(of: user).count == account.tokens.count, place)
                        for token in account.tokens { #expect(try store.session(token: token)?.user == user, place) }
                    }
                }
            }
        }
    }
#endif
