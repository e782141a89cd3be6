#if Server
    import ChatDomain
    import Locking
    import Testing

    @testable import ChatServer

    /// A connection without a socket: what it sends for what it receives, and when it is late.
    @Suite struct HTTPConnectionTests {
        /// Keeps requests until the test responds.
        private final class Handler: HTTPHandler {
            let requests = Lock([(request: HTTPRequest, exchange: HTTPExchange)]())
            let responds: Bool

            init(responds: Bool) { self.responds = responds }

            func check(_ head: HTTPHead) -> HTTPResponse? {
                head.target == "/no" ? HTTPResponse(status: 403, headers: [], body: .bytes([])) : nil
            }

            func bodyLimit(of head: HTTPHead) -> Int { head.target == "/large" ? 1 << 20 : 1_000 }

            func admit(_ head: HTTPHead, _ exchange: HTTPExchange) {
                switch head.target {
                case "/user": exchange.admit(.user(UserID(bits: 7)))
                case "/anonymous": exchange.respond(HTTPResponse(status: 401, headers: [], body: .bytes([])))
                default: exchange.admit(.shared)
                }
            }

            func response(to error: HTTPError) -> HTTPResponse {
                HTTPResponse(status: error.status, headers: [], body: .bytes([0x21]))
            }

            func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
                requests.withLock { $0.append((request, exchange)) }
                if responds {
                    exchange.respond(
                        HTTPResponse(status: 200, headers: [], body: .bytes(Array(request.head.target.utf8))))
                }
            }
        }

        private let handler: Handler
        private let context: HTTPContext
        private let connection: HTTPConnection

        /// A connection whose handler responds at once.
        init() throws { try self.init(responds: true) }

        private init(responds: Bool) throws {
            handler = Handler(responds: responds)
            var budget = ClientBudget()
            // 16 halves of a MiB, each with a head.
            (budget.userMaximum, budget.anonymousMaximum) = (8 << 20, (8 << 20) + 16 * 230)
            context = HTTPContext(
                handler, LoopSignals(try #require(Poller())), SocketLimits(), ClientMemory(budget))
            connection = HTTPConnection(2, -1, nil, context)
        }

        /// Takes the output, as if it were sent, while there is some.
        private func sent() -> String {
            var bytes: [UInt8] = []
            while true {
                connection.advance()
                if connection.output.isEmpty { return String(decoding: bytes, as: UTF8.self) }
                bytes += connection.output.first
                connection.didSend(connection.output.first.count - connection.output.sentCount)
            }
        }

        private func send(_ text: String) -> String {
            connection.receive(RawRequests.bytes(text)[...])
            return sent()
        }

        private func statuses(_ text: String) -> [Int] {
            text.matches(of: /HTTP\/1\.1 (\d{3})/).compactMap { Int($0.1) }
        }

        private var phase: String { "\(connection.phase)".prefix { $0 != "(" }.description }

        /// Requests that were sent at once wait where they are until the first ones are answered.
        @Test func requestsAtOnceAreReadInTurns() {
            let request = Array("GET /x HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
            connection.receive(Array([[UInt8]](repeating: request, count: 3).joined())[...])
            #expect(!connection.wantsInput)
            for _ in 0..<3 {
                connection.advance()
                #expect(!connection.output.isEmpty && !connection.wantsInput)
                connection.didSend(connection.output.byteCount)
            }
            connection.advance()
            #expect(connection.output.isEmpty && connection.wantsInput)
            // Of a head that is not complete the rest is read.
            connection.receive(Array("GET /".utf8)[...])
            connection.advance()
            #expect(connection.wantsInput)
        }

        @Test func smallChunksAreReceivedInSmallParts() {
            #expect(connection.receiveByteCount == 16 << 10)
            connection.receive(
                Array("POST /user HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\n".utf8)[...])
            connection.advance()
            #expect(connection.receiveByteCount == 2 << 10)
        }

        @Test func requestsAreAnsweredInOrder() {
            let text = send(
                "GET /1 HTTP/1.1|Host: a||POST /2 HTTP/1.1|Host: a|Content-Length: 3||xyzHEAD /3 HTTP/1.1|Host: a||GET /4 HTTP/1.1|Host: a||"
            )
            #expect(statuses(text) == [200, 200, 200, 200])
            let bodies = text.split(separator: "\r\n").filter { $0.hasPrefix("/") }
            #expect(bodies.joined().contains("/1HTTP/1.1") && text.hasSuffix("/4") && !text.contains("\r\n\r\n/3"))
            #expect(
                handler.requests.withLock { $0.map { String(decoding: $0.request.body, as: UTF8.self) } } == [
                    "", "xyz", "", "",
                ])
            #expect(phase == "head")
        }

        @Test func nextRequestWaitsForTheResponse() throws {
            let test = try HTTPConnectionTests(responds: false)
            #expect(test.send("GET /1 HTTP/1.1|Host: a||GET /2 HTTP/1.1|Host: a||").isEmpty)
            #expect(!test.connection.wantsInput)
            let first = try #require(test.handler.requests.withLock { $0.count == 1 ? $0[0].exchange : nil })
            first.respond(HTTPResponse(status: 204, headers: [], body: .bytes([])))
            first.respond(HTTPResponse(status: 500, headers: [], body: .bytes([])))
            #expect(test.statuses(test.sent()) == [204])
            #expect(test.handler.requests.withLock { $0.count } == 2)
        }

        /// Requests behind an endless response are never read.
        @Test func streamWithInputEnds() throws {
            let test = try HTTPConnectionTests(responds: false)
            _ = test.send("GET / HTTP/1.1|Host: a||")
            let mailbox = Mailbox()
            try #require(test.handler.requests.withLock { $0.last }).exchange.respond(
                HTTPResponse(status: 200, headers: [], body: .stream(mailbox)))
            _ = test.sent()
            #expect(test.phase == "stream" && test.connection.wantsInput)
            test.connection.receive([UInt8](repeating: 0x20, count: 1_000)[...])
            #expect(test.phase == "stream")
            test.connection.receive([UInt8](repeating: 0x20, count: 1_000)[...])
            #expect(test.phase == "over")
        }

        @Test func streamWithInputOfItsRequestEnds() throws {
            for (count, phase) in [(1_000, "stream"), (2_000, "over")] {
                let test = try HTTPConnectionTests(responds: false)
                _ = test.send("GET / HTTP/1.1|Host: a||" + String(repeating: "x", count: count))
                try #require(test.handler.requests.withLock { $0.last }).exchange.respond(
                    HTTPResponse(status: 200, headers: [], body: .stream(Mailbox())))
                _ = test.sent()
                #expect(test.phase == phase)
            }
        }

        @Test func errorEndsTheConnection() {
            let text = send("GET /1 HTTP/1.1|Host: a||GET /2 HTTP/1.1|Host: a| folded||GET /3 HTTP/1.1|Host: a||")
            #expect(statuses(text) == [200, 400])
            #expect(text.contains("Connection: close\r\n") && text.hasSuffix("\r\n\r\n!"))
            #expect(phase == "lingering")
            // What follows is dropped, and only for a while.
            #expect(send("GET /4 HTTP/1.1|Host: a||").isEmpty && phase == "lingering")
            for _ in 0..<20 { connection.receive([UInt8](repeating: 0, count: 60_000)[...]) }
            #expect(phase == "over")
        }

        @Test func errorAfterAHeadRequestHasItsBody() {
            #expect(send("HEAD /1 HTTP/1.1|Host: a||x||").hasSuffix("!"))
        }

        @Test(arguments: [
            "Content-Length: 1001||", "Transfer-Encoding: chunked||3E9|" + String(repeating: "x", count: 1_001),
        ])
        func largeBodyIsRejected(rest: String) {
            #expect(statuses(send("POST / HTTP/1.1|Host: a|\(rest)")) == [413])
            #expect(phase == "lingering" && handler.requests.withLock { $0.isEmpty })
        }

        @Test func expectedContinueIsSentIfTheBodyIsRead() {
            #expect(
                send("POST / HTTP/1.1|Host: a|Expect: 100-continue|Content-Length: 2||")
                    == "HTTP/1.1 100 Continue\r\n\r\n")
            #expect(statuses(send("xy")) == [200])
            // The client has not waited.
            #expect(statuses(send("POST / HTTP/1.1|Host: a|Expect: 100-continue|Content-Length: 2||xy")) == [200])
            #expect(statuses(send("POST / HTTP/1.1|Host: a|Expect: 100-continue||")) == [200])
            #expect(statuses(send("POST /no HTTP/1.1|Host: a|Expect: 100-continue|Content-Length: 2||")) == [403])
            #expect(phase == "lingering")
        }

        @Test func bodyThatIsNotAdmittedIsNotRead() {
            #expect(
                statuses(send("POST /anonymous HTTP/1.1|Host: a|Expect: 100-continue|Content-Length: 2||")) == [401])
            #expect(phase == "lingering" && handler.requests.withLock { $0.isEmpty })
        }

        /// The bytes of a body come back to who paid for them, however the request ends.
        @Test func bodiesAreGivenBack() {
            let half = String(repeating: "x", count: 1 << 19)
            for _ in 0..<80 {
                #expect(send("POST /user HTTP/1.1|Host: a|Content-Length: 1000||x").isEmpty)
                #expect(statuses(send(String(repeating: "x", count: 999))) == [200])
            }
            let others = (0..<16).map { HTTPConnection(UInt64(10 + $0), -1, nil, context) }
            for other in others {
                other.receive(RawRequests.bytes("POST /large HTTP/1.1|Host: a|Content-Length: 1048576||")[...])
                other.advance()
                other.receive(Array(half.utf8)[...])
                other.advance()
            }
            // All of the budget of clients without a session.
            #expect(statuses(send("POST / HTTP/1.1|Host: a|Content-Length: 3||x")) == [503])
            others[0].drop()
            let next = HTTPConnection(40, -1, nil, context)
            next.receive(RawRequests.bytes("POST / HTTP/1.1|Host: a|Content-Length: 3||x")[...])
            next.advance()
            #expect("\(next.phase)".hasPrefix("body("))
            for other in others { other.drop() }
        }

        /// What a connection has received and not handed on is counted, however it goes on.
        @Test func partsOfHeadsAreCounted() {
            let memory = context.memory
            #expect(send("GET /1 HTTP/1.1|Host: a||").hasSuffix("/1") && connection.countMemory())
            #expect(memory.byteCount == 0 && connection.endableMemory == nil)
            let headers = (0..<50).map { "x\($0): y|" }.joined()
            #expect(send("GET /2 HTTP/1.1|Host: a|" + headers).isEmpty && connection.countMemory())
            // Each header is two strings.
            #expect(memory.byteCount > 50 * 96 && connection.endableMemory?.client == .shared)
            #expect(send("|").hasSuffix("/2") && connection.countMemory())
            #expect(memory.byteCount == 0)
            #expect(send("POST /user HTTP/1.1|Host: a|Content-Length: 9||12345").isEmpty && connection.countMemory())
            #expect(memory.byteCount > 5 && connection.endableMemory?.client == .user(UserID(bits: 7)))
            #expect(statuses(send("6789")) == [200] && connection.countMemory())
            handler.requests.withLock { $0 = [] }
            #expect(memory.byteCount == 0)
            #expect(send("GET /3").isEmpty && connection.countMemory() && memory.byteCount > 0)
            connection.drop()
            #expect(memory.byteCount == 0)
        }

        @Test func rejectedHeadKeepsTheConnectionWithoutABody() {
            #expect(statuses(send("GET /no HTTP/1.1|Host: a||GET / HTTP/1.1|Host: a||")) == [403, 200])
            #expect(statuses(send("POST /no HTTP/1.1|Host: a|Content-Length: 2||xyGET / HTTP/1.1|Host: a||")) == [403])
        }

        @Test func clientThatEndsItsSideGetsItsAnswers() {
            connection.receive(RawRequests.bytes("GET /1 HTTP/1.1|Host: a||GET /2 HTTP/1.1|Host: a||GET /3")[...])
            connection.receiveEnd()
            #expect(statuses(sent()) == [200, 200])
            #expect(phase == "over")
        }

        @Test(arguments: ["", "GET", "POST / HTTP/1.1|Host: a|Content-Length: 2||x"]) func unfinishedRequestEnds(
            text: String
        ) {
            #expect(send(text).isEmpty)
            connection.receiveEnd()
            #expect(sent().isEmpty && phase == "over")
        }

        @Test func oldVersionEndsTheConnection() {
            #expect(send("GET / HTTP/1.0||").contains("Connection: close\r\n"))
            #expect(phase == "lingering")
        }

        @Test func streamIsSentInChunks() async throws {
            for (version, isChunked) in [("1.1", true), ("1.0", false)] {
                let test = try HTTPConnectionTests(responds: false)
                _ = test.send("GET / HTTP/\(version)|Host: a||")
                let mailbox = Mailbox()
                let exchange = try #require(test.handler.requests.withLock { $0.first?.exchange })
                exchange.respond(HTTPResponse(status: 200, headers: [], body: .stream(mailbox)))
                #expect(test.sent().contains("chunked") == isChunked)
                try await mailbox.write(Array("hello".utf8))
                #expect(test.sent() == (isChunked ? "5\r\nhello\r\n" : "hello"))
                mailbox.end(Array("x".utf8))
                #expect(test.sent() == (isChunked ? "1\r\nx\r\n0\r\n\r\n" : "x"))
                #expect(test.phase == (isChunked ? "head" : "lingering"))
            }
        }

        #if os(Linux)
            private struct Receiver: SocketReceiver {
                let messages = HeldMemory(ClientMemory(), .shared)
                func receive(_ message: [UInt8]) -> Bool { true }
                func didClose() {}
            }

            /// Until its handshake is sent, a WebSocket is not read: the loop would turn for
            /// nothing.
            @Test func handshakeIsSentBeforeTheSocketIsRead() throws {
                let test = try HTTPConnectionTests(responds: false)
                _ = test.send("GET / HTTP/1.1|Host: a||")
                try #require(test.handler.requests.withLock { $0.first?.exchange })
                    .respond(HTTPResponse(status: 101, headers: [], body: .upgrade { _ in (Mailbox(), Receiver()) }))
                test.connection.advance()
                #expect(test.connection.isSocket && !test.connection.output.isEmpty)
                #expect(test.connection.wantedInterest(isTurnOver: false) == Interest(reads: false, writes: true))
                test.connection.drop()
            }
        #endif

        @Test func goneClientEndsItsStream() async throws {
            let test = try HTTPConnectionTests(responds: false)
            _ = test.send("GET / HTTP/1.1|Host: a||")
            let mailbox = Mailbox()
            try #require(test.handler.requests.withLock { $0.first?.exchange })
                .respond(HTTPResponse(status: 200, headers: [], body: .stream(mailbox)))
            _ = test.sent()
            test.connection.receiveEnd()
            #expect(test.sent().isEmpty && test.phase == "over")
            test.connection.drop()
            // A response after the end ends its stream.
            await #expect(throws: Mailbox.Ended.self) { try await mailbox.write([1]) }
        }

        @Test func responseAfterTheEndIsDropped() async throws {
            let test = try HTTPConnectionTests(responds: false)
            _ = test.send("GET / HTTP/1.1|Host: a||")
            let exchange = try #require(test.handler.requests.withLock { $0.first?.exchange })
            let statuses = Box([Int]())
            exchange.setCompletion { status in statuses.withLock { $0.append(status) } }
            test.connection.drop()
            let mailbox = Mailbox()
            exchange.respond(HTTPResponse(status: 200, headers: [], body: .stream(mailbox)))
            await #expect(throws: Mailbox.Ended.self) { try await mailbox.write([1]) }
            #expect(statuses.withLock { $0 } == [0])
        }

        // MARK: Times

        private func isLate(after seconds: Int) -> Bool {
            let now = context.now
            defer { context.now = now }
            context.now += .seconds(seconds)
            return connection.isLate
        }

        @Test func phasesHaveTheirTimes() throws {
            #expect(!isLate(after: 59) && isLate(after: 61))
            // While others wait to be accepted.
            context.isFull = true
            #expect(!isLate(after: 4) && isLate(after: 6))
            context.isFull = false
            #expect(send("G").isEmpty && !isLate(after: 9) && isLate(after: 11))
            // A byte now and then does not give more time.
            context.now += .seconds(8)
            #expect(send("ET / HTTP/1.1|").isEmpty && isLate(after: 3))
            #expect(statuses(send("Host: a||")) == [200] && !isLate(after: 59) && isLate(after: 61))
            #expect(
                send("POST / HTTP/1.1|Host: a|Content-Length: 3||x").isEmpty && !isLate(after: 29) && isLate(after: 31))
            context.now += .seconds(20)
            #expect(send("x").isEmpty && isLate(after: 11))
            let test = try HTTPConnectionTests(responds: false)
            #expect(test.send("GET / HTTP/1.1|Host: a||").isEmpty && !test.isLate(after: 3_600))
        }

        @Test func answerThatIsNotReadHasATime() throws {
            let test = try HTTPConnectionTests(responds: false)
            _ = test.send("GET / HTTP/1.1|Host: a||")
            let body = [UInt8](repeating: 1, count: 1 << 20)
            try #require(test.handler.requests.withLock { $0.first?.exchange })
                .respond(HTTPResponse(status: 200, headers: [], body: .bytes(body)))
            test.connection.advance()
            #expect(!test.isLate(after: 59) && test.isLate(after: 61))
            // A client that reads little by little has no more time.
            test.context.now += .seconds(50)
            test.connection.didSend(1_000)
            #expect(test.isLate(after: 11))
            test.connection.didSend(64 << 10)
            #expect(!test.isLate(after: 59))
            #expect(!test.sent().isEmpty && test.phase == "head")
        }
    }
#endif
