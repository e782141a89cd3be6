#if Server
    import ChatDomain
    import TestSupport
    import Testing

    @testable import ChatAccounts

    /// Every public operation with texts of an attacker in every parameter.
    struct HostileInputTests {
        static let texts: [String] = [
            "", " ", "\u{0}", "a\u{0}@x.org", "\r\n", "\u{1B}[2J", "\u{202E}evil", "\u{FEFF}", "%s%n%00",
            "'; DROP TABLE accounts; --",
            "a@x.org\r\nBcc: b@y.org", "..\u{2F}..\u{2F}etc\u{2F}passwd", "\u{FFFD}", "\u{10FFFF}", "00000O", "-00001",
            "١٢٣٤٥٦",
            "1e5\u{0}\u{0}\u{0}",
            "e" + String(repeating: "\u{301}", count: 100_000), String(repeating: "a", count: 10 << 20),
            String(repeating: "\u{0}", count: 10 << 20), String(repeating: "👩‍👩‍👧‍👦", count: 100_000),
            String(repeating: "@", count: 1 << 20), "a@" + String(repeating: "x.", count: 1 << 20) + "org",
        ]

        @Test func everyOperationRejectsHostileTexts() throws {
            let fixture = try Fixture()
            let store = try fixture.open()
            let user = try fixture.register(store, "Ann", "a@x.org").user
            try store.signUp(username: "Bea", email: "b@x.org", password: Fixture.password, address: nil)
            let code = try fixture.code(store, "b@x.org")
            let signedIn = try fixture.signIn(store, "a@x.org")
            let password = Fixture.password
            let expected: [(String, Set<AccountError.Code?>, (String) throws -> Void)] = [
                (
                    "sign-up, username", [.invalidUsername, nil],
                    {
                        try store.signUp(username: $0, email: "c@x.org", password: password, address: nil)
                    }
                ),
                (
                    "sign-up, e-mail", [.invalidEmail],
                    { try store.signUp(username: "Cid", email: $0, password: password, address: nil) }
                ),
                (
                    "sign-up, password", [.invalidPassword, nil],
                    {
                        try store.signUp(username: "Cid", email: "c@x.org", password: $0, address: nil)
                    }
                ),
                ("resend", [.invalidEmail], { try store.resendCode(email: $0, address: nil) }),
                ("confirm, e-mail", [.invalidEmail], { _ = try store.confirm(email: $0, code: code, address: nil) }),
                ("confirm, code", [.invalidCode], { _ = try store.confirm(email: "b@x.org", code: $0, address: nil) }),
                (
                    "confirm, username", [.invalidUsername, .invalidCode],
                    {
                        _ = try store.confirm(email: "b@x.org", code: "", username: $0, address: nil)
                    }
                ),
                (
                    "confirm, password", [.invalidCode],
                    {
                        _ = try store.confirm(email: "b@x.org", code: code, password: $0, address: nil)
                    }
                ),
                (
                    "sign-in, e-mail", [.invalidEmail],
                    { _ = try store.signIn(email: $0, password: password, address: nil) }
                ),
                (
                    "sign-in, password", [.invalidCredentials],
                    { _ = try store.signIn(email: "a@x.org", password: $0, address: nil) }
                ),
                (
                    "sign-in, device", [.invalidDevice, nil],
                    {
                        _ = try store.signIn(email: "a@x.org", password: password, device: $0, address: nil)
                    }
                ),
                ("session", [nil], { if try store.session(token: $0) != nil { throw AccountError.unknownAccount } }),
                ("sign-out", [nil], { try store.signOut(token: $0) }),
                ("end of a session", [nil], { if AccountSessionID($0) != nil { throw AccountError.unknownAccount } }),
                (
                    "change, old", [.invalidCredentials],
                    { try store.changePassword(user: user, old: $0, new: password) }
                ),
                (
                    "change, new", [.invalidPassword, .invalidCredentials],
                    {
                        try store.changePassword(user: user, old: "wrong password", new: $0)
                    }
                ),
                ("forgot", [.invalidEmail], { try store.requestReset(email: $0, address: nil) }),
                (
                    "reset, e-mail", [.invalidEmail],
                    { try store.reset(email: $0, code: code, new: password, address: nil) }
                ),
                (
                    "reset, code", [.invalidCode],
                    { try store.reset(email: "a@x.org", code: $0, new: password, address: nil) }
                ),
                (
                    "reset, password", [.invalidPassword, .invalidCode],
                    {
                        try store.reset(email: "a@x.org", code: code, new: $0, address: nil)
                    }
                ),
                (
                    "new address", [.invalidEmail],
                    {
                        try store.requestEmailChange(user: user, password: password, email: $0, address: nil)
                    }
                ),
                (
                    "new address, password", [.invalidCredentials],
                    {
                        try store.requestEmailChange(user: user, password: $0, email: "c@x.org", address: nil)
                    }
                ),
                (
                    "new address, codes", [.invalidCode],
                    {
                        try store.confirmEmailChange(user: user, present: $0, new: $0, address: nil)
                    }
                ),
                ("deletion", [.invalidCredentials], { _ = try store.beginDeletion(user: user, password: $0) }),
                ("network address", [nil], { if ClientAddress(text: $0) != nil { throw AccountError.unknownAccount } }),
            ]
            for (name, codes, call) in expected {
                for text in Self.texts {
                    let code = failure { try call(text) }
                    #expect(
                        codes.contains(code),
                        "\(name): \(text.unicodeScalars.prefix(40)) gives \(code?.rawValue ?? "no error")")
                }
            }
            // Nothing of it changed the account.
            #expect(try store.session(token: signedIn.token)?.user == user)
            #expect(try fixture.signIn(store, "a@x.org").session.user == user)
        }
    }
#endif
