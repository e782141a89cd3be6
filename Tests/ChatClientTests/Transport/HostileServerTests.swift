#if Client || canImport(SQLite3)
    import ChatClient
    import Foundation
    import Locking
    import TestSupport
    import Testing

    /// The transport against servers that do not keep to anything.
    @Suite struct HostileServerTests {
        private func transport(
            _ server: HostileServer, request: Duration = .seconds(30), answer: Duration = .seconds(300),
            stream: Duration = .seconds(45)
        ) throws -> ServerTransport {
            let url = try #require(URL(string: server.url))
            return ServerTransport(
                try ServerAddress(url, allowsPlainText: false), requestTimeout: request, answerTime: answer,
                streamTimeout: stream)
        }

        private func failure(_ server: HostileServer, _ request: ClientRequest = ClientRequest("GET", "/v1/me"))
            async throws
            -> TransportFailure?
        {
            let transport = try transport(server, request: .seconds(2))
            do throws(TransportFailure) {
                let answer = try await transport.send(request)
                Issue.record("an answer: \(answer)")
                return nil
            } catch { return error }
        }

        private func isUnreachable(_ failure: TransportFailure?) -> Bool {
            if case .unreachable? = failure { true } else { false }
        }

        @Test(arguments: [
            "HTTP/1.1 200 OK\r\nContent-Type: application/json", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200",
            "HTTP/1.1 100 Continue\r\n",
            "", "\r\n\r\n", "nonsense\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 OK\r\n\r\n",
            "HTTP/1.1 99999 x\r\n\r\nx",
            "HTTP/1.1 -1 x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "HTTP/1.1 200 OK\r\nContent-Length: -7\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
            "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 x\r\n\r\n",
            "HTTP/1.1 101 Switching Protocols\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 7\r\n\r\nnot zip",
        ])
        func brokenAnswersAreFailures(text: String) async throws {
            let server = try HostileServer(text)
            let transport = try transport(server, request: .seconds(2))
            do throws(TransportFailure) {
                let answer = try await transport.send(ClientRequest("GET", "/v1/me"))
                // What the system lets pass is no answer of a chat server.
                #expect(throws: ClientError.self, "\(answer)") { try answer.decode([String: String].self) }
            } catch { #expect(isUnreachable(error) || error == .answerTooLarge, "\(error)") }
        }

        @Test func endlessBodyEndsAtItsBound() async throws {
            let sent = Lock(0)
            let server = try HostileServer { connection in
                connection.write("HTTP/1.1 200 OK\r\n\r\n")
                connection.write(repeating: [UInt8](repeating: 0x78, count: 65_536), atMost: 1 << 30)
                sent.withLock { $0 = connection.sentCount }
            }
            var request = ClientRequest("GET", "/v1/me")
            request.answerLimit = 1 << 20
            #expect(try await failure(server, request) == .answerTooLarge)
            for _ in 0..<3_000 where sent.withLock({ $0 }) == 0 { try await Task.sleep(for: .milliseconds(10)) }
            // The client has ended the connection before all was sent.
            #expect((1..<1 << 30).contains(sent.withLock { $0 }))
        }

        @Test func announcedBodyIsNotRead() async throws {
            let server = try HostileServer { connection in
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n")
                connection.waitForEnd()
            }
            #expect(try await failure(server) == .answerTooLarge)
        }

        /// Without a bound, a gigabyte would be kept.
        ///
        /// Other tests of the process have memory at the same time.
        @Test(arguments: [200, 302, 500], [false, true]) func endlessBodyTakesNoMemory(status: Int, isStream: Bool)
            async throws
        {
            let server = try HostileServer { connection in
                connection.write("HTTP/1.1 \(status) x\r\nLocation: /v1/me\r\n\r\n")
                connection.write(repeating: [UInt8](repeating: 0x78, count: 65_536), atMost: 1 << 30)
            }
            let before = PeakMemory.bytes
            var request = ClientRequest("GET", "/v1/me")
            request.answerLimit = 1 << 20
            if isStream {
                await #expect(throws: TransportFailure.self) {
                    _ = try await transport(server).openStream(after: nil, credentials: "token")
                }
            } else {
                #expect(try await failure(server, request) == .answerTooLarge)
            }
            guard let before, let after = PeakMemory.bytes else { return }
            #expect(after - before < 64 << 20)
        }

        @Test(arguments: ["X-Name: value\r\n", "X", "X: y\r\n z\r\n", "HTTP/1.1 100 Continue\r\n\r\n"])
        func endlessHeadIsTooLarge(piece: String) async throws {
            let server = try HostileServer { connection in
                connection.write("HTTP/1.1 200 OK\r\n")
                let pieces = String(repeating: piece, count: 4_096 / piece.utf8.count)
                connection.write(repeating: Array(pieces.utf8), atMost: 1 << 30)
            }
            let before = PeakMemory.bytes
            let failure = try await failure(server)
            #expect(failure == .answerTooLarge || isUnreachable(failure))
            guard let before, let after = PeakMemory.bytes else { return }
            #expect(after - before < 64 << 20)
        }

        @Test(arguments: ["X-Name: value\r\n", "x"]) func slowHeadHasADeadline(piece: String) async throws {
            let server = try HostileServer { connection in
                connection.write("HTTP/1.1 200 OK\r\n")
                while connection.write(piece) { Thread.sleep(forTimeInterval: 0.2) }
            }
            let transport = try transport(server, request: .seconds(3), answer: .seconds(4))
            let start = ContinuousClock.now
            await #expect(throws: TransportFailure.self) { try await transport.send(ClientRequest("GET", "/v1/me")) }
            #expect(ContinuousClock.now - start >= .seconds(2.9))
        }

        @Test func connectionIsUsedAgain() async throws {
            let server = try HostileServer { connection in
                repeat {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                } while connection.readHead() != nil
            }
            let transport = try transport(server)
            for _ in 0..<3 { #expect(try await transport.send(ClientRequest("GET", "/v1/me")).status == 200) }
            #expect(server.connectionCount == 1)
        }

        /// A connection that was in use before and ends without an answer: the server may have done
        /// it.
        @Test(arguments: ["POST", "DELETE"], [true, false]) func changeIsNotSentTwice(method: String, hasBody: Bool)
            async throws
        {
            let changes = Lock(0)
            let server = try HostileServer { connection in
                var head: String? = "GET"
                while let next = head, next.hasPrefix("GET") {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                    head = connection.readHead()
                }
                if head != nil { changes.withLock { $0 += 1 } }
            }
            let transport = try transport(server)
            #expect(try await transport.send(ClientRequest("GET", "/v1/me")).status == 200)
            let change = ClientRequest(method, "/v1/x", body: hasBody ? Data("{}".utf8) : nil)
            do throws(TransportFailure) {
                let answer = try await transport.send(change)
                // A connection of its own: its first request is answered.
                #expect(!hasBody && answer.status == 200 && server.heads.count == 2)
            } catch {
                #expect(hasBody && isUnreachable(error) && server.heads.count == 1 && changes.withLock { $0 } == 1)
            }
        }

        @Test(arguments: ["a\r\nX-Admin: 1", "a\nb", "a\u{0}b"]) func tokenDoesNotEndItsLine(token: String) async throws
        {
            let server = try HostileServer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            #expect(isUnreachable(try await failure(server, ClientRequest("GET", "/v1/me", credentials: token))))
            #expect(server.connectionCount == 0)
        }

        @Test func largeBodyIsSent() async throws {
            let end = Array("the end".utf8)
            let body = Data((0..<(3 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31) } + end)
            let received = Lock([UInt8]())
            let server = try HostileServer { connection in
                while !received.withLock({ $0.suffix(end.count) == end[...] }), let more = connection.read() {
                    received.withLock { $0 += more }
                }
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            }
            #expect(try await transport(server).send(ClientRequest("POST", "/v1/commands", body: body)).status == 200)
            let head = try #require(server.heads.first)
            #expect(head.contains("Content-Length: \(body.count)\r\n") && !head.contains("Expect"))
            // The first bytes may have come with the head.
            let rest = received.withLock { $0 }
            #expect(rest.count > body.count - 65_536 && Data(rest) == body.suffix(rest.count))
        }

        @Test func manyRequestsAtOnce() async throws {
            let server = try HostileServer { connection in
                repeat {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                } while connection.readHead() != nil
            }
            let transport = try transport(server)
            let statuses = try await withThrowingTaskGroup { group in
                for _ in 0..<200 { group.addTask { try await transport.send(ClientRequest("GET", "/v1/me")).status } }
                return try await group.reduce(into: [Int]()) { $0.append($1) }
            }
            #expect(statuses == Array(repeating: 200, count: 200) && server.connectionCount <= 64)
        }

        /// Connections that wait for a request end with their transport.
        @Test func releasedTransportEndsItsConnections() async throws {
            let hasEnded = Lock(false)
            let server = try HostileServer { connection in
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
                connection.waitForEnd()
                hasEnded.withLock { $0 = true }
            }
            do { #expect(try await transport(server).send(ClientRequest("GET", "/v1/me")).status == 200) }
            for _ in 0..<1_000 where !hasEnded.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
            #expect(hasEnded.withLock { $0 })
        }

        /// 64 MiB of zeros in a few bytes.
        @Test func compressedBodyIsBoundedWhenItIsLarge() async throws {
            let bomb = GzipBomb.bytes(megabytes: 64)
            let server = try HostileServer { connection in
                connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
                connection.write(bomb)
            }
            var request = ClientRequest("GET", "/v1/me")
            request.answerLimit = 1 << 20
            #expect(try await failure(server, request) == .answerTooLarge)
        }

        @Test(arguments: [301, 302, 303, 307, 308], ["GET", "POST"]) func redirectIsTheAnswer(
            status: Int, method: String
        ) async throws {
            let other = try HostileServer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            let server = try HostileServer(
                "HTTP/1.1 \(status) Moved\r\nLocation: \(other.url)/v1/me\r\nContent-Length: 5\r\nConnection: close\r\n\r\nmoved"
            )
            let request = ClientRequest(
                method, "/v1/me", credentials: "secret", body: method == "POST" ? Data("{}".utf8) : nil)
            let answer = try await transport(server).send(request)
            #expect(answer.status == status)
            #expect(other.connectionCount == 0)
            #expect(server.heads.count == 1)
        }

        @Test func silentServerTimesOut() async throws {
            let server = try HostileServer { $0.waitForEnd() }
            let start = ContinuousClock.now
            #expect(isUnreachable(try await failure(server)))
            #expect(ContinuousClock.now - start >= .seconds(1))
        }

        @Test func slowAnswerHasADeadline() async throws {
            let server = try HostileServer { connection in
                connection.write("HTTP/1.1 200 OK\r\n\r\n")
                while connection.write("x") { Thread.sleep(forTimeInterval: 0.1) }
            }
            let transport = try transport(server, request: .seconds(2), answer: .seconds(4))
            let start = ContinuousClock.now
            await #expect(throws: TransportFailure.self) { try await transport.send(ClientRequest("GET", "/v1/me")) }
            #expect(ContinuousClock.now - start >= .seconds(3.9))
        }

        @Test func noServerIsUnreachable() async throws {
            // No program listens on the port of TCPMUX; one that was free a moment ago can be that
            // of another test.
            let address = try ServerAddress(#require(URL(string: "http://127.0.0.1:1")), allowsPlainText: false)
            let transport = ServerTransport(address)
            await #expect(throws: TransportFailure.unreachable("There is no connection to the server.")) {
                try await transport.send(ClientRequest("GET", "/v1/me"))
            }
        }

        @Test func requestHasTheTokenAndNoCookie() async throws {
            let server = try HostileServer(
                "HTTP/1.1 200 OK\r\nSet-Cookie: chat-session=secret; Path=/\r\nETag: \"1\"\r\nCache-Control: max-age=600\r\n"
                    + "X-Name: Value\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
            let transport = try transport(server)
            for _ in 0..<2 {
                let answer = try await transport.send(ClientRequest("GET", "/v1/me?limit=2", credentials: "tok-en"))
                #expect((answer.status, answer.headers["x-name"], answer.headers["set-cookie"]) == (200, "Value", nil))
                #expect(answer.body == Data("{}".utf8))
            }
            #expect(server.heads.count == 2)
            for head in server.heads {
                #expect(head.hasPrefix("GET /v1/me?limit=2 HTTP/1.1\r\n"))
                #expect(
                    head.contains("Authorization: Bearer tok-en\r\n") && head.contains("User-Agent: ChatJournal\r\n"))
                #expect(!head.lowercased().contains("cookie") && !head.lowercased().contains("if-none-match"))
            }
        }

        @Test func cancellationEndsTheRequest() async throws {
            let hasEnded = Lock(false)
            let server = try HostileServer { connection in
                connection.waitForEnd()
                hasEnded.withLock { $0 = true }
            }
            let transport = try transport(server)
            let task = Task { try await transport.send(ClientRequest("GET", "/v1/me")) }
            while server.heads.isEmpty { try await Task.sleep(for: .milliseconds(10)) }
            task.cancel()
            await #expect(throws: TransportFailure.cancelled) { try await task.value }
            for _ in 0..<1_000 where !hasEnded.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
            #expect(hasEnded.withLock { $0 })
            let cancelled = Task {
                while !Task.isCancelled { await Task.yield() }
                return try await transport.send(ClientRequest("GET", "/v1/me"))
            }
            cancelled.cancel()
            await #expect(throws: TransportFailure.cancelled) { try await cancelled.value }
        }
    }
#endif
