#if Server
    import Testing

    @testable import ChatServer

    /// What one user may do at most.
    @Suite struct LimitTests {
        private func command(_ kind: String, _ fields: String) -> String { "{\"\(kind)\":{\(fields)}}" }

        @Test func commandsBeyondTheLimitAreRefused() async throws {
            let fixture = try ServerFixture()
            try await fixture.start { $0.userLimits[.commands] = 1 }
            let (maya, noah) = (try await fixture.member("maya"), try await fixture.member("noah"))
            let open = "[" + (0..<50).map { command("openThread", "\"name\":\"Weeds \($0)\"") }.joined(separator: ",") + "]"
            #expect(try await maya.send("POST", "/v1/commands", open).status == 200)
            let refused = try await maya.send("POST", "/v1/commands", open)
            #expect((refused.status, refused.json?["code"] as? String) == (429, "tooManyRequests"), "\(refused.text)")
            #expect(Int(refused["retry-after"] ?? "") ?? 0 > 0)
            // Nothing of it was carried out, queries go on, and another user has a limit of their own.
            #expect(try await maya.get("/v1/threads?limit=200").text.matches(of: /"Weeds/).count == 50)
            #expect(try await noah.send("POST", "/v1/commands", open).status == 200)
            let (socket, _) = try await SocketClient.open(maya)
            let answer = try await socket.ask("{\"id\":1,\"commands\":\(command("openThread", "\"name\":\"Seeds\""))}")
            #expect((answer["problem"] as? [String: Any])?["code"] as? String == "tooManyRequests", "\(answer)")
            let metrics = try await fixture.metricsClient().get("/metrics").text
            #expect(metrics.contains("chat_server_limited_total{limit=\"commands\"} 2"), "\(metrics)")
            try await fixture.stop()
        }

        @Test func streamsBeyondTheLimitAreRefused() async throws {
            let fixture = try ServerFixture()
            try await fixture.start { $0.userLimits[.streams] = 2 }
            let (maya, noah) = (try await fixture.member("maya"), try await fixture.member("noah"))
            let first = try maya.another()
            _ = try await first.openStream()
            let (socket, _) = try await SocketClient.open(maya)
            #expect(try await maya.another().get("/v1/events").status == 429)
            #expect(try await noah.another().openStream().reply.status == 200)
            socket.connection.socket.close()
            first.socket.close()
            // The server notices the end soon.
            var status = 429
            for _ in 0..<1_000 where status == 429 {
                status = try await maya.another().openStream().reply.status
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(status == 200)
            try await fixture.stop()
        }
    }
#endif
