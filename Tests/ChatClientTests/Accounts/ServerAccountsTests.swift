#if Server
    import Chat
    import ChatClient
    import ChatDomain
    import ChatValues
    import Foundation
    import ServerSupport
    import TestSupport
    import Testing

    /// Accounts at a real server.
    @Suite struct ServerAccountsTests {
        private func code(of problem: ClientError?) -> String? {
            if case .problem(let problem)? = problem { problem.code.rawValue } else { nil }
        }

        private func failure(_ body: () async throws(ClientError) -> Void) async -> ClientError? {
            do throws(ClientError) { try await body() } catch { return error }
            return nil
        }

        @Test func accountFromSignUpToDeletion() async throws {
            let server = try await RealServer()
            let accounts = try server.accounts
            let email = "ann@example.org"
            try await accounts.signUp(username: "Ann", email: email, password: RealServer.password)
            try await accounts.resendCode(email: email)
            let right = try server.code("ann")
            let wrong = right == "000000" ? "000001" : "000000"
            let refused = await failure { () throws(ClientError) in
                try await accounts.confirm(email: email, code: wrong)
            }
            #expect(code(of: refused) == "invalidCode")
            let user = try await accounts.confirm(email: email, code: right)
            #expect(user.username == "Ann")

            let unknown = await failure { () throws(ClientError) in
                _ = try await accounts.signIn(email: email, password: "wrong password")
            }
            #expect(code(of: unknown) == "invalidCredentials")
            let session = try await accounts.signIn(email: email, password: RealServer.password, device: "telephone")
            #expect((session.server, session.user) == (server.url, user))
            let other = try await accounts.signIn(email: email, password: RealServer.password)
            let sessions = try await accounts.sessions(session)
            #expect(sessions.count == 2 && Set(sessions.map(\.device)) == ["telephone", nil])
            #expect(sessions.first { $0.isCurrent }?.device == "telephone")
            let ended = try #require(sessions.first { !$0.isCurrent }).id
            try await accounts.endSession(ended, session)
            #expect(
                await failure { () throws(ClientError) in try await accounts.endSession(ended, session) } == .notFound)
            #expect(await failure { () throws(ClientError) in _ = try await accounts.sessions(other) } == .signedOut)

            try await accounts.changePassword(old: RealServer.password, new: "battery staple 2", session)
            try await accounts.signOut(session)
            try await accounts.signOut(session)
            #expect(await failure { () throws(ClientError) in _ = try await accounts.sessions(session) } == .signedOut)
            try await accounts.forgotPassword(email: email)
            try await accounts.resetPassword(email: email, code: server.code("ann"), password: "battery staple 3")
            let last = try await accounts.signIn(email: email, password: "battery staple 3")
            try await accounts.signOutEverywhere(last)
            let deleted = try await accounts.signIn(email: email, password: "battery staple 3")
            try await accounts.deleteAccount(password: "battery staple 3", deleted)
            #expect(server.store.summary(of: user.id)?.username == nil)
            let gone = await failure { () throws(ClientError) in
                _ = try await accounts.signIn(email: email, password: "battery staple 3")
            }
            #expect(code(of: gone) == "invalidCredentials")
            try await server.stop()
        }

        /// A device that was away when its account was deleted on another one forgets everything.
        @Test(arguments: [false, true]) func deletionReachesTheOtherDevices(isConnected: Bool) async throws {
            let server = try await RealServer()
            let accounts = try server.accounts
            let email = "ann@example.org"
            try await accounts.signUp(username: "Ann", email: email, password: RealServer.password)
            try await accounts.confirm(email: email, code: try server.code("ann"))
            let session = try await accounts.signIn(email: email, password: RealServer.password)
            let other = try await accounts.signIn(email: email, password: RealServer.password)
            let directory = try TemporaryDirectory()
            let client = try ChatClient(session, directory: directory.path)
            var running = Task { await client.run() }
            try await until { client.connection == .connected }
            let thread = try #require(
                try await client.execute(.openThread(name: "secret-room", by: session.user.id)).thread)
            try await client.execute(.postMessage(thread: thread, body: "secret-text", by: session.user.id))
            _ = try await client.me()
            if !isConnected {
                running.cancel()
                await running.value
                try client.enqueue(
                    CommandRequest(.postMessage(thread: thread, body: "secret-waits", by: session.user.id)))
            }
            try await accounts.deleteAccount(password: RealServer.password, other)
            let changes = client.outboxChanges
            if !isConnected { running = Task { await client.run() } }
            await running.value
            #expect(client.connection == .stopped(.accountDeleted))
            #expect(try client.outbox().isEmpty)
            if !isConnected {
                // What waited is not confirmed.
                for await change in changes {
                    if case .withdrawn(let item) = change, item.text == "secret-waits" { break }
                    if case .confirmed = change { Issue.record("confirmed: \(change)") }
                }
            }
            for (name, bytes) in try directory.contents() {
                #expect(Data(bytes).range(of: Data("secret-".utf8)) == nil, "it is in \(name)")
            }
            #expect(try ChatClient.usersWithCopy(of: server.url, directory: directory.path) == [session.user.id])
            try client.removeCopy()
            #expect(try ChatClient.usersWithCopy(of: server.url, directory: directory.path).isEmpty)
            // A token that never was one tells nothing.
            var unknown = session
            unknown.token = SessionToken(rawValue: String(repeating: "A", count: 43))
            #expect(await failure { () throws(ClientError) in _ = try await accounts.sessions(unknown) } == .signedOut)
            try await server.stop()
        }

        @Test func wrongFieldIsNamed() async throws {
            let server = try await RealServer()
            let accounts = try server.accounts
            let refused = await failure { () throws(ClientError) in
                try await accounts.signUp(username: "Ann", email: "nonsense", password: RealServer.password)
            }
            guard case .problem(let problem)? = refused else { throw try #require(refused) }
            #expect((problem.status, problem.code, problem.field) == (400, .invalidEmail, "email"))
            try await server.stop()
        }

        @Test func attemptsAreLimited() async throws {
            let server = try await RealServer(signIns: 2)
            let accounts = try server.accounts
            var errors: [ClientError?] = []
            for _ in 0..<3 {
                errors.append(
                    await failure { () throws(ClientError) in
                        _ = try await accounts.signIn(email: "ann@example.org", password: "wrong password")
                    })
            }
            #expect(errors.prefix(2).allSatisfy { code(of: $0) == "invalidCredentials" })
            guard case .tooManyAttempts(let wait?)? = errors[2] else {
                Issue.record("\(String(describing: errors[2]))")
                return
            }
            #expect((.seconds(1)...(.seconds(61))).contains(wait))
            #expect(errors[2]?.retryAfter == wait)
            try await server.stop()
        }

        @Test func streamHasTheEventsOfTheServer() async throws {
            let server = try await RealServer()
            let session = try await server.member("ann")
            let transport = try server.transport()
            let stream = try await transport.openStream(after: nil, credentials: session.token.rawValue)
            let first = try #require(try await stream.next())
            #expect(first.data == nil && first.id?.hasPrefix("ct1-") == true)
            try await server.store.execute(.setPostcode(postcode: "SW1A 1AA", by: session.user.id))
            var event = try await stream.next()
            while event?.data == nil, event != nil { event = try await stream.next() }
            #expect(event?.data?.contains("SW1A") == true && event?.id != first.id)
            // A reader that is cancelled does not lose the stream.
            let reader = Task { try await stream.next() }
            reader.cancel()
            await #expect(throws: TransportFailure.cancelled) { try await reader.value }
            try await server.accounts.signOut(session)
            var last: ServerSentEvent?
            while let event = try await stream.next() { last = event }
            #expect(last?.name == "signed-out")
            do throws(TransportFailure) {
                _ = try await transport.openStream(after: nil, credentials: session.token.rawValue)
                Issue.record("a stream without a session")
            } catch {
                #expect(ClientError(error) == .signedOut)
            }
            try await server.stop()
        }

        @Test func cancelledStreamEnds() async throws {
            let server = try await RealServer()
            let session = try await server.member("ann")
            let transport = try server.transport()
            let stream = try await transport.openStream(after: nil, credentials: session.token.rawValue)
            _ = try await stream.next()
            let reader = Task { try await stream.next() }
            try await Task.sleep(for: .milliseconds(50))
            stream.cancel()
            await #expect(throws: TransportFailure.cancelled) { try await reader.value }
            try await server.stop()
        }
    }
#endif
