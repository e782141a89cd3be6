#if Client || canImport(SQLite3)
    import ChatClient
    import Foundation
    import Locking
    import TestSupport
    import Testing

    /// Streams of servers that do not keep to anything.
    @Suite struct HostileStreamTests {
        private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n"

        private func open(_ server: HostileServer, silence: Duration = .seconds(45)) async throws -> any ClientStream {
            let url = try #require(URL(string: server.url))
            let transport = ServerTransport(try ServerAddress(url, allowsPlainText: false), streamTimeout: silence)
            return try await transport.openStream(after: nil, credentials: "token")
        }

        /// Reads to the end; returns the events, and the failure if the stream has one.
        private func events(_ stream: any ClientStream) async -> ([ServerSentEvent], TransportFailure?) {
            var events: [ServerSentEvent] = []
            do throws(TransportFailure) {
                while let event = try await stream.next() { events.append(event) }
            } catch { return (events, error) }
            return (events, nil)
        }

        private func refusal(_ text: String) async throws -> TransportFailure? {
            let server = try HostileServer(text)
            do { _ = try await open(server) } catch let error as TransportFailure { return error }
            return nil
        }

        @Test func streamEndsAndFails() async throws {
            let ended = try HostileServer(Self.head + "id: 1\ndata: a\n\n: heartbeat\n\ndata: cut")
            let (events, failure) = try await events(open(ended))
            #expect(events == [ServerSentEvent(id: "1", data: "a"), ServerSentEvent(id: "1")] && failure == nil)
            #expect(ended.heads.first?.contains("Authorization: Bearer token\r\n") == true)
            #expect(ended.heads.first?.contains("Accept: text/event-stream\r\n") == true)
            let cut = try HostileServer(
                Self.head.replacing("\r\n\r\n", with: "\r\nTransfer-Encoding: chunked\r\n\r\n")
                    + "9\r\ndata: a\n\n\r\n50\r\nda")
            let (whole, broken) = try await self.events(open(cut))
            #expect(whole == [ServerSentEvent(data: "a")])
            guard case .unreachable? = broken else {
                Issue.record("\(String(describing: broken))")
                return
            }
        }

        @Test func openingIsRefused() async throws {
            let problem = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer\r\nContent-Length: 4\r\n\r\nbody"
            #expect(
                try await refusal(problem)
                    == .refused(
                        ClientAnswer(
                            status: 401, headers: ["www-authenticate": "Bearer", "content-length": "4"],
                            body: Data("body".utf8))))
            guard case .refused(let page)? = try await refusal("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>")
            else {
                Issue.record("no refusal")
                return
            }
            #expect(page.status == 200)
            guard case .answerInvalid = ClientError(.refused(page)) else {
                Issue.record("a page is a stream")
                return
            }
            let other = try HostileServer(Self.head + "data: a\n\n")
            guard
                case .refused(let redirect)? = try await refusal(
                    "HTTP/1.1 302 x\r\nLocation: \(other.url)\r\nContent-Length: 0\r\n\r\n")
            else {
                Issue.record("no refusal")
                return
            }
            #expect(redirect.status == 302 && other.connectionCount == 0)
        }

        @Test func refusalIsBounded() async throws {
            let server = try HostileServer { connection in
                connection.write("HTTP/1.1 500 x\r\n\r\n")
                connection.write(repeating: [UInt8](repeating: 0x78, count: 65_536), atMost: 1 << 30)
            }
            do {
                _ = try await open(server)
                Issue.record("a stream")
            } catch TransportFailure.refused(let answer) {
                #expect(answer.status == 500 && answer.body.count == 64 << 10)
            }
        }

        @Test func endlessLineIsTooLarge() async throws {
            let server = try HostileServer { connection in
                connection.write(Self.head + "data: ")
                connection.write(repeating: [UInt8](repeating: 0x78, count: 16_384), atMost: 20 << 20)
                connection.waitForEnd()
            }
            let (events, failure) = try await events(open(server))
            #expect(events.isEmpty && failure == .answerTooLarge)
        }

        @Test func silenceEndsTheStream() async throws {
            let server = try HostileServer { connection in
                connection.write(Self.head + "data: a\n\n")
                for _ in 0..<3 {
                    Thread.sleep(forTimeInterval: 1)
                    connection.write(":\n\n")
                }
                connection.waitForEnd()
            }
            let start = ContinuousClock.now
            let (events, failure) = try await events(open(server, silence: .seconds(2)))
            // Heartbeats keep it alive.
            #expect(events == [ServerSentEvent(data: "a"), ServerSentEvent(), ServerSentEvent(), ServerSentEvent()])
            #expect(failure == .unreachable("The server does not answer."))
            #expect(ContinuousClock.now - start >= .seconds(4.5))
        }

        /// The server waits for a reader that takes nothing, who then gets everything.
        @Test func waitingBytesAreBounded() async throws {
            let event = Array("data: \(String(repeating: "x", count: 65_000))\n\n".utf8)
            let total = 64 << 20
            let sent = Lock(0)
            let server = try HostileServer { connection in
                connection.write(Self.head)
                while connection.sentCount < total, connection.write(event) {
                    sent.withLock { $0 = connection.sentCount }
                }
            }
            let stream = try await open(server, silence: .seconds(2))
            // Longer than the silence that ends a stream whose reader waits.
            try await Task.sleep(for: .seconds(4))
            // What waits here, and in the buffers of the system.
            #expect(sent.withLock { $0 } < 32 << 20)
            var count = 0
            while let event = try await stream.next() {
                #expect(event.data?.utf8.count == 65_000)
                count += 1
            }
            #expect(count == (total - Self.head.utf8.count + event.count - 1) / event.count)
        }

        /// The connection ends with the stream.
        @Test func releasedStreamEndsItsConnection() async throws {
            let ended = Lock(0)
            let server = try HostileServer { connection in
                connection.write(Self.head + "data: a\n\n")
                connection.waitForEnd()
                ended.withLock { $0 += 1 }
            }
            do {
                let stream = try await open(server)
                #expect(try await stream.next()?.data == "a")
            }
            let cancelled = try await open(server)
            cancelled.cancel()
            await #expect(throws: TransportFailure.cancelled) { try await cancelled.next() }
            for _ in 0..<1_000 where ended.withLock({ $0 }) < 2 { try await Task.sleep(for: .milliseconds(10)) }
            #expect(ended.withLock { $0 } == 2)
        }
    }
#endif
