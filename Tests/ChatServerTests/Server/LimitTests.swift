#if Server
    import Foundation
    import Testing

    @testable import ChatServer

    /// What one user may do at most.
    @Suite struct LimitTests {
        private func command(_ kind: String, _ fields: String) -> String { "{\"\(kind)\":{\(fields)}}" }

        @Test func commandsBeyondTheLimitAreRefused() async throws {
            let fixture = try ServerFixture()
            try await fixture.start { $0.userLimits[.commands] = 25 }
            let (maya, noah) = (try await fixture.member("maya"), try await fixture.member("noah"))
            let open =
                "[" + (0..<50).map { command("openThread", "\"name\":\"Weeds \($0)\"") }.joined(separator: ",") + "]"
            // On a slow machine the allowance may be full again before the next request.
            var (refused, acceptedCount) = (try await maya.send("POST", "/v1/commands", open), 0)
            while refused.status == 200, acceptedCount < 20 {
                acceptedCount += 1
                refused = try await maya.send("POST", "/v1/commands", open)
            }
            #expect(acceptedCount > 0)
            #expect((refused.status, refused.json?["code"] as? String) == (429, "tooManyRequests"), "\(refused.text)")
            let wait = try #require(refused["retry-after"].flatMap { Int($0) })
            #expect(wait > 0 && refused.json?["retryAfter"] as? Int == wait)
            // Nothing of it was carried out, queries go on, and another user has a limit of their
            // own.
            #expect(
                try await maya.get("/v1/threads?limit=200").text.matches(of: /"Weeds/).count
                    == min(50 * acceptedCount, 200))
            #expect(try await noah.send("POST", "/v1/commands", open).status == 200)
            let (socket, _) = try await SocketClient.open(maya)
            var answer = try await socket.ask("{\"id\":1,\"commands\":\(open)}")
            for _ in 0..<20 where answer["problem"] == nil {
                answer = try await socket.ask("{\"id\":1,\"commands\":\(open)}")
            }
            let problem = try #require(answer["problem"] as? [String: Any])
            // A message has no header.
            #expect(
                problem["code"] as? String == "tooManyRequests" && problem["retryAfter"] as? Int ?? 0 > 0, "\(answer)")
            let metrics = try await fixture.metricsClient().get("/metrics").text
            #expect(metrics.contains("chat_server_limited_total{limit=\"commands\"} 2"), "\(metrics)")
            try await fixture.stop()
        }

        /// A person is told of each sanction, so that its limit is lower than that of commands.
        @Test func sanctionsBeyondTheLimitAreRefused() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let (maya, noah) = (try await fixture.member("maya"), try await fixture.member("noah"))
            let opened = try await maya.send("POST", "/v1/commands", command("openThread", "\"name\":\"Weeds\""))
            let id = try #require(opened.text.firstMatch(of: /"thread":"([^"]+)"/)).output.1
            let thread = "\"thread\":\"\(id)\""
            #expect(try await noah.send("POST", "/v1/commands", command("joinThread", thread)).status == 200)
            let user = try #require(try await noah.get("/v1/me").json?["id"] as? String)
            let fields = thread + ",\"user\":\"\(user)\""
            // 40 are saved at most; a mute and its end in each batch.
            let sanctions = [command("mute", fields + ",\"reason\":\"loud\""), command("unmute", fields)]
            func batch(_ count: Int) -> String {
                "[" + (0..<count).map { sanctions[$0 % 2] }.joined(separator: ",") + "]"
            }
            let tooMany = try await maya.send("POST", "/v1/commands", batch(42))
            #expect((tooMany.status, tooMany.code) == (413, "tooLarge"), "\(tooMany.text)")
            // On a slow machine the allowance may be full again before the next request.
            var (refused, acceptedCount) = (try await maya.send("POST", "/v1/commands", batch(40)), 0)
            while refused.status == 200, acceptedCount < 20 {
                acceptedCount += 1
                refused = try await maya.send("POST", "/v1/commands", batch(40))
            }
            #expect(acceptedCount > 0)
            #expect((refused.status, refused.code) == (429, "tooManyRequests"), "\(refused.text)")
            #expect(refused["retry-after"].flatMap { Int($0) } ?? 0 > 0)
            // Bans and removals count as well. Nothing of what is refused was carried out.
            for (name, more) in [
                ("ban", ",\"reason\":\"loud\""), ("unban", ""), ("removeMember", ",\"reason\":\"loud\""),
            ] {
                let commands =
                    "[" + Array(repeating: command(name, fields + more), count: 41).joined(separator: ",") + "]"
                #expect(try await maya.send("POST", "/v1/commands", commands).status == 413, "\(name)")
            }
            #expect(try await noah.get("/v1/me/threads").text.contains("Weeds"))
            // Other commands go on.
            let post = command("postMessage", thread + ",\"body\":\"seed\"")
            #expect(try await maya.send("POST", "/v1/commands", post).status == 200)
            let metrics = try await fixture.metricsClient().get("/metrics").text
            #expect(metrics.contains("chat_server_limited_total{limit=\"sanctions\"} 5"), "\(metrics)")
            try await fixture.stop()
        }

        /// Who does not read answers gets no more of them, and no command is executed without an
        /// answer.
        @Test func unreadAnswersAreBounded() async throws {
            let fixture = try ServerFixture()
            try await fixture.start { $0.clientBudget.userMaximum = 16 << 20 }
            let (maya, noah) = (try await fixture.member("maya"), try await fixture.member("noah"))
            let opened = try await maya.send("POST", "/v1/commands", command("openThread", "\"name\":\"Weeds\""))
            let thread = try #require(opened.text.firstMatch(of: /"thread":"([^"]+)"/)).output.1
            try await maya.post((0..<200).map { "\($0) " + String(repeating: "weed ", count: 600) }, in: String(thread))
            let list = "/v1/threads/\(thread)/timeline?limit=200"
            let listByteCount = try await maya.get(list).text.utf8.count
            #expect(listByteCount > 400_000)
            // The system holds some of each answer.
            let unread = try (0..<2 * (16 << 20) / listByteCount).map { _ in
                try maya.another(receiveBuffer: 4_096)
            }
            for client in unread { try await client.write(client.text("GET", list)) }
            let post = command("postMessage", "\"thread\":\"\(thread)\",\"body\":\"seed\"")
            var refused = try await maya.get("/v1/me")
            for _ in 0..<1_000 where refused.status == 200 {
                try await Task.sleep(for: .milliseconds(5))
                refused = try await maya.get("/v1/me")
            }
            #expect((refused.status, refused.json?["code"] as? String) == (503, "busy"), "\(refused.text)")
            // Of a long request, the answer can be long.
            let long = post + String(repeating: " ", count: 200_000)
            #expect(try await maya.send("POST", "/v1/commands", long).status == 503)
            #expect(try await noah.get("/v1/me").status == 200)
            for client in unread { client.socket.close() }
            var status = 503
            for _ in 0..<1_000 where status == 503 {
                status = try await maya.get("/v1/me").status
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(status == 200)
            #expect(try await maya.get(list).text.contains("seed") == false)
            #expect(try await maya.send("POST", "/v1/commands", post).status == 200)
            try await fixture.stop()
        }

        /// A file that the client does not read is held as an answer is.
        @Test func unreadFilesAreHeld() async throws {
            let fixture = try ServerFixture()
            let memory = try await fixture.start().core.memory
            let maya = try await fixture.member("maya")
            let byteCount = try await maya.get("/settings.js").text.utf8.count
            #expect(byteCount > 8 << 10 && byteCount < 16 << 10)
            let unread = try maya.another(receiveBuffer: 4_096)
            // Without a session: the requests are short.
            unread.token = nil
            // More than the system holds for a client.
            try await unread.write(String(repeating: unread.text("GET", "/settings.js"), count: 40))
            for _ in 0..<1_000 where memory.byteCount < (4 << 10) + byteCount {
                try await Task.sleep(for: .milliseconds(5))
            }
            #expect(memory.byteCount >= (4 << 10) + byteCount)
            unread.socket.close()
            for _ in 0..<1_000 where memory.byteCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
            #expect(memory.byteCount == 0)
            try await fixture.stop()
        }

        #if os(Linux)
            /// Who does not read the answers of sockets gets problems instead of more of them; each
            /// message is answered, in order, and nothing is executed without an answer.
            @Test func unreadAnswersOfSocketsAreBounded() async throws {
                let fixture = try ServerFixture()
                try await fixture.start { $0.clientBudget.userMaximum = 3 << 20 }
                let memory = try fixture.server.core.memory
                let (maya, noah) = (try await fixture.member("maya"), try await fixture.member("noah"))
                let opened = try await maya.send("POST", "/v1/commands", command("openThread", "\"name\":\"Weeds\""))
                let thread = try #require(opened.text.firstMatch(of: /"thread":"([^"]+)"/)).output.1
                let text = String(repeating: "weed ", count: 2_000)
                let posts = Array(
                    repeating: command("postMessage", "\"thread\":\"\(thread)\",\"body\":\"\(text)\""), count: 12
                ).joined(separator: ",")
                var sockets: [SocketClient] = []
                for _ in 0..<6 { sockets.append(try await SocketClient.open(maya, receiveBuffer: 4_096).socket) }
                let count = 8
                for socket in sockets {
                    Task {
                        for id in 0..<count { try? await socket.say("{\"id\":\(id),\"commands\":[\(posts)]}") }
                    }
                }
                // One of them reads after all.
                let reader = sockets[0]
                let reading = Task {
                    for id in 0..<count {
                        let answer = try await reader.json()
                        #expect((answer["id"] as? NSNumber)?.intValue == id)
                        let code = (answer["problem"] as? [String: Any])?["code"] as? String
                        #expect(code == "busy" || (answer["answers"] as? [Any])?.count == 12)
                    }
                }
                var highest = 0
                for _ in 0..<200 {
                    highest = max(highest, memory.byteCount)
                    try await Task.sleep(for: .milliseconds(5))
                }
                // Chunks of messages are counted after they have come.
                #expect(highest > 1 << 20 && highest < 4 << 20, "\(highest)")
                #expect(try await noah.get("/v1/me").status == 200)
                try await reading.value
                for socket in sockets { socket.connection.socket.close() }
                for _ in 0..<2_000 where memory.byteCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
                #expect(memory.byteCount == 0)
                #expect(try await maya.get("/v1/me").status == 200)
                try await fixture.stop()
            }

            @Test func followsBeyondTheLimitAreRefused() async throws {
                let fixture = try ServerFixture()
                try await fixture.start { $0.userLimits[.follows] = 3 }
                let memory = try fixture.server.core.memory
                let (maya, noah) = (try await fixture.member("maya"), try await fixture.member("noah"))
                let (first, _) = try await SocketClient.open(maya)
                let (second, _) = try await SocketClient.open(maya)
                for id in 0..<2 { #expect(try await first.ask("{\"id\":\(id),\"follow\":{}}")["following"] != nil) }
                #expect(try await second.ask("{\"id\":1,\"follow\":{}}")["following"] != nil)
                let refused = try await second.ask("{\"id\":2,\"follow\":{}}")
                #expect((refused["problem"] as? [String: Any])?["code"] as? String == "tooManyRequests", "\(refused)")
                let (other, _) = try await SocketClient.open(noah)
                #expect(try await other.ask("{\"id\":1,\"follow\":{}}")["following"] != nil)
                #expect(memory.byteCount >= 3 * ServerMemory.socket + 4 * ServerMemory.follow)
                #expect(try await first.ask("{\"id\":7,\"unfollow\":1}")["unfollowed"] != nil)
                #expect(try await second.ask("{\"id\":2,\"follow\":{}}")["following"] != nil)
                for socket in [first, second, other] { socket.connection.socket.close() }
                for _ in 0..<2_000 where memory.byteCount > 0 { try await Task.sleep(for: .milliseconds(5)) }
                #expect(memory.byteCount == 0)
                try await fixture.stop()
            }
        #endif

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
