#if Server
    import Chat
    import ChatDomain
    import ChatServer
    import ChatWire
    import Testing

    extension CustomKind {
        static let vote: CustomKind = "org.example.vote"
    }

    /// The number of votes in each thread.
    struct Votes: Projection {
        static let name = "votes"
        private(set) var counts: [ThreadID: Int] = [:]

        mutating func apply(_ event: ChatEvent, at position: Position) {
            if event.customKind == .vote, let thread = event.thread { counts[thread, default: 0] += 1 }
        }
    }

    /// Routes and checks of the host program.
    @Suite struct ServerExtensionTests {
        private struct Failure: Error {}

        /// The extensions of the documentation.
        private func votes(of store: ChatStore) -> ServerExtensions {
            let votes = store.project(Votes.self)
            var extensions = ServerExtensions()
            extensions.routes = [
                HostRoute(.get, "/v1/threads/{thread}/votes") { request in
                    guard let thread = ThreadID(idOrOutwardCode: request.parameters["thread"]) else {
                        throw Problem.notFound
                    }
                    // A projection knows every thread. This throws unless the user may read it.
                    _ = try store.reader(as: .user(request.user)).thread(thread)
                    let count = try await votes.read { votes, _ in votes.counts[thread, default: 0] }
                    return try WireResponse(json: ["votes": count])
                }
            ]
            extensions.willExecute = { (commands, user) throws(Problem) in
                if commands.requests.contains(where: { $0.command.name == "openThread" }) {
                    throw Problem(
                        403, Problem.Code(rawValue: "threadsAreOpenedByTheCouncil"), "Ask the council for a thread.")
                }
                if commands.requests.contains(where: { $0.command.body?.contains("casino") == true }) {
                    throw Problem(403, Problem.Code(rawValue: "advertising"), "No advertising, please.")
                }
            }
            return extensions
        }

        private func openThread(_ fixture: ServerFixture, by client: HTTPClient) async throws -> ThreadID {
            let me = try #require(try await client.get("/v1/me").json?["id"] as? String)
            let thread = ThreadID(bits: 0x0190_a000_0000_7000_8000_0000_0000_00b1)
            try await fixture.store.execute(
                .openThread(id: thread, name: "Market", policy: .inviteOnly, by: try #require(UserID(me))))
            return thread
        }

        @Test func routeAnswersFromAProjection() async throws {
            let fixture = try ServerFixture()
            try await fixture.start(adding: votes(of: fixture.store))
            let (maya, om) = (try await fixture.member("maya"), try await fixture.member("om"))
            let thread = try await openThread(fixture, by: maya)
            let target = "/v1/threads/\(thread)/votes"
            for count in 0..<3 {
                let reply = try await maya.get(target)
                #expect((reply.status, reply.text) == (200, "{\"votes\":\(count)}"))
                #expect(reply["content-type"] == "application/json" && reply["cache-control"] == "no-store")
                let vote = "{\"custom\":{\"kind\":\"org.example.vote\",\"thread\":\"\(thread)\",\"payload\":1}}"
                #expect(try await maya.send("POST", "/v1/commands", vote).status == 200)
            }
            let advertisement = "{\"postMessage\":{\"thread\":\"\(thread)\",\"body\":\"My c\\u0061sino\"}}"
            #expect(try await maya.send("POST", "/v1/commands", advertisement).code == "advertising")
            #expect(try await om.get(target).status == 404)
            #expect(try await maya.send("HEAD", target).status == 200)
            #expect(try await fixture.client().get(target).code == "notSignedIn")
            let posted = try await maya.send("POST", target, "{}")
            #expect((posted.status, posted["allow"]) == (405, "GET, HEAD"))
            let foreign = try await maya.send("GET", target, headers: ["Origin: https://evil.example"])
            #expect(foreign.code == "foreignOrigin")
            try await fixture.stop()
        }

        @Test func hookRejectsCommands() async throws {
            let fixture = try ServerFixture()
            try await fixture.start(adding: votes(of: fixture.store))
            let maya = try await fixture.member("maya")
            let thread = try await openThread(fixture, by: maya)
            let head = fixture.store.head
            let open = "{\"openThread\":{\"name\":\"Fish\"}}"
            let post = "{\"postMessage\":{\"thread\":\"\(thread)\",\"body\":\"Plums\"}}"
            for body in [open, "[\(post),\(open)]"] {
                let reply = try await maya.send("POST", "/v1/commands", body)
                #expect((reply.status, reply.code) == (403, "threadsAreOpenedByTheCouncil"))
            }
            #expect(fixture.store.head == head)
            #expect(try await maya.send("POST", "/v1/commands", post).status == 200)
            try await fixture.stop()
        }

        @Test func errorsOfARouteAreProblems() async throws {
            let fixture = try ServerFixture()
            var extensions = ServerExtensions()
            extensions.routes = [
                HostRoute(.get, "/v1/failure") { _ in throw Failure() },
                HostRoute(.get, "/v1/rejection") { _ in throw ChatError.rejected(.unknownThread) },
                HostRoute(.put, "/v1/names/{name}") { request in
                    WireResponse(
                        status: 201, body: .bytes(Array(request.parameters["name"].utf8) + request.request.body))
                },
            ]
            try await fixture.start(adding: extensions)
            let maya = try await fixture.member("maya")
            let failure = try await maya.get("/v1/failure")
            #expect((failure.status, failure.code) == (500, "hostFailed"))
            #expect(fixture.log.lines.contains { $0.contains("\"route\":\"GET /v1/failure\",\"error\":\"Failure\"") })
            #expect(try await maya.get("/v1/rejection").status == 404)
            let named = try await maya.send("PUT", "/v1/names/a%20b", "{}")
            #expect((named.status, named.text) == (201, "a b{}"))
            let long = "\"\(String(repeating: "x", count: 16 << 10))\""
            #expect(try await maya.another().send("PUT", "/v1/names/a", long).code == "tooLarge")
            try await fixture.stop()
        }

        /// A request that changes something counts as a command.
        @Test func limitsApplyToRoutes() async throws {
            let fixture = try ServerFixture()
            var extensions = ServerExtensions()
            extensions.routes = [HostRoute(.post, "/v1/bell") { _ in WireResponse(status: 204) }]
            try await fixture.start(adding: extensions) { $0.userLimits[.commands] = 1 }
            let maya = try await fixture.member("maya")
            var last = try await maya.send("POST", "/v1/bell")
            #expect(last.status == 204)
            for _ in 0..<10_000 where last.status == 204 { last = try await maya.send("POST", "/v1/bell") }
            #expect(last.code == "tooManyRequests")
            try await fixture.stop()
        }

        @Test(arguments: [
            [("GET", "/v1/me")], [("GET", "/v1/threads/{any}")], [("GET", "/v1/threads/{thread}/{list}")],
            [("POST", "/v1/sign-up")],
            [("PUT", "/v1/socket")], [("GET", "/v1/a/{x}"), ("GET", "/v1/a/b")], [("GET", "/v1/a"), ("GET", "/v1/a")],
            [("GET", "/healthz")], [("GET", "/v1")], [("GET", "/v1/")], [("GET", "v1/a")], [("GET", "/v1/a/")],
            [("GET", "/v1//a")],
            [("GET", "/v1/{}")], [("GET", "/v1/{a")], [("GET", "/v1/a}")], [("GET", "/v1/{a}b")],
            [("GET", "/v1/{a}/{a}")],
        ])
        func invalidRouteIsAnError(routes: [(String, String)]) async throws {
            let fixture = try ServerFixture()
            var extensions = ServerExtensions()
            extensions.routes = try routes.map { method, path in
                HostRoute(try #require(HostRoute.Method(rawValue: method)), path) { _ in WireResponse(status: 204) }
            }
            let error = await #expect(throws: ServerError.self) { try await fixture.start(adding: extensions) }
            #expect(error?.code == .invalidRoute, "\(routes)")
        }

        @Test(arguments: ["chat", "/", "/v1/socket", "/v1/threads/{any}", "/a//b", "/healthz", "/app.js"])
        func invalidSocketPathIsAnError(path: String) async throws {
            let fixture = try ServerFixture()
            var extensions = ServerExtensions()
            extensions.sockets = [
                HostSocket(path) { _ in
                } receiver: {
                    { _ in }
                }
            ]
            let error = await #expect(throws: ServerError.self) { try await fixture.start(adding: extensions) }
            #expect(error?.code == .invalidRoute, "\(path)")
        }

        @Test func routesOfOnePathHaveDifferentMethods() async throws {
            let fixture = try ServerFixture()
            var extensions = ServerExtensions()
            extensions.routes = [HostRoute.Method.get, .put, .delete].map { method in
                HostRoute(method, "/v1/a/{x}") { _ in
                    WireResponse(status: 200, body: .bytes(Array(method.rawValue.utf8)))
                }
            }
            extensions.routes.append(HostRoute(.delete, "/v1/threads/{thread}") { _ in WireResponse(status: 204) })
            try await fixture.start(adding: extensions)
            let maya = try await fixture.member("maya")
            for method in ["GET", "PUT", "DELETE"] { #expect(try await maya.send(method, "/v1/a/7").text == method) }
            #expect(try await maya.send("POST", "/v1/a/7")["allow"] == "DELETE, GET, HEAD, PUT")
            #expect(try await maya.send("DELETE", "/v1/threads/x").status == 204)
            try await fixture.stop()
        }
    }
#endif
