#if Server
    import Chat
    import ChatDomain
    import Foundation
    import TestSupport
    import Testing

    @testable import ChatAccounts
    @testable import ChatServer

    /// Operators by the addresses of their accounts, and the reports that reach no user.
    @Suite struct OperatorTests {
        private func operators(_ fixture: ServerFixture) throws -> [UserID] {
            try fixture.store.reader(as: .host).operators().map(\.user.id)
        }

        private func user(_ client: HTTPClient) async throws -> UserID {
            try #require(UserID(try await client.get("/v1/me").json?["id"] as? String ?? ""))
        }

        private func addresses(_ texts: String...) throws -> [EmailAddress] {
            try texts.map { try #require(EmailAddress($0)) }
        }

        /// The lines of the log about operators, without their times.
        private func lines(_ fixture: ServerFixture) -> [String] {
            fixture.log.lines.filter { $0.contains("\"operator") }.map { String($0.drop { $0 != "," }) }
        }

        @Test func confirmationGrants() async throws {
            let fixture = try ServerFixture()
            let listed = try addresses("nobody@example.org", "MAYA@Example.org")
            try await fixture.start { $0.operators = listed }
            #expect(try operators(fixture).isEmpty)
            #expect(
                lines(fixture) == [
                    #","event":"operatorNotConfirmed","address":"1"}"#,
                    #","event":"operatorNotConfirmed","address":"2"}"#,
                ])
            let other = try await fixture.member("ada")
            let client = try fixture.client()
            try await fixture.signUp("maya", client)
            // A sign-up is no confirmation.
            #expect(try operators(fixture).isEmpty)
            let confirmed = try await client.send(
                "POST", "/v1/confirm", "{\"email\":\"maya@example.org\",\"code\":\"\(try fixture.code("maya"))\"}")
            #expect(confirmed.status == 200)
            try await fixture.signIn("maya", client)
            let maya = try await user(client)
            #expect(try operators(fixture) == [maya])
            #expect(lines(fixture).last == #","event":"operatorGranted","user":"\#(maya)"}"#)
            #expect(!fixture.log.lines.contains { $0.contains("@") || $0.lowercased().contains("example.org") })
            #expect(try await user(other) != maya)
            try await fixture.stop()
        }

        @Test func startGrantsOnceAndRevokesNothing() async throws {
            let directory = try TemporaryDirectory()
            let first = try ServerFixture(directory)
            try await first.start()
            let maya = try await user(try await first.member("maya"))
            let ada = try await user(try await first.member("ada"))
            try await first.stop()
            for (texts, expected) in [
                (["maya@example.org"], [maya]), ([], [maya]), (["ada@example.org", "maya@example.org"], [maya, ada]),
            ] {
                let fixture = try ServerFixture(directory)
                let listed = try texts.map { try #require(EmailAddress($0)) }
                try await fixture.start { $0.operators = listed }
                #expect(try operators(fixture) == expected)
                try await fixture.stop()
            }
            let last = try ServerFixture(directory)
            let head = last.store.head
            let listed = try addresses("maya@example.org")
            try await last.start { $0.operators = listed }
            // It is one already.
            #expect(last.store.head == head && lines(last).isEmpty)
            // The start grants again what the host has revoked.
            try await last.store.execute(.revokeOperator(user: maya))
            try await last.stop()
            let again = try ServerFixture(directory)
            try await again.start { $0.operators = listed }
            #expect(try operators(again) == [ada, maya])
            try await again.stop()
        }

        /// The crash came after the confirmation, before the registration.
        @Test func startGrantsAnInterruptedConfirmation() async throws {
            let fixture = try ServerFixture()
            try fixture.accounts.signUp(
                username: "maya", email: "maya@example.org", password: ServerFixture.password, address: nil)
            let registration = try fixture.accounts.confirm(
                email: "maya@example.org", code: try fixture.code("maya"), address: nil)
            let listed = try addresses("maya@example.org")
            try await fixture.start { $0.operators = listed }
            #expect(try operators(fixture) == [registration.user])
            #expect(lines(fixture) == [#","event":"operatorGranted","user":"\#(registration.user)"}"#])
            try await fixture.stop()
        }

        @Test func erasedUserIsNotGranted() async throws {
            let directory = try TemporaryDirectory()
            let first = try ServerFixture(directory)
            try await first.start()
            let maya = try await user(try await first.member("maya"))
            try first.store.eraseUser(maya, reason: "asked")
            try await first.stop()
            let fixture = try ServerFixture(directory)
            let listed = try addresses("maya@example.org")
            try await fixture.start { $0.operators = listed }
            #expect(try operators(fixture).isEmpty)
            #expect(lines(fixture) == [#","event":"operatorNotGranted","address":"1","code":"userErased"}"#])
            try await fixture.stop()
        }

        @Test func unattendedReportsAreCounted() async throws {
            let fixture = try ServerFixture()
            let listed = try addresses("olga@example.org")
            try await fixture.start { $0.operators = listed }
            let (maya, ada) = (try await fixture.member("maya"), try await fixture.member("ada"))
            for client in [maya, ada] {
                #expect(
                    try await client.send("POST", "/v1/commands", #"{"setPostcode":{"postcode":"SW1A 1AA"}}"#).status
                        == 200)
            }
            let posted = try await maya.send(
                "POST", "/v1/commands", #"{"postMessage":{"thread":"SW1A","body":"Watches"}}"#)
            let message = try #require(posted.text.firstMatch(of: /"message":"([^"]+)"/).map { String($0.1) })
            let command = "{\"report\":{\"message\":\"\(message)\",\"reason\":\"advertising\"}}"
            let reported = try await ada.send("POST", "/v1/commands", command)
            #expect(reported.status == 200 && reported.json?["moderators"] as? Int == 0, "\(reported.text)")
            try await fixture.server.core.lookAtHealth(areConnectionsFull: false)
            #expect(try await ada.get("/healthz").text == #"{"status":"ok","unattendedReports":1}"#)
            #expect(try await fixture.metric("chat_unattended_reports") == 1)
            let olga = try await fixture.member("olga")
            try await fixture.server.core.lookAtHealth(areConnectionsFull: false)
            #expect(try await olga.get("/healthz").text == #"{"status":"ok"}"#)
            #expect(try await fixture.metric("chat_unattended_reports") == 0)
            let again = try await ada.send("POST", "/v1/commands", command)
            #expect(again.status == 200 && !again.text.contains("moderators"), "\(again.text)")
            try await fixture.stop()
        }
    }
#endif
