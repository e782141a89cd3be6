#if Server
    import ChatDomain
    import Foundation
    import Locking
    import TestSupport
    import LocalStorage
    import Testing

    @testable import ChatAccounts

    /// The change of the address of an account.
    struct EmailChangeTests {
        let fixture: Fixture
        let store: AccountStore
        let user: UserID

        init() throws {
            fixture = try Fixture()
            var options = fixture.options
            options.site = AccountSite(name: "Hill Street", url: "https://hill.example")
            store = try fixture.open(options)
            user = try fixture.register(store, "Ann", "a@x.org").user
        }

        /// Begins a change, and returns the codes of the present and the new address.
        private func begin(to email: String = "New@x.org") throws -> (present: String, new: String) {
            try store.requestEmailChange(user: user, password: Fixture.password, email: email, address: nil)
            return (try fixture.code(store, "a@x.org"), try fixture.code(store, email))
        }

        private func confirm(_ present: String, _ new: String, keeping kept: AccountSessionID? = nil) throws {
            try store.confirmEmailChange(user: user, present: present, new: new, keeping: kept, address: nil)
        }

        @Test func bothCodesChangeTheAddress() throws {
            let (kept, other) = (try fixture.signIn(store, "a@x.org"), try fixture.signIn(store, "a@x.org"))
            let codes = try begin()
            // The owner sees which address it is to be.
            #expect(fixture.outbox.last(to: "a@x.org")?.contains("New@x.org") == true)
            let (present, next) = (try #require(EmailAddress("a@x.org")), try #require(EmailAddress("New@x.org")))
            #expect(try store.addresses(of: user) == AccountAddresses(present: present, next: next))
            #expect(failure { try confirm(codes.present, wrong(codes.new)) } == .invalidCode)
            #expect(failure { try confirm(wrong(codes.present), codes.new) } == .invalidCode)
            _ = try fixture.signIn(store, "a@x.org")
            try confirm(codes.present, codes.new, keeping: kept.session.id)
            store.drainMails()
            #expect(fixture.outbox.last(to: "a@x.org")?.contains("has another e-mail address now") == true)
            #expect(fixture.outbox.last(to: "a@x.org")?.contains("#/sign-in") == true)
            #expect(try store.addresses(of: user) == AccountAddresses(present: next, next: nil))
            #expect(try store.session(token: kept.token) != nil)
            #expect(try store.session(token: other.token) == nil)
            #expect(failure { _ = try fixture.signIn(store, "a@x.org") } == .invalidCredentials)
            _ = try fixture.signIn(store, "new@x.org")
            #expect(failure { try confirm(codes.present, codes.new) } == .invalidCode)
            // The earlier address is free.
            try fixture.register(store, "Bea", "a@x.org")
        }

        @Test func aWrongPasswordAndTheOwnAddressBeginNothing() throws {
            #expect(
                failure {
                    try store.requestEmailChange(user: user, password: "wrong password", email: "b@x.org", address: nil)
                }
                    == .invalidCredentials)
            for email in ["A@x.org", "a@", ""] {
                #expect(
                    failure {
                        try store.requestEmailChange(user: user, password: Fixture.password, email: email, address: nil)
                    }
                        == .invalidEmail)
            }
            #expect(failure { try confirm("123456", "123456") } == .invalidCode)
            #expect(try store.addresses(of: user)?.next == nil)
        }

        /// The answer is that for a free address; the owner is told, and there is no code.
        @Test func anAddressWithAnAccountIsNotTold() throws {
            try fixture.register(store, "Bea", "b@x.org")
            try store.requestEmailChange(user: user, password: Fixture.password, email: "b@x.org", address: nil)
            store.drainMails()
            #expect(fixture.outbox.last(to: "b@x.org")?.contains("You already have an account") == true)
            #expect(fixture.outbox.last(to: "b@x.org")?.contains("Your code is") == false)
            #expect(try store.addresses(of: user)?.next == EmailAddress("b@x.org"))
            _ = try fixture.signIn(store, "b@x.org")
        }

        /// An address is mailed to as its owner has entered it, whatever case another user enters.
        @Test func theOwnerIsToldAtTheirOwnAddress() throws {
            try fixture.register(store, "Bea", "b@x.org")
            try store.requestEmailChange(user: user, password: Fixture.password, email: "B@x.org", address: nil)
            store.drainMails()
            #expect(fixture.outbox.last(to: "b@x.org")?.contains("To: b@x.org\r\n") == true)
        }

        /// A use of any session removes what has expired.
        @Test func anExpiredChangeLeavesTheFile() throws {
            let session = try fixture.signIn(store, "a@x.org")
            _ = try begin()
            func counts() throws -> [[SQLValue]] {
                try store.database.withLock { database throws(AccountError) in
                    try database.run("SELECT (SELECT count(*) FROM email_changes), (SELECT count(*) FROM codes)")
                }
            }
            #expect(try counts() == [[.integer(1), .integer(2)]])
            fixture.advance(10 * 60_000)
            _ = try store.session(token: session.token)
            store.lastUseQueue.sync {}
            #expect(try counts() == [[.integer(0), .integer(0)]])
        }

        /// Whoever confirms the address first has it.
        @Test func anAddressThatIsTakenMeanwhileIsNotGiven() throws {
            let codes = try begin()
            try fixture.register(store, "Bea", "new@x.org")
            #expect(failure { try confirm(codes.present, codes.new) } == .invalidCode)
            _ = try fixture.signIn(store, "a@x.org")
        }

        @Test func anUnconfirmedSignUpWithTheAddressEnds() throws {
            let codes = try begin()
            try store.signUp(username: "Eve", email: "new@x.org", password: "another password", address: nil)
            let late = try fixture.code(store, "new@x.org")
            try confirm(codes.present, codes.new)
            #expect(failure { _ = try store.confirm(email: "new@x.org", code: late, address: nil) } == .invalidCode)
            _ = try fixture.signIn(store, "new@x.org")
        }

        @Test func codesExpireAndAreVoidAfterFiveTries() throws {
            var codes = try begin()
            fixture.advance(10 * 60_000)
            #expect(failure { try confirm(codes.present, codes.new) } == .invalidCode)
            codes = try begin()
            for _ in 0..<5 { #expect(failure { try confirm(codes.present, wrong(codes.new)) } == .invalidCode) }
            #expect(failure { try confirm(codes.present, codes.new) } == .invalidCode)
            let earlier = try begin()
            codes = try begin()
            if earlier != codes { #expect(failure { try confirm(earlier.present, earlier.new) } == .invalidCode) }
            try confirm(codes.present, codes.new)
        }

        /// A person who suspects that another one has the password changes it, which ends what that
        /// one began.
        @Test func aNewPasswordEndsAChangeThatBegan() throws {
            let codes = try begin()
            try store.changePassword(user: user, old: Fixture.password, new: "another password")
            #expect(failure { try confirm(codes.present, codes.new) } == .invalidCode)
            try store.requestEmailChange(user: user, password: "another password", email: "new@x.org", address: nil)
            let others = (try fixture.code(store, "a@x.org"), try fixture.code(store, "new@x.org"))
            try store.requestReset(email: "a@x.org", address: nil)
            try store.reset(
                email: "a@x.org", code: try fixture.code(store, "a@x.org"), new: "a third password", address: nil)
            #expect(failure { try confirm(others.0, others.1) } == .invalidCode)
        }

        @Test func mailsToOneAddressAreLimited() throws {
            var options = fixture.options
            options.signUpLimits = OperationLimits(
                account: AttemptLimit(burst: 2, intervalMilliseconds: 60_000),
                address: AttemptLimit(burst: 100, intervalMilliseconds: 1))
            let limited = try fixture.open(options)
            for number in 0..<3 {
                let result = failure {
                    try limited.requestEmailChange(
                        user: user, password: Fixture.password, email: "b@x.org", address: nil)
                }
                #expect(result == (number < 2 ? nil : .tooManyAttempts))
            }
        }

        /// Changes to ever other addresses give no more codes of the present one than resets do.
        @Test func changesAreLimitedLikeResets() throws {
            var options = fixture.options
            options.resetLimits.account = AttemptLimit(burst: 3, intervalMilliseconds: 360_000)
            let limited = try fixture.open(options)
            let results = (0..<8).map { number in
                fixture.advance(60_000)
                return failure {
                    try limited.requestEmailChange(
                        user: user, password: Fixture.password, email: "b\(number)@x.org", address: nil)
                }
            }
            // Three at first, and the next one after six minutes.
            #expect(
                results == [nil, nil, nil, .tooManyAttempts, .tooManyAttempts, .tooManyAttempts, nil, .tooManyAttempts])
        }

        /// A file of before has no table of changes.
        @Test func anEarlierFileIsMigrated() throws {
            try store.database.withLock { database throws(AccountError) in
                for table in ["email_changes", "deleted_sessions"] { try database.run("DROP TABLE \(table)") }
                try database.run("PRAGMA user_version=1")
            }
            try store.close()
            let opened = try fixture.open()
            try opened.requestEmailChange(user: user, password: Fixture.password, email: "b@x.org", address: nil)
            #expect(try opened.addresses(of: user)?.next == EmailAddress("b@x.org"))
        }
    }
#endif
