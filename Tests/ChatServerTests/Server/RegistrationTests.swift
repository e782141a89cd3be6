#if Server
    import Chat
    import ChatDomain
    import Foundation
    import Locking
    import TestSupport
    import LocalStorage
    import Testing

    @testable import ChatAccounts
    @testable import ChatServer

    /// Accounts and users of the journal, also after crashes between the two.
    @Suite struct RegistrationTests {
        private func confirm(_ name: String, _ code: String, username: String? = nil) -> String {
            "{\"email\":\"\(name)@example.org\",\"code\":\"\(code)\""
                + (username.map { ",\"username\":\"\($0)\"" } ?? "") + "}"
        }

        /// Another user gets the name between sign-up and confirmation: the code stays valid for
        /// another name.
        @Test func lostNameIsReplacedWithTheSameCode() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let client = try fixture.client()
            try await fixture.signUp("maya", client)
            let code = try fixture.code("maya")
            try await fixture.store.execute(.registerUser(username: "Maya"))
            let lost = try await client.send("POST", "/v1/confirm", confirm("maya", code))
            #expect((lost.status, lost.code) == (409, "usernameTaken"))
            #expect(try await client.send("POST", "/v1/sign-in", fixture.signInBody("maya")).code == "notRegistered")
            #expect(try await client.send("POST", "/v1/confirm", confirm("maya", wrong(code))).code == "invalidCode")
            #expect(
                try await client.send("POST", "/v1/confirm", confirm("maya", code, username: "MAYA")).code
                    == "usernameTaken")
            #expect(
                try await client.send("POST", "/v1/confirm", confirm("maya", code, username: "")).code
                    == "invalidUsername")
            let won = try await client.send("POST", "/v1/confirm", confirm("maya", code, username: "maya2"))
            #expect((won.status, (won.json?["user"] as? [String: Any])?["username"] as? String) == (200, "maya2"))
            // The code is used up.
            #expect(try await client.send("POST", "/v1/confirm", confirm("maya", code)).code == "invalidCode")
            try await fixture.signIn("maya", client)
            #expect(try await client.get("/v1/me").json?["username"] as? String == "maya2")
            try await fixture.stop()
        }

        @Test func heldAccountFileIsSaid() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let other = try Database(fixture.directory.file("accounts"))
            try fixture.accounts.database.withLock { database throws(AccountError) in
                _ = try database.run("PRAGMA busy_timeout=0")
            }
            try other.run("BEGIN IMMEDIATE")
            let held = try await maya.send("POST", "/v1/sign-out")
            #expect((held.status, held.code, held["retry-after"]) == (503, "busy", "1"))
            #expect((held.json?["detail"] as? String)?.contains("account file") == true)
            try other.run("ROLLBACK")
            #expect(try await maya.send("POST", "/v1/sign-out").status == 204)
            try await fixture.stop()
        }

        private func wrong(_ code: String) -> String { code == "000000" ? "000001" : "000000" }

        /// Signs up and confirms in the accounts only, as if the server had crashed then.
        private func confirmWithoutRegistration(_ fixture: ServerFixture, _ name: String) throws -> (
            AccountRegistration, String
        ) {
            let email = "\(name)@example.org"
            try fixture.accounts.signUp(username: name, email: email, password: ServerFixture.password, address: nil)
            let code = try fixture.code(name)
            return (try fixture.accounts.confirm(email: email, code: code, address: nil), code)
        }

        @Test func startCompletesARegistration() async throws {
            let fixture = try ServerFixture()
            let (registration, _) = try confirmWithoutRegistration(fixture, "maya")
            try await fixture.start()
            let client = try fixture.client()
            try await fixture.signIn("maya", client)
            #expect(try await client.get("/v1/me").json?["id"] as? String == "\(registration.user)")
            #expect(try fixture.accounts.unregistered().isEmpty)
            try await fixture.stop()
        }

        /// The crash came after the registration in the journal, which is then a duplicate.
        @Test func startCompletesARegistrationThatTheJournalHas() async throws {
            let fixture = try ServerFixture()
            let (registration, _) = try confirmWithoutRegistration(fixture, "maya")
            try await fixture.store.execute(
                .registerUser(id: registration.user, username: "maya", subject: "\(registration.account)"))
            let head = fixture.store.head
            try await fixture.start()
            #expect(fixture.store.head == head)
            let client = try fixture.client()
            try await fixture.signIn("maya", client)
            #expect(try await client.get("/v1/me").status == 200)
            try await fixture.stop()
        }

        /// The same crash, but the person confirms with another name before the server completes
        /// it.
        @Test func confirmationAfterTheJournalHasTheFirstName() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let (registration, code) = try confirmWithoutRegistration(fixture, "maya")
            try await fixture.store.execute(
                .registerUser(id: registration.user, username: "maya", subject: "\(registration.account)"))
            let client = try fixture.client()
            let reply = try await client.send("POST", "/v1/confirm", confirm("maya", code, username: "maya2"))
            #expect((reply.status, (reply.json?["user"] as? [String: Any])?["username"] as? String) == (200, "maya"))
            try await fixture.signIn("maya", client)
            try await fixture.stop()
        }

        @Test func startLeavesALostNameToItsPerson() async throws {
            let fixture = try ServerFixture()
            let (_, code) = try confirmWithoutRegistration(fixture, "maya")
            try await fixture.store.execute(.registerUser(username: "maya"))
            try await fixture.start()
            let line = try #require(fixture.log.lines.first { $0.contains("registrationPending") })
            #expect(line.contains("usernameTaken") && !line.contains("example.org") && !line.contains("maya"))
            let client = try fixture.client()
            #expect(try await client.send("POST", "/v1/sign-in", fixture.signInBody("maya")).code == "notRegistered")
            #expect(
                try await client.send("POST", "/v1/confirm", confirm("maya", code, username: "maya2")).status == 200)
            try await fixture.signIn("maya", client)
            try await fixture.stop()
        }

        /// Two confirmations at once register one user.
        @Test func concurrentConfirmationsRegisterOnce() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let client = try fixture.client()
            for round in 0..<5 {
                let name = "maya\(round)"
                try await fixture.signUp(name, client)
                let code = try fixture.code(name)
                let head = fixture.store.head.position
                let replies = try await withThrowingTaskGroup(of: Reply.self) { group in
                    for index in 0..<4 {
                        let username = index % 2 == 0 ? nil : "other\(round)"
                        group.addTask { [confirm] in
                            try await fixture.client().send("POST", "/v1/confirm", confirm(name, code, username))
                        }
                    }
                    return try await group.reduce(into: []) { $0.append($1) }
                }
                #expect(fixture.store.head.position == head + 1)
                let users = replies.compactMap { ($0.json?["user"] as? [String: Any])?["id"] as? String }
                #expect(Set(users).count == 1)
                // One that came too late finds the code used up.
                #expect(replies.allSatisfy { $0.status == 200 || $0.code == "invalidCode" }, "\(replies.map(\.text))")
            }
            try await fixture.stop()
        }

        @Test func deletionErasesTheUser() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let id = try await maya.get("/v1/me").json?["id"] as? String
            let user = try #require(UserID(id ?? ""))
            let stream = try maya.another()
            _ = try await stream.openStream()
            #expect(
                try await maya.send("POST", "/v1/delete-account", "{\"password\":\"wrong password\"}").code
                    == "invalidCredentials")
            let reply = try await maya.send(
                "POST", "/v1/delete-account", "{\"password\":\"\(ServerFixture.password)\"}")
            #expect((reply.status, reply["set-cookie"]?.contains("Max-Age=0")) == (204, true))
            #expect(try await stream.rest().last?.event == "signed-out")
            #expect(try await maya.get("/v1/me").code == "accountDeleted")
            #expect(try await maya.send("POST", "/v1/sign-in", fixture.signInBody("maya")).code == "invalidCredentials")
            #expect(fixture.store.summary(of: user)?.username == nil)
            #expect(try fixture.accounts.pendingDeletions().isEmpty)
            // The address is free again.
            maya.token = nil
            _ = try await fixture.member("maya")
            try await fixture.stop()
        }

        /// A backup reads the file of the accounts at this moment: its write-ahead log is cut
        /// later.
        @Test func deletionDoesNotWaitForABackup() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let user = try #require(UserID(try await maya.get("/v1/me").json?["id"] as? String ?? ""))
            try fixture.accounts.database.withLock { database throws(AccountError) in
                _ = try database.run("PRAGMA busy_timeout=0")
            }
            let backup = try Database(fixture.directory.file("accounts"))
            try backup.run("BEGIN")
            try backup.run("SELECT count(*) FROM accounts")
            let reply = try await maya.send(
                "POST", "/v1/delete-account", "{\"password\":\"\(ServerFixture.password)\"}")
            #expect((reply.status, reply["set-cookie"]?.contains("Max-Age=0")) == (204, true), "\(reply.text)")
            #expect(fixture.store.summary(of: user)?.username == nil)
            #expect(fixture.log.lines.contains { $0.contains("deletionPending") })
            try backup.run("COMMIT")
            func filesHaveTheAddress() throws -> Bool {
                try fixture.directory.contents().values.contains {
                    String(decoding: $0, as: UTF8.self).contains("maya@example.org")
                }
            }
            for _ in 0..<6_000 where try filesHaveTheAddress() { try await Task.sleep(for: .milliseconds(10)) }
            #expect(try !filesHaveTheAddress())
            try await fixture.stop()
        }

        @Test(arguments: [false, true]) func startResumesADeletion(isErased: Bool) async throws {
            let directory = try TemporaryDirectory()
            let first = try ServerFixture(directory)
            try await first.start()
            let maya = try await first.member("maya")
            let id = try await maya.get("/v1/me").json?["id"] as? String
            let user = try #require(UserID(id ?? ""))
            _ = try first.accounts.beginDeletion(user: user, password: ServerFixture.password)
            if isErased { try first.store.eraseUser(user, reason: "account-deleted") }
            #expect(try await maya.get("/v1/me").code == "accountDeleted")
            try await first.stop()
            let second = try ServerFixture(directory)
            #expect(try second.accounts.pendingDeletions().map(\.user) == [user])
            try await second.start()
            #expect(try second.accounts.pendingDeletions().isEmpty)
            #expect(second.store.summary(of: user)?.username == nil)
            #expect(second.log.lines.allSatisfy { !$0.contains("Pending") })
            try await second.stop()
        }

        /// The account was never registered in this journal: there is nothing to erase.
        @Test func startFinishesTheDeletionOfAnUnknownUser() async throws {
            let fixture = try ServerFixture()
            let (registration, _) = try confirmWithoutRegistration(fixture, "maya")
            try fixture.accounts.markRegistered(account: registration.account)
            _ = try fixture.accounts.beginDeletion(user: registration.user, password: ServerFixture.password)
            try await fixture.start()
            #expect(try fixture.accounts.pendingDeletions().isEmpty)
            try await fixture.stop()
        }

        @Test func answersOfAccountsDoNotShowAddresses() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            maya.token = nil
            for path in ["/v1/resend-code", "/v1/forgot-password"] {
                for email in ["maya@example.org", "nobody@example.org"] {
                    let reply = try await maya.send("POST", path, "{\"email\":\"\(email)\"}")
                    #expect((reply.status, reply.text) == (202, "{}"))
                }
            }
            let known = try await maya.send("POST", "/v1/sign-in", fixture.signInBody("maya", "wrong password"))
            let unknown = try await maya.send("POST", "/v1/sign-in", fixture.signInBody("nobody"))
            #expect((known.status, known.text) == (401, unknown.text))
            #expect(known["www-authenticate"] == "Bearer")
            for (path, body, code) in [
                ("/v1/sign-up", "{}", "missingField"), ("/v1/sign-up", "[]", "wrongType"),
                ("/v1/sign-up", "", "notJSON"),
                ("/v1/forgot-password", "{\"email\":1}", "wrongType"),
                ("/v1/forgot-password", "{\"email\":\"x\"}", "invalidEmail"),
                ("/v1/forgot-password", "{\"email\":\"a@b.example\",\"x\":\"y\"}", "unknownField"),
                ("/v1/forgot-password", "{\"email\":\"a@b.example\",\"email\":\"a@b.example\"}", "duplicateField"),
            ] {
                let reply = try await maya.send("POST", path, body)
                #expect((reply.status, reply.code) == (400, code), "\(path) \(body)")
                #expect(reply["content-type"] == "application/problem+json")
            }
            try await fixture.stop()
        }
    }
#endif
