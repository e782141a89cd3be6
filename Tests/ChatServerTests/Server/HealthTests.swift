#if Server
    import Chat
    import ChatAccounts
    import ChatWire
    import EventJournal
    import Foundation
    import TestSupport
    import Testing

    @testable import ChatServer

    /// `/healthz` tells the truth, and at once.
    @Suite struct HealthTests {
        private func health(
            _ contact: LogContact?, lookedBefore look: Duration = .zero, at now: ContinuousClock.Instant
        ) throws -> String {
            var last = Health.Look()
            last.at = now - look
            let clock = ClockStatus(now: Timestamp(millisecondsSince1970: 0), lastRecordedAt: nil)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return String(decoding: try encoder.encode(Health(last, clock, contact, at: now)), as: UTF8.self)
        }

        @Test func waitsAndSilenceAreTold() throws {
            let now = ContinuousClock.now
            func contact(answered: Double, waiting: Double? = nil) -> LogContact {
                LogContact(
                    answeredAt: now - .seconds(answered), waitingSince: waiting.map { now - .seconds($0) },
                    longestSilence: .seconds(9))
            }
            #expect(try health(nil, at: now) == #"{"status":"ok"}"#)
            #expect(try health(nil, lookedBefore: .seconds(4), at: now) == #"{"status":"ok"}"#)
            #expect(try health(nil, lookedBefore: .seconds(7), at: now) == #"{"age":7,"status":"degraded"}"#)
            #expect(try health(contact(answered: 0.5), at: now) == #"{"age":0,"status":"ok"}"#)
            #expect(try health(contact(answered: 6, waiting: 4.9), at: now) == #"{"age":6,"status":"ok"}"#)
            #expect(try health(contact(answered: 6, waiting: 5), at: now) == #"{"age":6,"status":"degraded"}"#)
            #expect(try health(contact(answered: 9), at: now) == #"{"age":9,"status":"degraded"}"#)
        }

        /// What is refused is `degraded`; what others can cause is a warning alone.
        @Test func faultsAreTold() throws {
            func health(_ faults: ServerFault...) throws -> String {
                var look = Health.Look()
                look.faults = faults
                let clock = ClockStatus(now: Timestamp(millisecondsSince1970: 0), lastRecordedAt: nil)
                let encoder = JSONEncoder()
                encoder.outputFormatting = .sortedKeys
                return String(decoding: try encoder.encode(Health(look, clock, nil, at: look.at)), as: UTF8.self)
            }
            for fault in [ServerFault.storageFull, .accountsFull, .accountsFailed] {
                #expect(try health(fault) == "{\"status\":\"degraded\",\"warnings\":[\"\(fault.rawValue)\"]}")
            }
            #expect(
                try health(.mailFailed, .connectionsFull)
                    == #"{"status":"ok","warnings":["mailFailed","connectionsFull"]}"#)
        }

        /// Without a request that meets the fault, and without a restart after it.
        @Test func healthTellsOfAccountsThatAreGone() async throws {
            let fixture = try ServerFixture()
            let core = try await fixture.start().core
            let maya = try await fixture.member("maya")
            let (path, elsewhere) = (fixture.directory.file("accounts"), fixture.directory.file("elsewhere"))
            try FileManager.default.moveItem(atPath: path, toPath: elsewhere)
            await core.lookAtHealth(areConnectionsFull: false)
            #expect(try await maya.get("/healthz").text == #"{"status":"degraded","warnings":["accountsFailed"]}"#)
            let refused = try await maya.another().send("POST", "/v1/sign-in", fixture.signInBody("maya"))
            #expect((refused.status, refused.code) == (500, "storage"))
            #expect(try await maya.get("/v1/me").status == 200)
            try FileManager.default.moveItem(atPath: elsewhere, toPath: path)
            await core.lookAtHealth(areConnectionsFull: false)
            #expect(try await maya.get("/healthz").text == #"{"status":"ok"}"#)
            try await fixture.signIn("maya", maya)
            // A line for each change; a slow machine can have others.
            let lines = fixture.log.lines.filter { $0.contains("accountsFailed") }
            #expect(
                lines.map { String($0.drop { $0 != "," }) } == [
                    #","event":"health","status":"degraded","warnings":"accountsFailed"}"#
                ])
            try await fixture.stop()
        }

        /// No thread that requests run on is needed for it.
        @Test(.timeLimit(.minutes(1))) func healthIsToldWhileEveryThreadOfRequestsWaits() async throws {
            let fixture = try ServerFixture()
            let (begun, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            @Sendable func wait() {
                begun.signal()
                goesOn.wait()
            }
            var extensions = ServerExtensions()
            extensions.routes = [
                HostRoute(.get, "/v1/wait") { _ in
                    wait()
                    return WireResponse(status: 204)
                }
            ]
            try await fixture.start(adding: extensions)
            let (maya, ada) = (try await fixture.member("maya"), try await fixture.member("ada"))
            // The threads of `Turns`, of which one user has all but one.
            let count = max(2, ProcessInfo.processInfo.activeProcessorCount)
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<count {
                    let client = try number == 0 ? ada.another() : maya.another()
                    group.addTask { try await client.get("/v1/wait").status }
                }
                await Threads.run { for _ in 0..<count { begun.wait() } }
                let health = try await fixture.client().get("/healthz")
                #expect(health.status == 200 && health.text == #"{"status":"ok"}"#)
                let head = try await fixture.client().send("HEAD", "/healthz")
                #expect(head.status == 200 && head.text == "")
                #expect(try await fixture.client().send("DELETE", "/healthz").status == 405)
                for _ in 0..<count { goesOn.signal() }
                for try await status in group { #expect(status == 204) }
            }
            try await fixture.stop()
        }

        /// A port that another server has is found before anything else is done.
        @Test func listenersAreTakenBeforeTheStart() async throws {
            let fixture = try ServerFixture()
            let (server, listen) = try await fixture.startOnLastingPort()
            let taken = #expect(throws: ServerError.self) { try ServerListeners(ServerOptions(listen: listen)) }
            #expect(taken?.code == .cannotListen)
            await server.close()
            var options = ServerOptions(listen: listen)
            do {
                // Given back without a server.
                _ = try ServerListeners(options)
            }
            let listeners = try ServerListeners(options)
            // Nobody is kept waiting by a server that may never start.
            await #expect(throws: (any Error).self) { try await HTTPClient(port: listen.port).get("/healthz") }
            options.log = fixture.log.write
            let again = try await ChatServer(
                store: fixture.store, accounts: fixture.accounts, options: options, listeners: listeners)
            #expect(try await HTTPClient(port: listen.port).get("/healthz").status == 200)
            await again.close()
            try fixture.accounts.close()
            try fixture.store.close()
        }
    }
#endif
