#if Server
    import Foundation
    import Locking
    import TestSupport
    import LocalStorage
    import Testing

    @testable import ChatAccounts

    /// Answers that must not show which addresses have an account, and what of a pair of secrets is
    /// wrong.
    struct EqualAnswersTests {
        /// One call in one state; `email` is an address in that state.
        private struct Case: Sendable {
            let operation: String
            let name: String
            var state = "unknown"
            let expected: AccountError.Code?
            /// Gets the address and the code of its last mail.
            let call: @Sendable (AccountStore, String, String) throws -> Void
        }

        private static let cases: [Case] = {
            let (right, other) = (Fixture.password, "wrong password")
            func signUp(_ state: String) -> Case {
                Case(operation: "sign-up", name: state, state: state, expected: nil) { store, email, _ in
                    try store.signUp(username: "Ann", email: email, password: other, address: nil)
                }
            }
            func signIn(_ state: String, _ password: String) -> Case {
                let isRight = state == "registered" && password == right
                return Case(
                    operation: "sign-in", name: "\(state), \(password == right ? "right" : "wrong")", state: state,
                    expected: isRight ? nil : .invalidCredentials
                ) { store, email, _ in _ = try store.signIn(email: email, password: password, address: nil) }
            }
            func resend(_ state: String) -> Case {
                Case(operation: "resend", name: state, state: state, expected: nil) { store, email, _ in
                    try store.resendCode(email: email, address: nil)
                }
            }
            func forgot(_ state: String) -> Case {
                Case(operation: "forgot", name: state, state: state, expected: nil) { store, email, _ in
                    try store.requestReset(email: email, address: nil)
                }
            }
            func reset(_ state: String, isRight: Bool = false) -> Case {
                Case(
                    operation: "reset", name: "\(state), \(isRight ? "right" : "wrong")", state: state,
                    expected: isRight ? nil : .invalidCode
                ) { store, email, code in
                    try store.reset(
                        email: email, code: isRight ? code : wrong(code), new: "another password", address: nil)
                }
            }
            func confirm(_ state: String, code isRight: Bool = false, _ password: String?) -> Case {
                let isAccepted = state == "unconfirmed" && isRight && password != other
                let text = password == nil ? "no password" : password == right ? "right password" : "wrong password"
                return Case(
                    operation: "confirm", name: "\(state), \(isRight ? "right" : "wrong") code, \(text)", state: state,
                    expected: isAccepted ? nil : .invalidCode
                ) { store, email, code in
                    _ = try store.confirm(
                        email: email, code: isRight ? code : wrong(code), password: password, address: nil)
                }
            }
            return ["unknown", "unconfirmed", "registered"].map(signUp)
                + ["unknown", "unconfirmed", "registered"].flatMap { [signIn($0, right), signIn($0, other)] }
                + ["unknown", "unconfirmed", "registered"].map(resend)
                + ["unknown", "unconfirmed", "registered"].map(forgot)
                + [reset("unknown"), reset("registered"), reset("resetting"), reset("resetting", isRight: true)]
                + ["unknown", "registered", "unconfirmed"].flatMap {
                    [confirm($0, right), confirm($0, other), confirm($0, nil)]
                }
                + [right, other, nil].map { confirm("unconfirmed", code: true, $0) }
        }()

        /// Brings an address into a state, and returns the code of its last mail.
        private func prepare(_ fixture: Fixture, _ store: AccountStore, _ email: String, _ state: String) throws
            -> String
        {
            if state == "unknown" {
                // Another account, so that the store has as much to read again as in other states.
                return try prepare(fixture, store, "other-" + email, "registered")
            }
            try store.signUp(username: "Ann", email: email, password: Fixture.password, address: nil)
            let code = try fixture.code(store, email)
            if state == "unconfirmed" { return code }
            try store.markRegistered(account: try store.confirm(email: email, code: code, address: nil).account)
            if state == "registered" { return code }
            try store.requestReset(email: email, address: nil)
            return try fixture.code(store, email)
        }

        @Test func answersDoNotShowWhoHasAnAccount() throws {
            let fixture = try Fixture()
            let fullRounds = ProcessInfo.processInfo.environment["CHATJOURNAL_TIMES"].flatMap { Int($0) }
            var options = fixture.options
            if fullRounds != nil { options.passwordCost = PasswordCost() }
            // Accounts are prepared with cheap hashes, which are then replaced.
            let (store, cheap) = (try fixture.open(options), try fixture.open())
            let hash = try #require(Sodium.passwordHash(Array(Fixture.password.utf8), options.passwordCost))
            var random = SplitMix64(seed: Repetitions.seed)
            var times = [[Duration]](repeating: [], count: Self.cases.count)
            for round in 0..<(fullRounds ?? 2) {
                for number in Self.cases.indices.shuffled(using: &random) {
                    let (test, email) = (Self.cases[number], "user\(round)-\(number)@x.org")
                    let code = try prepare(fixture, cheap, email, test.state)
                    try store.database.withLock { database throws(AccountError) in
                        _ = try database.run(
                            "UPDATE accounts SET password = ? WHERE email = ?", .text(hash), .text(email))
                    }
                    let start = ContinuousClock.now
                    let result = failure { try test.call(store, email, code) }
                    times[number].append(ContinuousClock.now - start)
                    #expect(result == test.expected, "\(test.operation), \(test.name)")
                    store.drainMails()
                }
            }
            if fullRounds == nil { return }
            for (test, times) in zip(Self.cases, times) {
                print("\(test.operation) | \(test.name) | \(times.sorted()[times.count / 2] / .milliseconds(1)) ms")
            }
        }

        /// Counts the calls for one address that are accepted while no mail is delivered.
        private func placeCount(_ test: Case, _ store: AccountStore, _ email: String) -> Int {
            for count in 0..<20 {
                let result = failure { try test.call(store, email, "") }
                if result == .busy { return count }
                #expect(result == nil, "\(test.operation), \(test.name)")
            }
            return 20
        }

        @Test func everyAddressTakesAPlaceAmongTheMails() throws {
            for test in Self.cases where ["sign-up", "resend", "forgot"].contains(test.operation) {
                let fixture = try Fixture()
                let email = "user@x.org"
                _ = try prepare(fixture, try fixture.open(), email, test.state)
                var options = fixture.options
                options.waitingMails = 4
                let sender = HeldSender(fixture.outbox)
                let from = try #require(EmailAddress("chat@example.org"))
                let store = try AccountStore(path: fixture.path, mailer: sender, from: from, options: options)
                // The first place is that of the mail that is being delivered.
                sender.isHeld.withLock { $0 = true }
                try store.signUp(username: "Eve", email: "eve@x.org", password: Fixture.password, address: nil)
                #expect(placeCount(test, store, email) == 3, "\(test.operation), \(test.name)")
                #expect(placeCount(test, store, email) == 0, "\(test.operation), \(test.name)")
                sender.isHeld.withLock { $0 = false }
                store.drainMails()
                // Every place is free again.
                sender.isHeld.withLock { $0 = true }
                try store.signUp(username: "Eve", email: "eve@x.org", password: Fixture.password, address: nil)
                #expect(placeCount(test, store, email) == 3, "\(test.operation), \(test.name)")
                sender.isHeld.withLock { $0 = false }
                store.drainMails()
            }
        }

        @Test func placeWithoutAMailLastsAsLongAsADelivery() throws {
            let fixture = try Fixture()
            let address = try #require(EmailAddress("ann@x.org"))
            let pauses = Lock([Duration]())
            let queue = MailQueue(HeldSender(fixture.outbox), from: address, fixture.options) { duration in
                pauses.withLock { $0.append(duration) }
            }
            for mail in [nil, Mail.signUpAttempt(address), nil, nil] {
                try queue.reserve()
                queue.deliver(mail)
            }
            queue.drain()
            let times = pauses.withLock { $0 }
            try #require(times.count == 3)
            // Nothing was delivered before the first one; a delivery sleeps before it looks.
            #expect(times[0] == .zero && times[1] >= HeldSender.step && times[2] == times[1])
        }
    }

    /// Delivers to an outbox, and not while it is held.
    private final class HeldSender: MailSender {
        static let step = Duration.milliseconds(1)
        let isHeld = Lock(false)
        private let outbox: Outbox

        init(_ outbox: Outbox) { self.outbox = outbox }

        func send(_ message: MailMessage) throws(AccountError) {
            repeat { Thread.sleep(forTimeInterval: Self.step / .seconds(1)) } while isHeld.withLock { $0 }
            try outbox.send(message)
        }
    }
#endif
