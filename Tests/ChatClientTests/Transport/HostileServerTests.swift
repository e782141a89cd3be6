#if Client || canImport(SQLite3)
    import ChatClient
    import Foundation
    import Locking
    import Testing

    /// The transport against servers that do not keep to anything.
    @Suite struct HostileServerTests {
        private func transport(
            _ server: HostileServer, request: Duration = .seconds(30), answer: Duration = .seconds(300), stream: Duration = .seconds(45)
        ) throws -> URLSessionTransport {
            let url = try #require(URL(string: server.url))
            return URLSessionTransport(
                try ServerAddress(url, allowsPlainText: false), requestTimeout: request, answerTime: answer, streamTimeout: stream)
        }

        private func failure(_ server: HostileServer, _ request: ClientRequest = ClientRequest("GET", "/v1/me")) async throws
            -> TransportFailure?
        {
            let transport = try transport(server, request: .seconds(2))
            do throws(TransportFailure) {
                let answer = try await transport.send(request)
                Issue.record("an answer: \(answer)")
                return nil
            } catch { return error }
        }

        private func isUnreachable(_ failure: TransportFailure?) -> Bool { if case .unreachable? = failure { true } else { false } }

        // Without an answer that ends in its headers: on Linux, swift-corelibs-foundation then ends the process
        // ("Transfer completed, but there's no response").
        @Test(arguments: [
            "", "\r\n\r\n", "nonsense\r\n\r\n", "HTTP/9.9 200 OK\r\n\r\n", "HTTP/1.1 OK\r\n\r\n", "HTTP/1.1 99999 x\r\n\r\nx",
            "HTTP/1.1 -1 x\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "HTTP/1.1 200 OK\r\nContent-Length: -7\r\n\r\nx",
            "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\nx", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
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

        /// 64 MiB of zeros in a few bytes.
        @Test func compressedBodyIsBoundedWhenItIsLarge() async throws {
            let server = try HostileServer { connection in
                connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
                connection.write(GzipBomb.bytes(megabytes: 64))
            }
            var request = ClientRequest("GET", "/v1/me")
            request.answerLimit = 1 << 20
            #expect(try await failure(server, request) == .answerTooLarge)
        }

        @Test(arguments: [301, 302, 303, 307, 308], ["GET", "POST"]) func redirectIsTheAnswer(status: Int, method: String) async throws {
            let other = try HostileServer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
            let server = try HostileServer(
                "HTTP/1.1 \(status) Moved\r\nLocation: \(other.url)/v1/me\r\nContent-Length: 5\r\nConnection: close\r\n\r\nmoved")
            let request = ClientRequest(method, "/v1/me", credentials: "secret", body: method == "POST" ? Data("{}".utf8) : nil)
            let answer = try await transport(server).send(request)
            #expect(answer.status == status)
            #expect(other.connectionCount == 0)
            #expect(server.heads.count == 1)
        }

        @Test func silentServerTimesOut() async throws {
            let server = try HostileServer { $0.waitForEnd() }
            let start = ContinuousClock.now
            #expect(isUnreachable(try await failure(server)))
            #expect((.seconds(1)..<(.seconds(20))).contains(ContinuousClock.now - start))
        }

        @Test func slowAnswerHasADeadline() async throws {
            let server = try HostileServer { connection in
                connection.write("HTTP/1.1 200 OK\r\n\r\n")
                while connection.write("x") { Thread.sleep(forTimeInterval: 0.1) }
            }
            let transport = try transport(server, request: .seconds(2), answer: .seconds(4))
            let start = ContinuousClock.now
            await #expect(throws: TransportFailure.self) { try await transport.send(ClientRequest("GET", "/v1/me")) }
            #expect((.seconds(3.9)..<(.seconds(20))).contains(ContinuousClock.now - start))
        }

        @Test func noServerIsUnreachable() async throws {
            let port: UInt16
            do { port = try HostileServer("").port }
            let address = try ServerAddress(#require(URL(string: "http://127.0.0.1:\(port)")), allowsPlainText: false)
            let transport = URLSessionTransport(address)
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
                #expect(head.contains("Authorization: Bearer tok-en\r\n") && head.contains("User-Agent: ChatJournal\r\n"))
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
