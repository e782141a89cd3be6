#if Client || canImport(SQLite3)
    import ChatClient
    import Foundation
    import Locking
    import Testing

    /// Streams of servers that do not keep to anything.
    @Suite struct HostileStreamTests {
        private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n\r\n"

        private func open(_ server: HostileServer, silence: Duration = .seconds(45)) async throws -> any ClientStream {
            let url = try #require(URL(string: server.url))
            let transport = URLSessionTransport(try ServerAddress(url, allowsPlainText: false), streamTimeout: silence)
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
                Self.head.replacing("\r\n\r\n", with: "\r\nTransfer-Encoding: chunked\r\n\r\n") + "9\r\ndata: a\n\n\r\n50\r\nda")
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
                        ClientAnswer(status: 401, headers: ["www-authenticate": "Bearer", "content-length": "4"], body: Data("body".utf8))))
            guard case .refused(let page)? = try await refusal("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>") else {
                Issue.record("no refusal")
                return
            }
            #expect(page.status == 200)
            guard case .answerInvalid = ClientError(.refused(page)) else {
                Issue.record("a page is a stream")
                return
            }
            let other = try HostileServer(Self.head + "data: a\n\n")
            guard case .refused(let redirect)? = try await refusal("HTTP/1.1 302 x\r\nLocation: \(other.url)\r\nContent-Length: 0\r\n\r\n")
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
            #expect((.seconds(4.5)..<(.seconds(20))).contains(ContinuousClock.now - start))
        }

        /// A reader that takes nothing gets what had arrived, then a failure or the rest.
        @Test func waitingBytesAreBounded() async throws {
            let event = Array("data: \(String(repeating: "x", count: 65_000))\n\n".utf8)
            let hasEnded = Lock(false)
            let server = try HostileServer { connection in
                connection.write(Self.head)
                connection.write(repeating: event, atMost: 256 << 20)
                hasEnded.withLock { $0 = true }
            }
            let stream = try await open(server)
            #if !canImport(Darwin)
                for _ in 0..<3_000 where !hasEnded.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
                let (events, failure) = await events(stream)
                #expect(failure == .unreachable("The stream was not read fast enough."))
                #expect((1...(34 << 20) / event.count).contains(events.count))
                #expect(events.allSatisfy { $0.data?.utf8.count == 65_000 })
            #else
                try await Task.sleep(for: .seconds(1))
                #expect(!hasEnded.withLock { $0 })
                let (events, failure) = await events(stream)
                #expect(failure == nil && events.count == (256 << 20 + event.count - 1) / event.count)
            #endif
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
