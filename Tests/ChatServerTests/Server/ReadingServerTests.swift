#if Server
    import Chat
    import ChatWire
    import EventJournal
    import Foundation
    import TestSupport
    import Testing

    @testable import ChatAccounts
    @testable import ChatServer

    /// A server that reads what another one writes, and passes requests on to it.
    @Suite struct ReadingServerTests {
        /// A server that writes to a journal on disk, and one that reads it.
        private final class Pair: Sendable {
            let writer: ServerFixture
            let store: ChatStore
            let reader: ChatServer

            /// - Parameter extensions: Returns the extensions of the writer and of the reader.
            init(
                attempts: AttemptLimit? = nil, proxy: String? = nil,
                adding extensions: (String) -> ServerExtensions = { _ in ServerExtensions() }
            ) async throws {
                writer = try ServerFixture(TemporaryDirectory(), attempts: attempts)
                let proxies = [proxy].compactMap { $0.flatMap(ClientAddress.init(text:)) }
                try await writer.start(adding: extensions("writer")) { $0.trustedProxies = proxies }
                store = try ChatStore.openReadOnly(writer.directory.file("journal"))
                var options = ServerOptions(listen: try #require(ListenAddress("127.0.0.1:0")))
                options.log = writer.log.write
                options.trustedProxies = proxies
                let url = try writer.server.url
                reader = try await ChatServer(
                    readOnly: store, writer: try #require(WebOrigin(url)), options: options,
                    extensions: extensions("reader"))
            }

            /// A client of the reader, with the session of a client of the writer.
            func client(_ other: HTTPClient? = nil) throws -> HTTPClient {
                let port = try #require(URLComponents(string: reader.url)?.port.flatMap { UInt16(exactly: $0) })
                let client = try HTTPClient(port: port)
                client.token = other?.token
                return client
            }

            func stop() async throws {
                await reader.close()
                try store.close()
                try await writer.stop()
            }
        }

        private func openThread(_ client: HTTPClient) async throws -> String {
            let reply = try await client.send("POST", "/v1/commands", "{\"openThread\":{\"name\":\"Market\"}}")
            let event = (reply.json?["events"] as? [[String: Any]])?.first?["threadOpened"] as? [String: Any]
            return try #require(event?["thread"] as? String, "\(reply.status) \(reply.text)")
        }

        private func bodies(_ reply: Reply) -> [String?] { reply.items.map { $0["body"] as? String } }

        @Test func everythingWorksThroughTheReader() async throws {
            let pair = try await Pair()
            let maya = try pair.client()
            try await pair.writer.signUp("maya", maya)
            let code = try pair.writer.code("maya")
            let confirmed = try await maya.send(
                "POST", "/v1/confirm", "{\"email\":\"maya@example.org\",\"code\":\"\(code)\"}")
            #expect(confirmed.status == 200, "\(confirmed.text)")
            let signedIn = try await maya.send("POST", "/v1/sign-in", pair.writer.signInBody("maya"))
            #expect(signedIn["set-cookie"]?.hasPrefix("chat-session=") == true)
            maya.token = try #require(signedIn.json?["token"] as? String)
            // What a response confirms is there for the next request.
            #expect(try await maya.get("/v1/me").json?["username"] as? String == "maya")
            let thread = try await openThread(maya)
            for index in 0..<20 {
                try await maya.post("\(index)", in: thread)
                let timeline = try await maya.get("/v1/threads/\(thread)/timeline?limit=1")
                #expect(bodies(timeline) == ["\(index)"])
            }
            #expect(try await maya.get("/v1/sessions").items.count == 1)
            let rejected = try await maya.send("POST", "/v1/commands", "{\"registerUser\":{\"username\":\"om\"}}")
            #expect((rejected.status, rejected.code) == (403, "commandNotAllowed"))
            let unknown = try await maya.send("POST", "/v1/nothing", "{}")
            #expect((unknown.status, unknown.code) == (404, "notFound"))
            #expect(try await maya.send("DELETE", "/v1/threads/\(thread)")["allow"] == "GET, HEAD")
            #expect(try await maya.get("/healthz").status == 200)
            #expect(try await maya.get("/").status == 200)
            try await pair.stop()
        }

        /// The reader answers `GET` on a route of the host program, and passes the others on.
        @Test func hostRoutesThatChangeSomethingAreTheWriters() async throws {
            let pair = try await Pair { name in
                var extensions = ServerExtensions()
                extensions.routes = [HostRoute.Method.get, .post].map { method in
                    HostRoute(method, "/v1/name") { _ in try WireResponse(json: ["name": name]) }
                }
                extensions.willExecute = { (_, _) throws(Problem) in
                    throw Problem(403, Problem.Code(rawValue: name), "Not today.")
                }
                return extensions
            }
            let maya = try pair.client(try await pair.writer.member("maya"))
            #expect(try await maya.get("/v1/name").text == "{\"name\":\"reader\"}")
            #expect(try await maya.send("POST", "/v1/name").text == "{\"name\":\"writer\"}")
            #expect(
                try await maya.send("POST", "/v1/commands", "{\"openThread\":{\"name\":\"Market\"}}").code == "writer")
            try await pair.stop()
        }

        @Test func readerDeliversWhatTheWriterAccepts() async throws {
            let pair = try await Pair()
            let maya = try await pair.writer.member("maya")
            let thread = try await openThread(maya)
            let live = try pair.client(maya)
            #expect(try await live.openStream().reply.status == 200)
            for index in 0..<10 { try await maya.post("\(index)", in: thread) }
            var found: [String] = []
            while found.count < 10 { if let body = try #require(try await live.block()).body { found.append(body) } }
            #expect(found == (0..<10).map { "\($0)" })
            // Queries follow, too, though no one asks the reader to.
            let client = try pair.client(maya)
            try await pair.store.reach(pair.writer.store.head.position)
            #expect(bodies(try await client.get("/v1/threads/\(thread)/timeline?limit=1")) == ["9"])
            try await pair.stop()
        }

        @Test func sessionThatEndsEndsItsStreams() async throws {
            let pair = try await Pair()
            let maya = try await pair.writer.member("maya")
            let (first, second) = (try pair.client(maya), try pair.client(maya))
            #expect(try await first.openStream().reply.status == 200)
            #expect(try await second.send("POST", "/v1/sign-out").status == 204)
            #expect(try await first.rest().last?.event == "signed-out")
            #expect(try await second.get("/v1/me").status == 401)
            // One that is ended from another one, and that this reader has just seen.
            let (old, new) = (try pair.client(), try pair.client())
            for client in [old, new] { try await pair.writer.signIn("maya", client) }
            #expect(try await old.get("/v1/me").status == 200)
            let sessions = try await old.get("/v1/sessions").items
            let id = try #require(sessions.first { $0["current"] as? Bool == true }?["id"] as? String)
            #expect(try await new.send("DELETE", "/v1/sessions/\(id)").status == 204)
            #expect(try await old.get("/v1/me").status == 401)
            // Another session of the same user goes on.
            try await pair.writer.signIn("maya", maya)
            let (third, fourth) = (try pair.client(maya), try pair.client(maya))
            #expect(try await third.openStream().reply.status == 200)
            try await pair.writer.signIn("maya", fourth)
            #expect(try await fourth.openStream().reply.status == 200)
            #expect(try await pair.client(fourth).send("POST", "/v1/sign-out-everywhere").status == 204)
            #expect(try await third.rest().last?.event == "signed-out")
            #expect(try await fourth.rest().last?.event == "signed-out")
            try await pair.stop()
        }

        @Test func readsGoOnWithoutTheWriter() async throws {
            let pair = try await Pair()
            let maya = try await pair.writer.member("maya")
            let thread = try await openThread(maya)
            try await maya.post("before", in: thread)
            let client = try pair.client(maya)
            #expect(try await client.get("/v1/me").status == 200)
            let live = try pair.client(maya)
            #expect(try await live.openStream().reply.status == 200)
            try await pair.writer.server.close()
            #expect(bodies(try await client.get("/v1/threads/\(thread)/timeline?limit=1")) == ["before"])
            let late = try await client.send(
                "POST", "/v1/commands", "{\"postMessage\":{\"thread\":\"\(thread)\",\"body\":\"late\"}}")
            #expect((late.status, late.code, late["retry-after"]) == (503, "writerUnavailable", "1"))
            // A sign-out without an answer may have been carried out: the session is not believed
            // any more.
            #expect(try await client.send("POST", "/v1/sign-out").code == "writerUnavailable")
            #expect(try await client.get("/v1/me").code == "writerUnavailable")
            // What the writer has not confirmed is not believed.
            client.token = String(repeating: "A", count: 43)
            let stranger = try await client.get("/v1/me")
            #expect((stranger.status, stranger.code) == (503, "writerUnavailable"))
            for token in ["", "short", String(repeating: "A", count: 42) + "/", String(repeating: "A", count: 44)] {
                client.token = token
                #expect(try await client.get("/v1/me").status == 401)
            }
            try await pair.stop()
        }

        /// Nothing tells that the session has ended.
        @Test func sessionOfAWriterThatIsGoneIsUnknown() async throws {
            let writer = WriterClient(try #require(WebOrigin("http://127.0.0.1:1")), pages: [])
            #expect(await writer.validity(of: String(repeating: "A", count: 43)) == .unknown)
            #expect(await writer.validity(of: "no token") == .ended)
            writer.stop()
        }

        /// A writer that ends, or whose connection is cut, in the head of its answer does not end
        /// the reader.
        @Test(arguments: [
            "", "HTTP/1.1 200 OK\r\nContent-Type: application/json", "HTTP/1.1 200 OK\r\n", "nonsense\r\n\r\n",
        ])
        func cutAnswerOfAWriterIsNoAnswer(text: String) async throws {
            let hostile = try HostileServer(text)
            let writer = WriterClient(try #require(WebOrigin(hostile.url)), pages: [])
            #expect(await writer.validity(of: String(repeating: "A", count: 43)) == .unknown)
            await #expect(throws: Problem.writerUnavailable) {
                try await writer.send("POST", "/v1/commands", body: Array("{}".utf8), token: nil)
            }
            #expect(hostile.connectionCount == 2)
            writer.stop()
        }

        @Test func anotherOriginIsRejectedByTheReader() async throws {
            let pair = try await Pair()
            let maya = try await pair.writer.member("maya")
            for header in ["Origin: https://evil.example", "Host: evil.example", "Sec-Fetch-Site: cross-site"] {
                let reply = try await pair.client(maya).send("POST", "/v1/sign-out", headers: [header])
                #expect([403, 421].contains(reply.status))
            }
            #expect(try await pair.client(maya).get("/v1/me").status == 200)
            try await pair.stop()
        }

        @Test func limitsCountTheClientOfTheReader() async throws {
            let pair = try await Pair(
                attempts: AttemptLimit(burst: 2, intervalMilliseconds: 3_600_000), proxy: "127.0.0.1")
            let client = try pair.client()
            func signIn(from address: String) async throws -> Int {
                let body = pair.writer.signInBody("stranger", "a wrong password")
                return try await client.send("POST", "/v1/sign-in", body, headers: ["X-Forwarded-For: \(address)"])
                    .status
            }
            for _ in 0..<2 { #expect(try await signIn(from: "203.0.113.9") == 401) }
            #expect(try await signIn(from: "203.0.113.9") == 429)
            #expect(try await signIn(from: "2001:db8::1") == 401)
            #expect(try await signIn(from: "2001:db8::2") == 401)
            #expect(try await signIn(from: "2001:db8::3") == 429)
            try await pair.stop()
        }

        @Test func optionsAreChecked() async throws {
            let store = try ChatStore.inMemory()
            let options = ServerOptions(listen: try #require(ListenAddress("127.0.0.1:0")))
            let rejected: [(String, ServerError.Code)] = [
                ("http://203.0.113.9:8080", .insecureWriter), ("http://chat.example", .insecureWriter),
                ("https://chat.example", .notLoopback),
            ]
            for (url, code) in rejected {
                let origin = try #require(WebOrigin(url))
                let error = await #expect(throws: ServerError.self) {
                    try await ChatServer(readOnly: store, writer: origin, options: options)
                }
                #expect(error?.code == code, "\(url)")
            }
            try store.close()
        }

        /// The reader would show the history up to the move for ever.
        @Test func movedJournalStopsTheReader() async throws {
            let pair = try await Pair()
            let maya = try await pair.writer.member("maya")
            let client = try pair.client(maya)
            #expect(try await client.get("/healthz").status == 200)
            try await pair.writer.stop()
            let journal = try Journal.open(pair.writer.directory.file("journal"))
            try journal.fence(at: journal.lastPosition, destination: "elsewhere")
            try journal.close()
            while pair.reader.failure == nil { try await Task.sleep(for: .milliseconds(5)) }
            #expect(pair.reader.failure?.code == .moved)
            for target in ["/healthz", "/v1/me"] {
                let reply = try await client.get(target)
                #expect((reply.status, reply.code) == (503, "storage"), "\(target)")
            }
            await pair.reader.close()
            try pair.store.close()
        }

        #if os(Linux)
            @Test func socketsSendCommandsToTheWriter() async throws {
                let pair = try await Pair()
                let maya = try await pair.writer.member("maya")
                let thread = try await openThread(maya)
                let (socket, _) = try await SocketClient.open(try pair.client(maya))
                #expect(try await socket.ask("{\"id\":1,\"follow\":{\"thread\":\"\(thread)\"}}")["following"] != nil)
                try await socket.say(
                    "{\"id\":2,\"commands\":{\"postMessage\":{\"thread\":\"\(thread)\",\"body\":\"one\"}}}")
                var (answer, event): ([String: Any]?, [String: Any]?)
                while answer == nil || event == nil {
                    let message = try await socket.json()
                    if message["event"] != nil { event = message } else { answer = message }
                }
                #expect((answer?["answer"] as? [String: Any])?["positions"] != nil)
                #expect(
                    ((event?["event"] as? [String: Any])?["messagePosted"] as? [String: Any])?["body"] as? String
                        == "one")
                let batch =
                    "[{\"leaveThread\":{\"thread\":\"\(thread)\"}},{\"leaveThread\":{\"thread\":\"\(thread)\"}}]"
                try await socket.say("{\"id\":3,\"commands\":\(batch)}")
                var answers: [[String: Any]]?
                while answers == nil { answers = try await socket.json()["answers"] as? [[String: Any]] }
                #expect(answers?.count == 2 && answers?.contains { $0["rejection"] != nil } == true)
                let wrong = try await socket.ask("{\"id\":4,\"commands\":{\"postMessage\":{}}}")
                #expect((wrong["problem"] as? [String: Any])?["code"] as? String == "missingField")
                try await pair.writer.server.close()
                let late = try await socket.ask("{\"id\":5,\"commands\":{\"openThread\":{\"name\":\"Late\"}}}")
                #expect((late["problem"] as? [String: Any])?["code"] as? String == "writerUnavailable")
                try await pair.stop()
            }
        #endif
    }

    extension ChatStore {
        /// Waits until the store shows a position, without refreshing it.
        fileprivate func reach(_ position: UInt64) async throws {
            while head.position < position { try await Task.sleep(for: .milliseconds(1)) }
        }
    }
#endif
