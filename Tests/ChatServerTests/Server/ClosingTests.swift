#if Server
    import Chat
    import ChatAccounts
    import EventJournal
    import Foundation
    import Testing

    @testable import ChatServer

    /// The end of a server, with clients in the middle of everything.
    @Suite struct ClosingTests {
        /// No test depends on how fast requests are carried out and responses are sent.
        private static let hour = Duration.seconds(3_600)

        @Test func requestInProgressIsAnswered() async throws {
            let fixture = try ServerFixture()
            let server = try await fixture.start()
            let maya = try await fixture.member("maya")
            let idle = try await fixture.member("om")
            fixture.gate.close()
            async let reply = maya.another().send("POST", "/v1/sign-in", fixture.signInBody("maya"))
            try await fixture.gate.reached()
            async let closed: Void = server.close(timeout: Self.hour, sendTimeout: Self.hour)
            // New connections end at once, and requests of the present ones are not begun.
            while try await isAccepted(maya.port) {}
            let late = try await idle.get("/v1/me")
            #expect((late.status, late.code, late["retry-after"], late["connection"]) == (503, "closing", "1", "close"))
            fixture.gate.open()
            let answered = try await reply
            #expect((answered.status, answered["connection"]) == (200, "close"))
            #expect(answered.json?["token"] != nil)
            await closed
            try fixture.accounts.close()
            try fixture.store.close()
        }

        private func isAccepted(_ port: UInt16) async throws -> Bool {
            do {
                _ = try await HTTPClient(port: port).get("/healthz")
                return true
            } catch is HTTPClient.Ended {
                return false
            } catch is RawSocket.Failure {
                return false
            }
        }

        /// The response of the last request is sent, not only decided, before the connection ends.
        @Test func responsesAreSentBeforeTheEnd() async throws {
            for _ in 0..<10 {
                let fixture = try ServerFixture()
                let server = try await fixture.start()
                let maya = try await fixture.member("maya")
                fixture.gate.close()
                let clients = try (0..<2).map { _ in try maya.another() }
                let replies = clients.map { client in
                    Task { try await client.send("POST", "/v1/sign-in", fixture.signInBody("maya")).status }
                }
                try await fixture.gate.reached(2)
                async let closed: Void = server.close(timeout: Self.hour, sendTimeout: Self.hour)
                fixture.gate.open()
                for reply in replies { #expect(try await reply.value == 200) }
                await closed
                try fixture.accounts.close()
                try fixture.store.close()
            }
        }

        /// A request that takes longer than the server waits gets no response, and does not hinder
        /// the end.
        @Test func slowRequestIsAbandoned() async throws {
            let fixture = try ServerFixture()
            let server = try await fixture.start()
            let maya = try await fixture.member("maya")
            fixture.gate.close()
            let (first, second) = (try maya.another(), try maya.another())
            for client in [first, second] {
                try await client.write(client.text("POST", "/v1/sign-in", fixture.signInBody("maya")))
            }
            try await fixture.gate.reached(2)
            await server.close(timeout: .milliseconds(200), sendTimeout: .milliseconds(200))
            #expect(try await first.isEnded())
            #expect(try await second.isEnded())
            // The answer comes when there is no connection for it any more.
            fixture.gate.open()
            try fixture.accounts.close()
            try fixture.store.close()
        }

        @Test func streamsEndWithClosing() async throws {
            let fixture = try ServerFixture()
            let server = try await fixture.start()
            let maya = try await fixture.member("maya")
            var streams: [HTTPClient] = []
            for _ in 0..<40 {
                streams.append(try maya.another())
                #expect(try await streams.last?.openStream().reply.status == 200)
            }
            let reading = streams.map { stream in Task { try await stream.rest().map(\.event) } }
            await server.close(timeout: Self.hour, sendTimeout: Self.hour)
            for task in reading { #expect(try await task.value == ["closing"]) }
            try fixture.accounts.close()
            try fixture.store.close()
        }

        /// Streams that are opened while the server closes end too.
        @Test func closingMeetsNewRequests() async throws {
            for _ in 0..<5 {
                let fixture = try ServerFixture()
                let server = try await fixture.start()
                let maya = try await fixture.member("maya")
                let clients = try (0..<8).map { _ in try maya.another() }
                let tasks = clients.enumerated().map { index, client in
                    Task {
                        do {
                            if index % 2 == 0 {
                                let reply = try await client.openStream().reply
                                guard reply.status == 200 else { return reply.status == 503 }
                                return try await client.rest().map(\.event) == ["closing"]
                            }
                            while true {
                                let status = try await client.get("/v1/me").status
                                if status != 200 { return status == 503 }
                            }
                        } catch is HTTPClient.Ended {
                            return true
                        } catch is RawSocket.Failure {
                            return true
                        }
                    }
                }
                await server.close(timeout: Self.hour, sendTimeout: Self.hour)
                for task in tasks { #expect(try await task.value) }
                try fixture.accounts.close()
                try fixture.store.close()
            }
        }

        @Test func closeIsOnlyOnce() async throws {
            let fixture = try ServerFixture()
            let server = try await fixture.start()
            await server.close()
            await server.close()
            try fixture.accounts.close()
            try fixture.store.close()
        }

        @Test func portIsFreeAfterTheEnd() async throws {
            let fixture = try ServerFixture()
            let (server, listen) = try await fixture.startOnLastingPort()
            // Another server cannot have it before.
            let error = await #expect(throws: ServerError.self) { try await fixture.start { $0.listen = listen } }
            #expect(error?.code == .cannotListen)
            #expect(try await fixture.client().get("/healthz").status == 200)
            await server.close()
            let next = try await fixture.start { $0.listen = listen }
            #expect(try await fixture.client().get("/healthz").status == 200)
            await next.close()
            try fixture.accounts.close()
            try fixture.store.close()
        }

        /// A start that fails leaves nothing behind: the port is free, and no thread uses it.
        @Test func failedStartLeavesNothing() async throws {
            let fixture = try ServerFixture()
            let other = try ServerFixture()
            try await other.start()
            let taken = try other.port
            let listen = try await {
                let (server, listen) = try await fixture.startOnLastingPort()
                await server.close()
                return listen
            }()
            for _ in 0..<3 {
                let error = await #expect(throws: ServerError.self) {
                    try await fixture.start {
                        $0.listen = listen
                        $0.metrics = ListenAddress("127.0.0.1:\(taken)")
                    }
                }
                #expect(error?.code == .cannotListen)
            }
            let next = try await fixture.start { $0.listen = listen }
            #expect(try await fixture.client().get("/healthz").status == 200)
            await next.close()
            try await other.stop()
        }

        /// The users of two journals must not mix in one account file.
        @Test func accountFileHasOneServer() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let other = try ServerFixture(accountsOf: fixture)
            let error = await #expect(throws: ServerError.self) { try await other.start() }
            #expect(error?.code == .accountsInUse)
            try await fixture.stop()
            try await other.start()
            try await other.stop()
        }

        @Test func addressBeyondLoopbackNeedsOrigins() async throws {
            let fixture = try ServerFixture()
            for (listen, metrics) in [("0.0.0.0:0", nil), ("127.0.0.1:0", "0.0.0.0:0")] as [(String, String?)] {
                let error = await #expect(throws: ServerError.self) {
                    try await fixture.start {
                        $0.listen = ListenAddress(listen) ?? $0.listen
                        $0.metrics = metrics.flatMap { ListenAddress($0) }
                    }
                }
                #expect(error?.code == .notLoopback)
            }
        }

        /// Damage that the scrub has found, and a scrub that does not run, are warnings: the server
        /// goes on.
        @Test func scrubIsInTheHealth() throws {
            func health(_ findings: Int, endedAt: Int64, found: Int = 0, unattended: Int = 0) throws -> String {
                let json = """
                    {"position":0,"passes":1,"findings":\(found),"lastPass":{"endedAt":\(endedAt),"findings":\(findings)}}
                    """
                let progress = try JSONDecoder().decode(ScrubProgress.self, from: Data(json.utf8))
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                let clock = ClockStatus(now: Timestamp(millisecondsSince1970: 0), lastRecordedAt: nil)
                var look = Health.Look()
                (look.scrub, look.unattendedReportCount) = (progress, unattended)
                return String(decoding: try encoder.encode(Health(look, clock, nil, at: .now)), as: UTF8.self)
            }
            let now = Int64(Date().timeIntervalSince1970 * 1_000)
            let day: Int64 = 86_400_000
            #expect(try health(0, endedAt: now) == #"{"status":"ok"}"#)
            #expect(try health(0, endedAt: now - 13 * day) == #"{"status":"ok"}"#)
            #expect(try health(0, endedAt: now, unattended: 2) == #"{"status":"ok","unattendedReports":2}"#)
            #expect(try health(2, endedAt: now) == #"{"status":"ok","warnings":["scrubFindings"]}"#)
            #expect(try health(0, endedAt: now, found: 1) == #"{"status":"ok","warnings":["scrubFindings"]}"#)
            #expect(
                try health(1, endedAt: now - 15 * day)
                    == #"{"status":"ok","warnings":["scrubFindings","scrubOverdue"]}"#)
        }

        @Test func stoppedJournalIsReported() async throws {
            let fixture = try ServerFixture()
            let server = try await fixture.start()
            let maya = try await fixture.member("maya")
            let stream = try maya.another()
            _ = try await stream.openStream()
            try fixture.store.close()
            #expect(try await stream.rest().map(\.event) == ["closing"])
            let command = try await maya.send("POST", "/v1/commands", "{\"openThread\":{\"name\":\"x\"}}")
            #expect((command.status, command.code) == (503, "closing"))
            let health = try await maya.get("/healthz")
            #expect((health.status, health.code) == (503, "closing"))
            await server.close()
            try fixture.accounts.close()
        }

        /// A store that has stopped answers nothing, whoever has met the failure.
        @Test func stoppedStoreIsSaidEverywhere() async throws {
            let fixture = try ServerFixture()
            let server = try await fixture.start()
            let maya = try await fixture.member("maya")
            let stream = try maya.another()
            _ = try await stream.openStream()
            let (socket, _) = try await SocketClient.open(try maya.another())
            #expect(try await maya.get("/healthz").status == 200)
            fixture.store.stop(JournalError(.syncFailed, "injected"))
            #expect(server.failure?.code == .syncFailed)
            #expect(try await stream.rest().map(\.event) == ["failed"])
            for (method, target, body) in [
                ("GET", "/healthz", nil), ("GET", "/v1/me", nil), ("GET", "/v1/threads", nil),
                ("GET", "/v1/events", nil),
                ("POST", "/v1/commands", "{\"openThread\":{\"name\":\"x\"}}"),
                ("POST", "/v1/sign-in", fixture.signInBody("maya")),
            ] {
                let reply = try await maya.send(method, target, body)
                #expect((reply.status, reply.code) == (503, "storage"), "\(target)")
            }
            async let closed: Void = server.close()
            try await socket.expectEnd("failed")
            await closed
            try fixture.accounts.close()
            try? fixture.store.close()
        }
    }
#endif
