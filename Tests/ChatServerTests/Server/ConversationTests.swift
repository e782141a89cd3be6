#if Server
    import Foundation
    import Testing

    @testable import ChatServer

    /// A server over its socket, from the sign-up to a conversation.
    @Suite struct ConversationTests {
        private func openThread(_ client: HTTPClient) async throws -> String {
            let reply = try await client.send("POST", "/v1/commands", "{\"openThread\":{\"name\":\"Market\"}}")
            let event = (reply.json?["events"] as? [[String: Any]])?.first?["threadOpened"] as? [String: Any]
            return try #require(event?["thread"] as? String, "\(reply.status) \(reply.text)")
        }

        @Test func signUpToConversation() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let om = try await fixture.member("om")
            let me = try await maya.get("/v1/me")
            #expect((me.status, me.json?["username"] as? String) == (200, "maya"))
            for (name, value) in [
                ("content-type", "application/json"), ("cache-control", "no-store"),
                ("x-content-type-options", "nosniff"),
                ("referrer-policy", "no-referrer"),
            ] {
                #expect(me[name] == value)
            }
            let thread = try await openThread(maya)
            #expect(try await om.get("/v1/threads/\(thread)").status == 404)
            let live = try om.another()
            #expect(try await live.openStream().reply.status == 200)
            try await om.send("POST", "/v1/commands", "{\"joinThread\":{\"thread\":\"\(thread)\"}}")
            for index in 0..<5 { try await [maya, om][index % 2].post("message \(index)", in: thread) }
            let timeline = try await om.get("/v1/threads/\(thread)/timeline")
            #expect(timeline.items.map { $0["body"] as? String } == (0..<5).map { "message \($0)" })
            #expect(timeline["resume-token"] != nil)
            let events = try await om.get("/v1/threads/\(thread)/events?kinds=messagePosted&limit=2")
            #expect(
                events.items.map { ($0["messagePosted"] as? [String: Any])?["body"] as? String } == [
                    "message 0", "message 1",
                ])
            #expect(try await fixture.member("zoe").get("/v1/threads/\(thread)/events").status == 404)
            var bodies: [String] = []
            while bodies.count < 5 { if let body = try #require(try await live.block()).body { bodies.append(body) } }
            #expect(bodies == (0..<5).map { "message \($0)" })
            try await fixture.stop()
        }

        @Test func streamResumesAfterALostConnection() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let thread = try await openThread(maya)
            var stream = try maya.another()
            var id = try #require(try await stream.openStream("/v1/events?thread=\(thread)").opening.id)
            var seen: [String] = []
            for index in 0..<12 {
                try await maya.post("\(index)", in: thread)
                if index % 3 == 0 {
                    // Reconnects with what it has seen, sometimes nothing.
                    stream.socket.close(reset: index % 2 == 0)
                    stream = try maya.another()
                    _ = try await stream.openStream(
                        "/v1/events?thread=\(thread)&after=ignored", headers: ["Last-Event-ID: \(id)"])
                }
                while seen.count <= index {
                    let block = try #require(try await stream.block())
                    id = try #require(block.id)
                    if let body = block.body { seen.append(body) }
                }
            }
            #expect(seen == (0..<12).map { "\($0)" })
            let wrong = try await maya.another().openStream("/v1/events?after=ct1-nonsense").reply
            #expect(wrong.status == 400)
            try await fixture.stop()
        }

        /// Each way in which a session ends, ends its streams and no others.
        @Test func streamEndsWithItsSession() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let keeper = try await fixture.member("maya")
            let other = try await fixture.member("om")
            let otherStream = try other.another()
            _ = try await otherStream.openStream()
            let ways: [(String, (HTTPClient) async throws -> Reply)] = [
                ("sign-out", { try await $0.send("POST", "/v1/sign-out") }),
                (
                    "session",
                    { client in
                        let current = try await client.get("/v1/sessions").items.first {
                            $0["current"] as? Bool == true
                        }
                        return try await keeper.send(
                            "DELETE", "/v1/sessions/\(try #require(current?["id"] as? String))")
                    }
                ),
                (
                    "change-password",
                    { _ in
                        let password = ServerFixture.password
                        return try await keeper.send(
                            "POST", "/v1/change-password", "{\"old\":\"\(password)\",\"new\":\"\(password)\"}")
                    }
                ),
            ]
            let keeperStream = try keeper.another()
            _ = try await keeperStream.openStream()
            for (name, end) in ways {
                let client = try fixture.client()
                try await fixture.signIn("maya", client)
                let stream = try client.another()
                _ = try await stream.openStream()
                #expect(try await end(client).status == 204, "\(name)")
                // What the user sees now is not delivered any more.
                _ = try await openThread(keeper)
                #expect(try await stream.rest().map(\.event) == ["signed-out"], "\(name)")
                #expect(try await client.get("/v1/me").code == "notSignedIn", "\(name)")
            }
            let thread = try await openThread(keeper)
            var hasArrived = false
            while !hasArrived {
                hasArrived = try #require(try await keeperStream.block()).data?.contains(thread) == true
            }
            #expect(try await keeper.send("POST", "/v1/sign-out-everywhere").status == 204)
            #expect(try await keeperStream.rest().last?.event == "signed-out")
            // The other user's stream goes on.
            let own = try await openThread(other)
            #expect(try await otherStream.block()?.data?.contains(own) == true)
            try await other.send("POST", "/v1/forgot-password", "{\"email\":\"om@example.org\"}")
            let reset =
                "{\"email\":\"om@example.org\",\"code\":\"\(try fixture.code("om"))\",\"password\":\"another long password\"}"
            #expect(try await other.send("POST", "/v1/reset-password", reset).status == 204)
            #expect(try await otherStream.rest().last?.event == "signed-out")
            #expect(try await fixture.metric("chat_server_streams_ended_total{reason=\"signed-out\"}") == 5)
            // Their tasks are cancelled, which is no second end.
            #expect(try await fixture.metric("chat_server_streams_ended_total{reason=\"closing\"}") == nil)
            try await fixture.stop()
        }

        /// A stream that is opened while its session ends does not outlive it.
        @Test func streamOpenedDuringTheSignOutEnds() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            _ = try await fixture.member("maya")
            for _ in 0..<15 {
                let client = try fixture.client()
                try await fixture.signIn("maya", client)
                let stream = try client.another()
                async let signedOut = client.send("POST", "/v1/sign-out")
                let (reply, opening) = try await stream.openStream()
                #expect(try await signedOut.status == 204)
                if reply.status == 200 {
                    // The end is the first block if the session has ended before the stream began.
                    #expect(([opening] + (try await stream.rest())).compactMap(\.event) == ["signed-out"])
                } else {
                    #expect(reply.status == 401)
                }
            }
            try await fixture.stop()
        }

        @Test func sessionsAreListedAndEnded() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let om = try await fixture.member("om")
            let phone = try fixture.client()
            let body = String(fixture.signInBody("maya").dropLast()) + ",\"device\":\"phone\"}"
            phone.token = try await phone.send("POST", "/v1/sign-in", body).json?["token"] as? String
            let sessions = try await phone.get("/v1/sessions").items
            #expect(sessions.map { $0["current"] as? Bool } == [true, false])
            #expect(sessions[0]["device"] as? String == "phone")
            #expect(Set(sessions[0].keys) == ["id", "createdAt", "lastUsedAt", "device", "current"])
            let id = try #require(sessions[1]["id"] as? String)
            // A session of another user is one that does not exist.
            let foreign = try await om.send("DELETE", "/v1/sessions/\(id)")
            let unknown = try await om.send("DELETE", "/v1/sessions/00000000-0000-0000-0000-000000000000")
            #expect((foreign.status, foreign.text) == (404, unknown.text))
            #expect(try await om.send("DELETE", "/v1/sessions/nonsense").status == 404)
            #expect(try await maya.get("/v1/me").status == 200)
            #expect(try await phone.send("DELETE", "/v1/sessions/\(id)").status == 204)
            #expect(try await maya.get("/v1/me").code == "notSignedIn")
            try await fixture.stop()
        }

        @Test func cookieIsASession() async throws {
            let fixture = try ServerFixture()
            try await fixture.start { $0.origins = [WebOrigin("https://chat.example")].compactMap { $0 } }
            _ = try await fixture.member("maya")
            let client = try fixture.client()
            let plain = try await client.send("POST", "/v1/sign-in", fixture.signInBody("maya"))
            let cookie = try #require(plain["set-cookie"])
            #expect(
                cookie.hasPrefix("chat-session=")
                    && cookie.hasSuffix("; Path=/; Max-Age=2592000; HttpOnly; SameSite=Strict"))
            let pair = try #require(cookie.split(separator: ";").first)
            #expect(try await client.send("GET", "/v1/me", headers: ["Cookie: \(pair)"]).status == 200)
            let origin = "Origin: https://evil.example"
            #expect(
                try await client.send("POST", "/v1/sign-out", headers: ["Cookie: \(pair)", origin]).code
                    == "foreignOrigin")
            let secure = ["Host: chat.example", "Origin: https://chat.example"]
            let secured = try await client.another().send(
                "POST", "/v1/sign-in", fixture.signInBody("maya"), headers: secure)
            #expect(secured["set-cookie"]?.hasPrefix("__Host-chat-session=") == true)
            #expect(secured["set-cookie"]?.hasSuffix("; Secure") == true)
            #expect(
                try await client.another().send("GET", "/v1/me", headers: ["Host: chat.example", "Cookie: \(pair)"])
                    .code == "notSignedIn")
            let out = try await client.another().send("POST", "/v1/sign-out", headers: ["Cookie: \(pair)"])
            #expect((out.status, out["set-cookie"]?.contains("Max-Age=0")) == (204, true))
            #expect(
                try await client.another().send("GET", "/v1/me", headers: ["Cookie: \(pair)"]).code == "notSignedIn")
            try await fixture.stop()
        }
    }
#endif
