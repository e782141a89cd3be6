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

    /// An older copy of the journal beside newer accounts: the users that it lacks.
    @Suite struct RestoredJournalTests {
        /// Puts the copy in the place of the journal, with the newest ledger, as an operator does.
        private func restore(_ copy: String, in directory: TemporaryDirectory) throws {
            let (files, journal) = (FileManager.default, directory.file("journal"))
            let ledger = files.contents(atPath: journal + "/ledger")
            try files.removeItem(atPath: journal)
            try files.moveItem(atPath: copy, toPath: journal)
            if let ledger { try ledger.write(to: URL(fileURLWithPath: journal + "/ledger")) }
        }

        private func user(_ client: HTTPClient) async throws -> UserID {
            try #require(UserID(try await client.get("/v1/me").json?["id"] as? String ?? ""))
        }

        private func account(of user: UserID, _ fixture: ServerFixture) throws -> AccountRow {
            try fixture.accounts.database.withLock { database throws(AccountError) in
                try fixture.accounts.account(database, user)
            }
            .map { $0 } ?? { throw AccountError.unknownAccount }()
        }

        /// Runs a server over a journal, copies the journal after the first part, and restores the
        /// copy after the second one.
        private func restoring(
            _ before: (ServerFixture) async throws -> Void = { _ in }, _ after: (ServerFixture) async throws -> Void
        ) async throws -> ServerFixture {
            let directory = try TemporaryDirectory()
            let first = try ServerFixture(directory)
            try await first.start()
            try await before(first)
            try await first.stop()
            let copy = directory.file("copy")
            try FileManager.default.copyItem(atPath: directory.file("journal"), toPath: copy)
            let second = try ServerFixture(directory)
            try await second.start()
            try await after(second)
            try await second.stop()
            try restore(copy, in: directory)
            return try ServerFixture(directory)
        }

        @Test func userConfirmedAfterTheBackupIsRegisteredAgain() async throws {
            var (ada, maya): (UserID?, UserID?)
            var token: String?
            let fixture = try await restoring({ ada = try await user(try await $0.member("ada")) }) {
                let client = try await $0.member("maya")
                (maya, token) = (try await user(client), client.token)
            }
            let (head, lost) = (fixture.store.head.position, try #require(maya))
            #expect(fixture.store.summary(of: lost) == nil)
            try await fixture.start()
            // Ada exists in the copy, and gets no event.
            #expect(fixture.store.head.position == head + 1)
            #expect(fixture.store.summary(of: lost)?.username == "maya")
            #expect(fixture.store.userID(withSubject: "\(try account(of: lost, fixture).id)") == lost)
            let client = try fixture.client()
            client.token = token
            #expect(try await client.get("/v1/me").json?["id"] as? String == "\(lost)")
            try await fixture.signIn("maya", client)
            #expect(try await user(client) == lost)
            let opened = try await client.send("POST", "/v1/commands", "{\"openThread\":{\"name\":\"Bees\"}}")
            #expect(opened.json?["duplicate"] as? Bool == false, "\(opened.text)")
            try await fixture.signIn("ada", client)
            #expect(try await user(client) == ada)
            #expect(
                fixture.log.lines.contains { $0.contains("usersRegisteredAgain") && $0.contains("\"count\":\"1\"") })
            try await fixture.stop()
        }

        /// The operator erased Maya, whose account remained, and Zoe deleted her account; Ada is in
        /// the copy, and was erased later.
        @Test func userErasedAfterTheBackupStaysErased() async throws {
            var (ada, maya, zoe): (UserID?, UserID?, UserID?)
            let fixture = try await restoring({ ada = try await user(try await $0.member("ada")) }) {
                maya = try await user(try await $0.member("maya"))
                let client = try await $0.member("zoe")
                zoe = try await user(client)
                #expect(
                    try await client.send("POST", "/v1/delete-account", "{\"password\":\"\(ServerFixture.password)\"}")
                        .status == 204)
                for user in [ada, maya] { try $0.store.eraseUser(try #require(user), reason: "user-request") }
            }
            let head = fixture.store.head
            try await fixture.start()
            #expect(fixture.store.head == head)
            #expect(fixture.store.summary(of: try #require(maya)) == nil)
            #expect(fixture.store.summary(of: try #require(zoe)) == nil)
            #expect(fixture.store.summary(of: try #require(ada))?.username == nil)
            #expect(try fixture.store.userID(named: "maya") == nil)
            try await fixture.stop()
        }

        /// The crash came before the account noted its registration, and the operator erased the
        /// user before the next start: a confirmation does not bring the user back either.
        @Test func confirmedAccountOfAnErasedUserIsNotRegistered() async throws {
            var registration: AccountRegistration?
            var code = ""
            let fixture = try await restoring {
                try $0.accounts.signUp(
                    username: "maya", email: "maya@example.org", password: ServerFixture.password, address: nil)
                code = try $0.code("maya")
                let confirmed = try $0.accounts.confirm(email: "maya@example.org", code: code, address: nil)
                try await $0.store.execute(
                    .registerUser(id: confirmed.user, username: "maya", subject: "\(confirmed.account)"))
                try $0.store.eraseUser(confirmed.user, reason: "user-request")
                registration = confirmed
            }
            let (head, erased) = (fixture.store.head, try #require(registration).user)
            try await fixture.start()
            let client = try fixture.client()
            let reply = try await client.send(
                "POST", "/v1/confirm", "{\"email\":\"maya@example.org\",\"code\":\"\(code)\"}")
            #expect((reply.status, reply.code) == (400, "invalidCode"), "\(reply.text)")
            #expect(fixture.store.head == head)
            #expect(fixture.store.summary(of: erased) == nil)
            try await fixture.stop()
        }

        /// In the copy Ada still has the name that she gave up later, so the person who took it
        /// gets another one.
        @Test func takenNameGetsANumber() async throws {
            var (ada, maya): (UserID?, UserID?)
            let fixture = try await restoring {
                ada = try await user(try await $0.member("maya"))
                try await $0.member("Maya-2").send("POST", "/v1/sign-out")
            } _: {
                let first = try $0.client()
                try await $0.signIn("maya", first)
                let renamed = try await first.send(
                    "POST", "/v1/commands", "{\"changeUsername\":{\"username\":\"ada\"}}")
                #expect(renamed.json?["duplicate"] as? Bool == false, "\(renamed.text)")
                let second = try $0.client()
                let body =
                    "{\"username\":\"maya\",\"email\":\"m@example.org\",\"password\":\"\(ServerFixture.password)\"}"
                #expect(try await second.send("POST", "/v1/sign-up", body).status == 202)
                let code = try $0.code("m")
                #expect(
                    try await second.send("POST", "/v1/confirm", "{\"email\":\"m@example.org\",\"code\":\"\(code)\"}")
                        .status == 200)
                try await $0.signIn("m", second)
                maya = try await user(second)
            }
            try await fixture.start()
            let lost = try #require(maya)
            #expect(fixture.store.summary(of: try #require(ada))?.username == "maya")
            #expect(fixture.store.summary(of: lost)?.username == "maya-3")
            let line = try #require(fixture.log.lines.first { $0.contains("registeredWithAnotherName") })
            #expect(line.contains("\(lost)") && !line.contains("maya"))
            let client = try fixture.client()
            try await fixture.signIn("m", client)
            #expect(try await user(client) == lost)
            let renamed = try await client.send("POST", "/v1/commands", "{\"changeUsername\":{\"username\":\"May\"}}")
            #expect(renamed.json?["duplicate"] as? Bool == false, "\(renamed.text)")
            #expect(fixture.store.summary(of: lost)?.username == "May")
            try await fixture.stop()
        }

        /// Stores accounts as if people had confirmed, with the names `p0`, `p1` and so on.
        private func addAccounts(_ count: Int, to fixture: ServerFixture) throws -> [AccountRegistration] {
            try fixture.accounts.database.withLock { database throws(AccountError) in
                try database.transaction { database throws(AccountError) in
                    for number in 0..<count {
                        let id = fixture.accounts.makeID()
                        try database.run(
                            "INSERT INTO accounts VALUES(?, ?, ?, ?, ?, ?, ?, ?)", .id(id),
                            .id(fixture.accounts.makeID()),
                            .text("p\(number)"), .text("p\(number)@example.org"), .text("p\(number)@example.org"),
                            .text("x"),
                            .integer(AccountState.registered.rawValue), .time(fixture.accounts.now))
                    }
                }
            }
            return try fixture.accounts.rows(in: .registered).map(\.registration)
        }

        /// More accounts than a page has; the start ends after the first page, as at a full disk.
        @Test func interruptedStartGoesOn() async throws {
            let directory = try TemporaryDirectory()
            let first = try ServerFixture(directory)
            let all = try addAccounts(1_234, to: first)
            try await first.store.execute(.registerUser(username: "P1000"))
            try await first.start { [store = first.store] options in
                options.log = { line in
                    first.log.write(line)
                    if line.contains("usersRegisteredAgain") { try? store.close() }
                }
            }
            let half = first.store.head.position
            #expect(half > 1 && half < 1_235)
            #expect(first.log.lines.contains { $0.contains("usersNotRegistered") })
            try await first.stop()
            let second = try ServerFixture(directory)
            #expect(second.store.head.position == half)
            try await second.start()
            #expect(second.store.head.position == 1_235)
            let wrong = all.filter { registration in
                let name = registration.username.text == "p1000" ? "p1000-2" : registration.username.text
                return second.store.summary(of: registration.user)?.username != name
            }
            #expect(wrong.isEmpty)
            try await second.stop()
            // Nothing is left to do.
            let third = try ServerFixture(directory)
            try await third.start()
            #expect(third.store.head.position == 1_235)
            #expect(third.log.lines.allSatisfy { !$0.contains("registered") && !$0.contains("Registered") })
            try await third.stop()
        }
    }
#endif
