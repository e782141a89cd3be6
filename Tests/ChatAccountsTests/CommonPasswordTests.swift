#if Server
    import ChatDomain
    import Locking
    import TestSupport
    import LocalStorage
    import Testing

    @testable import ChatAccounts

    /// Passwords that many people use, and names of the site and the user.
    struct CommonPasswordTests {
        @Test func theListHasOnlyPasswordsThatAreLongEnough() {
            #expect((200...1_000).contains(CommonPasswords.list.count))
            #expect(
                CommonPasswords.list.allSatisfy {
                    $0.count >= 8 && $0 == $0.lowercased() && Password(ifValid: $0) != nil
                })
        }

        @Test(arguments: [
            "password", "Password1", "12345678", "QWERTYUIOP", "iloveyou", "Annabel1", "!!annabel!!",
            "a.nna@example.org",
            "Hill-Street 24", "p a s s w o r d", "pass\u{200B}word", "pass\u{AD}word\u{200D}", "ｐａｓｓｗｏｒｄ",
            "\u{2003}Pass\u{A0}word",
            "zzzzzzzz", "ZzZzZzZzZ", "z z z z z", "ÄÄÄÄÄÄÄÄ", "        ", "Ａｎｎａｂｅｌ1", "Anna\u{200D}bel1",
        ])
        func aCommonPasswordIsRejectedEverywhere(text: String) throws {
            let fixture = try Fixture()
            var options = fixture.options
            options.site = AccountSite(name: "Hill Street")
            let store = try fixture.open(options)
            let email = "a.nna@example.org"
            #expect(
                failure { try store.signUp(username: "Annabel", email: email, password: text, address: nil) }
                    == .commonPassword)
            #expect(fixture.outbox.count == 0)
            let user = try fixture.register(store, "Annabel", email).user
            #expect(
                failure { try store.changePassword(user: user, old: Fixture.password, new: text) } == .commonPassword)
            try store.requestReset(email: email, address: nil)
            let code = try fixture.code(store, email)
            #expect(failure { try store.reset(email: email, code: code, new: text, address: nil) } == .commonPassword)
            _ = try fixture.signIn(store, email)
            // The code stays valid.
            try store.reset(email: email, code: code, new: "annabel on the hill", address: nil)
            _ = try fixture.signIn(store, email, "annabel on the hill")
        }

        /// The name that replaces one which another user has got meanwhile.
        @Test func aNewNameIsComparedAtTheConfirmation() throws {
            let fixture = try Fixture()
            let store = try fixture.open()
            try store.signUp(username: "Ann", email: "a@x.org", password: "Annabel-1", address: nil)
            let code = try fixture.code(store, "a@x.org")
            func confirm(_ name: String) -> AccountError.Code? {
                failure {
                    _ = try store.confirm(
                        email: "a@x.org", code: code, username: name, password: "Annabel-1", address: nil)
                }
            }
            #expect(confirm("Annabel") == .commonPassword)
            #expect(confirm("Annabel Lee") == nil)
        }

        /// Without the right code nobody learns the name of an account.
        @Test func aNameIsNoHintWithoutTheCode() throws {
            let fixture = try Fixture()
            let store = try fixture.open()
            try fixture.register(store, "Annabel", "a@x.org")
            try store.requestReset(email: "a@x.org", address: nil)
            let code = try fixture.code(store, "a@x.org")
            #expect(
                failure { try store.reset(email: "a@x.org", code: wrong(code), new: "Annabel1", address: nil) }
                    == .invalidCode)
        }

        /// An account of before may have a common password.
        @Test func aCommonPasswordOfBeforeSignsIn() throws {
            let fixture = try Fixture()
            let store = try fixture.open()
            let user = try fixture.register(store, "Ann", "a@x.org").user
            let hash = try #require(Sodium.passwordHash(Array("password".utf8), fixture.options.passwordCost))
            try store.database.withLock { database throws(AccountError) in
                _ = try database.run("UPDATE accounts SET password = ? WHERE user = ?", .text(hash), .id(user.bits))
            }
            _ = try fixture.signIn(store, "a@x.org", "password")
            try store.changePassword(user: user, old: "password", new: Fixture.password)
        }
    }
#endif
