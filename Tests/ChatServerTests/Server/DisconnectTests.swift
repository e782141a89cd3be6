#if Server
    import Foundation
    import TestSupport
    import Testing

    @testable import ChatServer

    /// Clients that leave at any moment, and many that do nothing: nothing of them stays.
    @Suite struct DisconnectTests {
        private static let connections = "chat_server_connections"
        private static let streams = "chat_server_streams"

        private func openThread(_ client: HTTPClient) async throws -> String {
            let reply = try await client.send("POST", "/v1/commands", "{\"openThread\":{\"name\":\"Market\"}}")
            let event = (reply.json?["events"] as? [[String: Any]])?.first?["threadOpened"] as? [String: Any]
            return try #require(event?["thread"] as? String)
        }

        @Test(arguments: [false, true]) func disconnectionsLeaveNothing(reset: Bool) async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let thread = try await openThread(maya)
            for _ in 0..<3 { try await maya.post(String(repeating: "x", count: 16_000), in: thread) }
            func leave(after text: String...) async throws {
                let client = try maya.another()
                for part in text { try await client.write(part) }
                client.socket.close(reset: reset)
            }
            let request = maya.text("POST", "/v1/commands", "{\"openThread\":{\"name\":\"x\"}}")
            for length in stride(from: 0, through: request.utf8.count, by: 13) {
                try await leave(after: String(request.prefix(length)))
            }
            // After a request whose response is not read, and in the middle of pipelined ones.
            let page = maya.text("GET", "/v1/threads/\(thread)/timeline")
            for count in [1, 5, 40] { try await leave(after: String(repeating: page, count: count)) }
            try await leave(after: maya.text("GET", "/v1/events"))
            try await leave(after: maya.text("GET", "/v1/events"), page)
            // While a stream is open, before and after events have arrived.
            for index in 0..<10 {
                let client = try maya.another()
                _ = try await client.openStream()
                if index % 2 == 0 {
                    try await maya.post("\(index)", in: thread)
                    _ = try await client.block()
                }
                client.socket.close(reset: reset)
            }
            // While the response is decided.
            fixture.gate.close()
            for count in 1...2 {
                let client = try maya.another()
                try await client.write(client.text("POST", "/v1/sign-in", fixture.signInBody("maya")))
                try await fixture.gate.reached(count)
                client.socket.close(reset: reset)
            }
            fixture.gate.open()
            // Only the connection of this client is left. A stream notices its end when it writes.
            try await fixture.wait(until: Self.streams, is: 0) { try await maya.post("y", in: thread) }
            try await fixture.wait(until: Self.connections, is: 1) { try await maya.post("y", in: thread) }
            try await fixture.stop()
        }

        /// A client that does not read its stream costs a bounded buffer, and others do not wait
        /// for it.
        @Test func streamThatIsNotReadDelaysNoOther() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let thread = try await openThread(maya)
            let (deaf, live) = (try maya.another(receiveBuffer: 4_096), try maya.another())
            try await deaf.write(deaf.text("GET", "/v1/events"))
            _ = try await live.openStream()
            try await fixture.wait(until: Self.streams, is: 2)
            let body = String(repeating: "x", count: 16_000)
            // More than the buffers of the server and of both sockets hold.
            for start in stride(from: 0, to: 100, by: 50) {
                try await maya.post((start..<start + 50).map { "\($0) \(body)" }, in: thread)
                for index in start..<start + 50 {
                    #expect(try await live.block()?.body?.hasPrefix("\(index) ") == true)
                }
            }
            // The stream still has what waits; on a busy machine it may have been told to resume.
            _ = try await Threads.run { try deaf.socket.read() }
            deaf.socket.close()
            live.socket.close()
            try await fixture.wait(until: Self.streams, is: 0) { try await maya.post("y", in: thread) }
            try await fixture.stop()
        }

        /// A late reader gets every event in order, though the mailbox was full in between.
        @Test func lateReaderMissesNothing() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let thread = try await openThread(maya)
            let late = try maya.another(receiveBuffer: 4_096)
            try await late.write(late.text("GET", "/v1/events"))
            try await fixture.wait(until: Self.streams, is: 1)
            let body = String(repeating: "x", count: 8_000)
            try await maya.post((0..<150).map { "\($0) \(body)" }, in: thread)
            _ = try await late.streamHead()
            for index in 0..<150 { #expect(try await late.block()?.body == "\(index) \(body)") }
            try await fixture.stop()
        }

        @Test func idleConnectionsDelayNoRequest() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let port = try fixture.port
            let idle = try await Threads.run { try (0..<2_000).map { _ in try RawSocket(port: port) } }
            try await fixture.wait(until: Self.connections, is: 2_001)
            for _ in 0..<20 { #expect(try await maya.get("/v1/me").status == 200) }
            for socket in idle { socket.close() }
            try await fixture.wait(until: Self.connections, is: 1)
            try await fixture.stop()
        }

        /// The one that has waited longest without a request ends; one in a request stays.
        @Test func idleConnectionsMakeRoom() async throws {
            let fixture = try ServerFixture()
            try await fixture.start { $0.maximumConnectionCount = 20 }
            let maya = try await fixture.member("maya")
            let stream = try maya.another()
            _ = try await stream.openStream()
            let first = try fixture.client()
            try await fixture.wait(until: Self.connections, is: 3)
            let others = try (0..<17).map { _ in try fixture.client() }
            try await fixture.wait(until: Self.connections, is: 20)
            // A connection without a request for this long may end.
            try await Task.sleep(for: .milliseconds(200))
            let late = try (0..<2).map { _ in try maya.another() }
            for client in late { #expect(try await client.get("/v1/me").status == 200) }
            // The client that signed up has waited longest.
            #expect(try await maya.isEnded())
            #expect(try await first.isEnded())
            let thread = try await openThread(late[0])
            try await late[1].post("x", in: thread)
            #expect(try await stream.block() != nil)
            withExtendedLifetime(others) {}
            try await fixture.stop()
        }

        /// While all connections are in a request, the health is answered, and others are told to
        /// come later.
        @Test func healthIsAnsweredBeyondTheMaximum() async throws {
            let fixture = try ServerFixture()
            let server = try await fixture.start { $0.maximumConnectionCount = 20 }
            let maya = try await fixture.member("maya")
            maya.socket.close()
            // One after the other: a connection that waits for its request ends after some seconds.
            var streams: [HTTPClient] = []
            for _ in 0..<20 {
                let stream = try maya.another()
                _ = try await stream.openStream()
                streams.append(stream)
            }
            for _ in 0..<20 {
                let refused = try fixture.client()
                let reply = try await refused.get("/v1/openapi.json")
                #expect((reply.status, reply.code, reply["retry-after"]) == (503, "busy", "1"))
                #expect(try await refused.isEnded())
                #expect(try await fixture.client().get("/healthz").status == 200)
            }
            await server.core.lookAtHealth(areConnectionsFull: true)
            #expect(
                try await fixture.client().get("/healthz").text == #"{"status":"ok","warnings":["connectionsFull"]}"#)
            streams[0].socket.close()
            try await fixture.wait(until: Self.connections, is: 19)
            #expect(try await fixture.client().get("/v1/openapi.json").status == 200)
            try await fixture.stop()
        }

        /// Few descriptors leave some for the journal and the accounts.
        @Test func descriptorsBoundTheConnections() {
            let counts = [0, 64, 256, 512, 1_024, 20_000].map { ChatServer.connectionCount(descriptors: $0) }
            #expect(counts == [16, 32, 128, 256, 768, 19_744])
        }
    }
#endif
