#if Server
    import ChatWire
    import Foundation
    import Testing

    @testable import ChatServer

    /// HTTP as a server must speak it, with well-behaved and hostile clients.
    @Suite struct TransportTests {
        @Test func connectionIsKept() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            for _ in 0..<20 { #expect(try await maya.get("/v1/me").status == 200) }
            #expect(
                try await maya.send("GET", "/healthz", headers: ["Connection: close"]).text == "{\"status\":\"ok\"}")
            #expect(try await maya.isEnded())
            try await fixture.stop()
        }

        /// Responses come in the order of the requests, though the first ones take longer.
        @Test func pipelinedRequestsAreAnsweredInOrder() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let targets = ["/v1/me", "/healthz", "/v1/threads", "/nowhere", "/v1/invitations", "/v1/me"]
            try await maya.write(
                maya.text("POST", "/v1/sign-in", fixture.signInBody("maya"))
                    + targets.map { maya.text("GET", $0) }.joined()
                    + maya.text("POST", "/v1/commands", "{\"openThread\":{\"name\":\"x\"}}")
                    + maya.text("HEAD", "/v1/me"))
            #expect(try await maya.reply().json?["token"] != nil)
            var replies: [Reply] = []
            for _ in targets { replies.append(try await maya.reply()) }
            #expect(replies.map(\.status) == [200, 200, 200, 404, 200, 200])
            #expect(replies[1].text == "{\"status\":\"ok\"}")
            #expect(replies[0].text == replies[5].text)
            #expect(try await maya.reply().json?["positions"] != nil)
            #expect(try await maya.reply(toHead: true).status == 200)
            try await fixture.stop()
        }

        /// Responds within the call.
        private struct ImmediateHandler: HTTPHandler {
            func check(_ head: HTTPHead) -> HTTPResponse? { nil }
            func bodyLimit(of head: HTTPHead) -> Int { 100 }
            func admit(_ head: HTTPHead, _ exchange: HTTPExchange) { exchange.admit(.shared) }
            func response(to error: HTTPError) -> HTTPResponse {
                HTTPResponse(status: error.status, headers: [], body: .bytes([]))
            }

            func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
                exchange.respond(HTTPResponse(status: 200, headers: [], body: .bytes(request.body)))
            }
        }

        @Test func responseMayComeAtOnce() async throws {
            let (socket, address) = try ListeningSocket.reserve(try #require(ListenAddress("127.0.0.1:0")))
            try ListeningSocket.startListening(socket, at: address)
            let started = ConnectionLoop(
                socket: socket, maximumConnectionCount: 1_024, isExempt: { _ in true }, handler: ImmediateHandler())
            let loop = try #require(started)
            defer { loop.stop() }
            let client = try HTTPClient(port: address.port)
            // On one thread: a connection without a request ends after a minute.
            let bodies = ["", "a", "bb"]
            let replies = try await Threads.run { try bodies.map { try client.ask("POST", "/", $0) } }
            for (reply, body) in zip(replies, bodies) { #expect((reply.status, reply.text) == (200, body)) }
        }

        /// Responds at once, but to `/wait` on the thread of the connections when it may go on.
        private struct WaitingHandler: HTTPHandler {
            let hasBegun = DispatchSemaphore(value: 0)
            let mayGoOn = DispatchSemaphore(value: 0)

            func check(_ head: HTTPHead) -> HTTPResponse? { nil }
            func bodyLimit(of head: HTTPHead) -> Int { 100 }
            func admit(_ head: HTTPHead, _ exchange: HTTPExchange) { exchange.admit(.shared) }
            func response(to error: HTTPError) -> HTTPResponse {
                HTTPResponse(status: error.status, headers: [], body: .bytes([]))
            }

            func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
                if request.head.target == "/wait" {
                    hasBegun.signal()
                    mayGoOn.wait()
                }
                exchange.respond(HTTPResponse(status: 200, headers: [], body: .bytes([])))
            }
        }

        /// A poll reports 256 connections: of others a request can have come too when newcomers need
        /// their places.
        @Test func aConnectionWithARequestKeepsItsPlace() async throws {
            _ = ListeningSocket.raiseDescriptorLimit()
            let (count, handler) = (300, WaitingHandler())
            let (socket, address) = try ListeningSocket.reserve(try #require(ListenAddress("127.0.0.1:0")))
            try ListeningSocket.startListening(socket, at: address)
            let started = ConnectionLoop(
                socket: socket, maximumConnectionCount: count, isExempt: { _ in true }, handler: handler)
            let loop = try #require(started)
            defer {
                handler.mayGoOn.signal()
                loop.stop()
            }
            // On one thread: while there are as many connections as may be, they end after 5 s.
            let (clients, newcomers) = try await Threads.run {
                let clients = try (0..<count).map { _ in try HTTPClient(port: address.port) }
                for _ in 0..<1_000 where loop.counts.connections < count { Thread.sleep(forTimeInterval: 0.005) }
                try #require(loop.counts.connections == count)
                // All have been idle for long enough.
                Thread.sleep(forTimeInterval: 0.02)
                try clients[0].socket.write(Array(clients[0].text("GET", "/wait").utf8))
                handler.hasBegun.wait()
                let newcomers = try (0..<8).map { _ in try HTTPClient(port: address.port) }
                for client in clients.dropFirst() { try client.socket.write(Array(client.text("GET", "/").utf8)) }
                handler.mayGoOn.signal()
                return (clients, newcomers)
            }
            for client in clients { #expect(try await client.reply().status == 200) }
            withExtendedLifetime(newcomers) {}
        }

        @Test func headHasNoBody() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            for target in ["/v1/me", "/v1/threads", "/healthz", "/v1/openapi.json", "/nowhere", "/v1/sessions"] {
                let (get, head) = (try await maya.get(target), try await maya.send("HEAD", target))
                #expect(
                    (head.status, head["content-type"], head["content-length"]) == (
                        get.status, get["content-type"], get["content-length"]
                    ))
            }
            // The connection is at a request's beginning each time.
            let events = try await maya.send("HEAD", "/v1/events")
            #expect((events.status, events["content-type"]) == (200, "text/event-stream"))
            #expect(events["content-length"] == nil)
            #expect(try await maya.get("/v1/me").status == 200)
            try await fixture.stop()
        }

        @Test func otherMethodsAreNotAllowed() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            for (method, target, allow) in [
                ("DELETE", "/v1/me", "GET, HEAD"), ("GET", "/v1/commands", "POST"), ("GET", "/v1/sign-in", "POST"),
                ("POST", "/v1/sessions", "GET, HEAD"), ("GET", "/v1/sessions/x", "DELETE"),
                ("POST", "/healthz", "GET, HEAD"),
                ("PUT", "/v1/openapi.json", "GET, HEAD"), ("OPTIONS", "/v1/threads", "GET, HEAD"),
                ("get", "/v1/me", "GET, HEAD"),
            ] {
                let reply = try await maya.send(method, target)
                #expect(
                    (reply.status, reply.code, reply["allow"]) == (405, "methodNotAllowed", allow),
                    "\(method) \(target)")
            }
            try await fixture.stop()
        }

        @Test func pathsNeedASessionIfTheyExist() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let client = try fixture.client()
            for target in ["/v1/me", "/v1/threads", "/v1/events", "/v1/sessions"] {
                let reply = try await client.get(target)
                #expect((reply.status, reply.code, reply["www-authenticate"]) == (401, "notSignedIn", "Bearer"))
            }
            for target in ["/v1/nothing", "/v1", "/../etc/passwd", "/v1/%00", "//", "/v1/me%2F"] {
                #expect(try await client.get(target).status == 404, "\(target)")
            }
            for token in ["x", "", String(repeating: "A", count: 43), String(repeating: "A", count: 5_000)] {
                client.token = token
                #expect(try await client.get("/v1/me").status == 401)
            }
            try await fixture.stop()
        }

        @Test func bodiesAreLimited() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let small = String(repeating: " ", count: 16 << 10)
            #expect(try await maya.send("POST", "/v1/sign-in", small).code == "notJSON")
            // Rejected before the body is sent.
            try await maya.write(
                "POST /v1/sign-in HTTP/1.1\r\nHost: 127.0.0.1:\(maya.port)\r\nContent-Type: application/json\r\nContent-Length: 16385\r\n\r\n"
            )
            let early = try await maya.reply()
            #expect((early.status, early.code) == (413, "tooLarge"))
            let batch = "[" + String(repeating: " ", count: (1 << 20) - 2) + "]"
            let second = try maya.another()
            #expect(try await second.send("POST", "/v1/commands", batch).code == "invalidValue")
            try await fixture.stop()
        }

        private func chunked(_ client: HTTPClient, _ target: String, _ chunks: [String]) -> String {
            "POST \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(client.port)\r\nAuthorization: Bearer \(client.token ?? "")\r\n"
                + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                + chunks.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"
        }

        @Test func chunkedBodiesAreReadAndLimited() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            try await maya.write(chunked(maya, "/v1/commands", ["{\"openThread\"", ":{\"name\":\"", "Mar", "ket\"}}"]))
            #expect(try await maya.reply().json?["positions"] != nil)
            try await maya.write(
                chunked(maya, "/v1/sign-in", [String](repeating: String(repeating: " ", count: 4_096), count: 4)))
            #expect(try await maya.reply().code == "notJSON")
            try await maya.write(
                chunked(maya, "/v1/sign-in", [String](repeating: String(repeating: " ", count: 4_097), count: 4)))
            let large = try await maya.reply()
            #expect((large.status, large.code) == (413, "tooLarge"))
            let second = try maya.another()
            try await second.write(
                chunked(second, "/v1/commands", [String](repeating: String(repeating: " ", count: 65_536), count: 17)))
            #expect(try await second.reply().code == "tooLarge")
            try await fixture.stop()
        }

        @Test func contradictingHeadersAreProblems() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let json = "Content-Type: application/json"
            for headers in [
                ["Content-Length: 2", "Transfer-Encoding: chunked", json], ["Transfer-Encoding: gzip", json],
                ["Content-Length: -1", json],
                ["Transfer-Encoding: gzip, chunked", json],
                ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked", json],
                ["Content-Length: 2", "Content-Length: 2", json], ["Content-Length: 2", "Content-Length: 3", json],
                ["Content-Length: 2, 2", json], ["Content-Length: +2", json],
            ] {
                let client = try maya.another()
                // What follows is no request of this connection any more.
                try await client.write(
                    client.text("POST", "/v1/commands", nil, headers) + "{}" + client.text("GET", "/healthz"))
                let text = try await client.everything()
                // A coding that the server does not have, before chunked, is not wrong.
                let status = headers[0].hasSuffix("gzip, chunked") ? 501 : 400
                #expect(text.hasPrefix("HTTP/1.1 \(status)") && !text.contains("HTTP/1.1 200"), "\(headers): \(text)")
            }
            let type = try await maya.another().send(
                "POST", "/v1/sign-in", headers: ["Content-Length: 2", "Content-Type: text/plain"])
            #expect((type.status, type.code) == (415, "unsupportedMediaType"))
            let noHost = try maya.another()
            try await noHost.write("GET /healthz HTTP/1.1\r\n\r\n")
            #expect(try await noHost.reply().status == 400)
            let host = try await maya.another().send("GET", "/v1/me", headers: ["Host: evil.example"])
            #expect((host.status, host.code) == (421, "misdirectedRequest"))
            let origin = try await maya.another().send("GET", "/v1/me", headers: ["Origin: https://evil.example"])
            #expect((origin.status, origin.code) == (403, "foreignOrigin"))
            let site = try await maya.another().send("POST", "/v1/sign-out", headers: ["Sec-Fetch-Site: cross-site"])
            #expect(site.code == "foreignOrigin")
            try await fixture.stop()
        }

        @Test func expectedContinueIsSent() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let body = "{\"openThread\":{\"name\":\"x\"}}"
            let headers = [
                "Content-Type: application/json", "Content-Length: \(body.utf8.count)", "Expect: 100-continue",
            ]
            try await maya.write(maya.text("POST", "/v1/commands", nil, headers))
            #expect(try await maya.reply().status == 100)
            try await maya.write(body)
            #expect(try await maya.reply().json?["positions"] != nil)
            let other = try maya.another()
            try await other.write(other.text("POST", "/v1/commands", nil, headers + ["Origin: https://evil.example"]))
            #expect(try await other.reply().status == 403)
            try await fixture.stop()
        }

        /// Text that is no HTTP ends its connection, and no other.
        @Test(arguments: [
            "\r\n\r\n\r\n\r\nx\r\n\r\n", "GET\r\n\r\n", "GET /\r\n\r\n", "GET / HTTP/9.9\r\n\r\n",
            "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n",
            "GET / HTTP/1.1\r\nHost\r\n\r\n", "GET / HTTP/1.1\r\n: x\r\n\r\n",
            "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
            "GET http://evil.example/v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
            "GET /\u{0} HTTP/1.1\r\nHost: x\u{0}y\r\n\r\n",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        ]) func textThatIsNoRequestIsRejected(text: String) async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let client = try fixture.client()
            try await client.write(text)
            let reply = try await client.reply()
            #expect((400..<506).contains(reply.status) && reply.code != nil)
            #expect(try await fixture.client().get("/healthz").status == 200)
            try await fixture.stop()
        }

        @Test func hugeHeadersAreRejected() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            for text in [
                "GET /" + String(repeating: "a", count: 40_000) + " HTTP/1.1\r\n\r\n",
                "GET /?" + String(repeating: "a&", count: 20_000) + " HTTP/1.1\r\n\r\n",
                "GET / HTTP/1.1\r\n"
                    + String(repeating: "X-Header: \(String(repeating: "a", count: 100))\r\n", count: 400) + "\r\n",
            ] {
                let client = try fixture.client()
                // The server may end the connection before it has read everything.
                do {
                    try await client.write(text)
                    #expect([413, 414, 431].contains(try await client.reply().status))
                } catch is RawSocket.Failure {} catch is HTTPClient.Ended {}
            }
            #expect(try await fixture.client().get("/healthz").status == 200)
            try await fixture.stop()
        }

        @Test func descriptionIsTheOneThatTheToolPrints() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let client = try fixture.client()
            let reply = try await client.get("/v1/openapi.json")
            #expect((reply.status, Array(reply.body) == ChatServer.openAPIDocument) == (200, true))
            let tag = try #require(reply["etag"])
            let cached = try await client.send("GET", "/v1/openapi.json", headers: ["If-None-Match: \"x\", \(tag)"])
            #expect((cached.status, cached["etag"]) == (304, tag))
            #expect(try await client.send("GET", "/v1/openapi.json", headers: ["If-None-Match: \"x\""]).status == 200)
            try await fixture.stop()
        }

        @Test func filesAreCompressedForClientsThatTakeIt() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let client = try fixture.client()
            let whole = try await client.get("/v1/openapi.json")
            #expect(whole["content-encoding"] == nil && whole["vary"] == "Accept-Encoding")
            let reply = try await client.send("GET", "/v1/openapi.json", headers: ["Accept-Encoding: br, gzip"])
            #expect(reply["content-encoding"] == "gzip" && reply.body.count * 4 < whole.body.count)
            // The members of RFC 1952: magic number, method, and the number of bytes at the end.
            #expect(reply.body.prefix(3) == [0x1F, 0x8B, 8])
            let count = reply.body.suffix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
            #expect(count == whole.body.count)
            // Both have a validator of their own, and only that.
            let (tag, wholeTag) = (try #require(reply["etag"]), try #require(whole["etag"]))
            #expect(tag != wholeTag)
            let cached = try await client.send(
                "GET", "/v1/openapi.json", headers: ["Accept-Encoding: gzip", "If-None-Match: \(tag)"])
            #expect((cached.status, cached["etag"]) == (304, tag))
            #expect(try await client.send("GET", "/v1/openapi.json", headers: ["If-None-Match: \(tag)"]).status == 200)
            try await fixture.stop()
        }

        @Test(arguments: [
            ("gzip", true), ("GZIP", true), ("br;q=1, gzip;q=0.2", true), ("*", true), ("deflate, *;q=0.1", true),
            ("gzip; q=1", true),
            ("", false), ("br", false), ("gzip;q=0", false), ("gzip;q=0.000", false), ("*;q=0", false),
            ("gzip;q=0, *", false),
            ("gzipped", false), ("gzip;q=x", false), ("identity", false),
        ])
        func gzipIsTakenAsItIsAccepted(value: String, isAccepted: Bool) {
            func head(_ values: [String]) -> HTTPHead {
                HTTPHead(
                    method: "GET", version: "HTTP/1.1", target: "/", headers: values.map { ("accept-encoding", $0) },
                    framing: .none,
                    peer: nil)
            }
            #expect(head([value]).acceptsGzip == isAccepted && !head([]).acceptsGzip)
            #expect(head(["br", value]).acceptsGzip == isAccepted)
        }

        /// The routes of accounts and the server itself are exactly those of the description that
        /// are not the chat's.
        @Test func everyRouteIsDescribed() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let document = try await fixture.client().get("/v1/openapi.json").json
            let paths = try #require(document?["paths"] as? [String: [String: Any]])
            let described = Set(
                paths.flatMap { path, item in
                    item.keys.filter { $0 != "parameters" }.map { "\($0.uppercased()) \(path)" }
                })
            let accounts = Set(AccountRoutes.routes.map(\.name))
            #expect(accounts.count == AccountRoutes.routes.count)
            #expect(accounts.isSubset(of: described))
            let others = described.subtracting(accounts).subtracting(ChatRoutes.routes.map(\.name))
            #expect(others == ["GET /healthz", "GET /v1/openapi.json", "GET /v1/socket", "POST /v1/me/export"])
            try await fixture.stop()
        }

        @Test func metricsHaveTheirOwnAddress() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            _ = try await maya.get("/v1/me?token=secret")
            #expect(try await maya.get("/metrics").status == 404)
            let client = try fixture.metricsClient()
            let reply = try await client.get("/metrics")
            #expect(reply.status == 200)
            #expect(reply["content-type"]?.hasPrefix("application/openmetrics-text") == true)
            #expect(reply.text.hasSuffix("# EOF\n"))
            #expect(reply.text.contains("chat_server_requests_total{route=\"POST /v1/sign-in\",status=\"200\"} 1"))
            for secret in ["secret", "maya", "example.org", try #require(maya.token)] {
                #expect(!reply.text.contains(secret))
            }
            #expect(try await client.another().send("POST", "/metrics").status == 405)
            // A page whose name resolves to this machine must not read them.
            #expect(try await client.another().send("GET", "/metrics", headers: ["Host: evil.example"]).status == 421)
            #expect(
                try await client.another().send("GET", "/metrics", headers: ["Origin: https://evil.example"]).status
                    == 403)
            #expect(try await client.another().get("/v1/me").status == 404)
            try await fixture.stop()
        }
    }
#endif
