#if Server
    import ChatDomain
    import Locking
    import LocalStorage
    import Testing

    @testable import ChatAccounts

    struct SignUpTests {
        let fixture: Fixture
        let store: AccountStore
        let password = Fixture.password

        init() throws {
            fixture = try Fixture()
            store = try fixture.open()
        }

        @Test func confirmedAccountSurvivesReopening() throws {
            try store.signUp(username: "Ann", email: "Ann@Example.org", password: password, address: nil)
            let code = try fixture.code(store, "ann@example.org")
            #expect(try store.unregistered().isEmpty)
            let first = try store.confirm(email: "ANN@example.ORG", code: code, address: nil)
            #expect(first.username.text == "Ann")
            let reopened = try fixture.open()
            #expect(try reopened.unregistered() == [first])
            // A client repeats the call with the same code.
            #expect(try reopened.confirm(email: "ann@example.org", code: code, address: nil) == first)
            #expect(failure { _ = try fixture.signIn(reopened, "ann@example.org") } == .notRegistered)
            try reopened.markRegistered(account: first.account)
            try reopened.markRegistered(account: first.account)
            #expect(try fixture.open().unregistered().isEmpty)
            #expect(
                failure { _ = try reopened.confirm(email: "ann@example.org", code: code, address: nil) } == .invalidCode
            )
            #expect(try fixture.signIn(reopened, "ann@example.org").session.user == first.user)
        }

        @Test func anotherUsernameWithTheSameCode() throws {
            try store.signUp(username: "Ann", email: "a@x.org", password: password, address: nil)
            let code = try fixture.code(store, "a@x.org")
            let first = try store.confirm(email: "a@x.org", code: code, address: nil)
            let second = try store.confirm(email: "a@x.org", code: code, username: "Anna", address: nil)
            #expect(second.account == first.account && second.user == first.user && second.username.text == "Anna")
            try store.rename(account: first.account, username: try #require(Username("Annie")))
            #expect(try store.unregistered().map(\.username.text) == ["Annie"])
            try store.markRegistered(account: first.account)
            #expect(failure { try store.rename(account: first.account, username: first.username) } == .unknownAccount)
        }

        @Test func codeEndsAfterFiveTries() throws {
            try store.signUp(username: "Ann", email: "a@x.org", password: password, address: nil)
            let code = try fixture.code(store, "a@x.org")
            for _ in 0..<4 {
                #expect(
                    failure { _ = try store.confirm(email: "a@x.org", code: wrong(code), address: nil) } == .invalidCode
                )
            }
            // The count survives a restart, and the fifth try can be the right one.
            let reopened = try fixture.open()
            #expect(try reopened.confirm(email: "a@x.org", code: code, address: nil).username.text == "Ann")
            #expect(
                failure { _ = try reopened.confirm(email: "a@x.org", code: wrong(code), address: nil) } == .invalidCode)
            #expect(failure { _ = try reopened.confirm(email: "a@x.org", code: code, address: nil) } == .invalidCode)
            try reopened.resendCode(email: "a@x.org", address: nil)
            #expect(
                failure {
                    _ = try reopened.confirm(
                        email: "a@x.org", code: try fixture.code(reopened, "a@x.org"), address: nil)
                } == nil)
        }

        @Test func codeExpiresAfterTenMinutes() throws {
            try store.signUp(username: "Ann", email: "a@x.org", password: password, address: nil)
            let code = try fixture.code(store, "a@x.org")
            fixture.advance(600_000 - 1)
            #expect(failure { _ = try store.confirm(email: "a@x.org", code: code, address: nil) } == nil)
            fixture.advance(1)
            #expect(failure { _ = try store.confirm(email: "a@x.org", code: code, address: nil) } == .invalidCode)
        }

        @Test func codeOfAnotherAccountIsWrong() throws {
            for email in ["a@x.org", "b@x.org"] {
                try store.signUp(username: "Ann", email: email, password: password, address: nil)
            }
            let (first, second) = (try fixture.code(store, "a@x.org"), try fixture.code(store, "b@x.org"))
            if first != second {
                #expect(failure { _ = try store.confirm(email: "a@x.org", code: second, address: nil) } == .invalidCode)
            }
            #expect(failure { _ = try store.confirm(email: "c@x.org", code: first, address: nil) } == .invalidCode)
        }

        @Test func unconfirmedAccountIsReplacedAndAKnownOneIsNot() throws {
            try store.signUp(username: "Ann", email: "a@x.org", password: "first password", address: nil)
            let old = try fixture.code(store, "a@x.org")
            let user = try fixture.register(store, "Bea", "A@x.org").user
            if try fixture.code(store, "a@x.org") != old {
                #expect(failure { _ = try store.confirm(email: "a@x.org", code: old, address: nil) } == .invalidCode)
            }
            #expect(failure { _ = try fixture.signIn(store, "a@x.org", "first password") } == .invalidCredentials)
            try store.signUp(username: "Eve", email: "a@x.org", password: "third password", address: nil)
            store.drainMails()
            let mail = try #require(fixture.outbox.last(to: "a@x.org"))
            #expect(mail.contains("has an account already") && !mail.contains("Your code is"))
            #expect(failure { _ = try fixture.signIn(store, "a@x.org", "third password") } == .invalidCredentials)
            #expect(try fixture.signIn(store, "a@x.org").session.user == user)
        }

        @Test func abandonedSignUpIsDeletedByTheNextAfterADay() throws {
            try store.signUp(username: "Ann", email: "a@x.org", password: password, address: nil)
            fixture.advance(86_400_000)
            try store.signUp(username: "Bea", email: "b@x.org", password: password, address: nil)
            let row = try store.database.withLock { database throws(AccountError) in
                try database.run("SELECT email FROM accounts")
            }
            #expect(row == [[.text("b@x.org")]])
        }

        @Test func resendIsSilentForOtherAccounts() throws {
            try fixture.register(store, "Ann", "a@x.org")
            let count = fixture.outbox.count
            try store.resendCode(email: "a@x.org", address: nil)
            try store.resendCode(email: "unknown@x.org", address: nil)
            store.drainMails()
            #expect(fixture.outbox.count == count)
        }

        @Test(arguments: [
            "", "a", "@", "a@", "@x.org", "a@@x.org", "a@b@x.org", "a b@x.org", "a@x.org ", "a@x.org\r\nBcc: b@y.org",
            "a\u{0}@x.org",
            "a,b@x.org", "<a@x.org>", "\"a\"@x.org", ".a@x.org", "a..b@x.org", "a@-x.org", "a@x..org", "а@x.org",
            "a@xn\u{e9}.org",
            String(repeating: "a", count: 65) + "@x.org", "a@" + String(repeating: "x.", count: 130) + "org",
            "a@" + String(repeating: "x", count: 1 << 20),
        ]) func invalidEmailIsRejected(text: String) throws {
            #expect(EmailAddress(text) == nil)
            let calls: [() throws -> Void] = [
                { try store.signUp(username: "Ann", email: text, password: password, address: nil) },
                { try store.resendCode(email: text, address: nil) },
                { try store.requestReset(email: text, address: nil) },
                { _ = try store.confirm(email: text, code: "123456", address: nil) },
                { try store.reset(email: text, code: "123456", new: password, address: nil) },
                { _ = try fixture.signIn(store, text) },
            ]
            for call in calls { #expect(failure(call) == .invalidEmail) }
        }

        @Test func validEmailKeepsItsLocalPart() throws {
            let email = try #require(EmailAddress("O'Hara+x@EXAMPLE.org"))
            #expect(email.text == "O'Hara+x@example.org" && email.key == "o'hara+x@example.org")
        }

        @Test(arguments: [
            "", "\u{0}", "a\u{7}b", String(repeating: "a", count: 65), String(repeating: "a", count: 1 << 20),
        ])
        func invalidUsernameIsRejected(name: String) {
            #expect(
                failure { try store.signUp(username: name, email: "a@x.org", password: password, address: nil) }
                    == .invalidUsername)
        }

        @Test func passwordHasEightTo256Characters() throws {
            for (text, isValid) in [
                ("1234567", false), ("12345678", true), (String(repeating: "é", count: 256), true),
                (String(repeating: "a", count: 257), false),
                (String(repeating: "\u{1F600}", count: 256), true), (String(repeating: "a", count: 1 << 20), false),
                ("        ", true),
            ] { #expect((Password(ifValid: text) != nil) == isValid, "\(text.utf8.count) bytes") }
            #expect(Password(ifValid: "cafe\u{301} au lait")?.bytes == Password(ifValid: "caf\u{e9} au lait")?.bytes)
            #expect(
                failure { try store.signUp(username: "Ann", email: "a@x.org", password: "short", address: nil) }
                    == .invalidPassword)
        }

        @Test func textIsStoredAsData() throws {
            let hostile = "x'); DROP TABLE a;--"
            let user = try fixture.register(store, hostile, "o'hara@x.org").user
            let text = "a\u{0}b'; DROP TABLE accounts; --"
            try store.changePassword(user: user, old: password, new: text)
            #expect(
                failure { _ = try fixture.signIn(store, "o'hara@x.org", "a\u{0}b'; DROP TABLE other; ---") }
                    == .invalidCredentials)
            #expect(
                try store.signIn(email: "o'hara@x.org", password: text, device: "d'; --", address: nil).session.device
                    == "d'; --")
            #expect(try store.sessions(of: user).map(\.device) == ["d'; --"])
        }
    }
#endif
