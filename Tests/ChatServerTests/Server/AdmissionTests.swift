#if Server
    import Testing

    @testable import ChatServer

    /// Who may send a body, and how much, before it is read.
    @Suite struct AdmissionTests {
        private static let size = HeadCheck.commandBodyLimit

        /// Sends the head of a request whose body is `size` bytes, and all of the body but one
        /// byte.
        private func withhold(_ client: HTTPClient, _ target: String, size: Int) async throws {
            let text = client.text("POST", target, nil, ["Content-Type: application/json", "Content-Length: \(size)"])
            try await client.write(text)
            try await client.write(String(repeating: " ", count: size - 1))
        }

        /// Without a session, a command is 401 from its head: the body is not read.
        @Test func bodyWithoutSessionIsNotRead() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            for token in [nil, "no-session"] {
                for framing in ["Content-Length: \(Self.size)", "Transfer-Encoding: chunked"] {
                    let client = try maya.another()
                    client.token = token
                    try await client.write(
                        client.text("POST", "/v1/commands", nil, ["Content-Type: application/json", framing]))
                    let text = try await client.everything()
                    #expect(text.hasPrefix("HTTP/1.1 401") && text.contains("Connection: close"), "\(text)")
                }
            }
            for (method, target, status) in [("POST", "/nowhere", 404), ("DELETE", "/v1/commands", 405)] {
                let client = try maya.another()
                try await client.write(
                    client.text(method, target, nil, ["Content-Type: application/json", "Content-Length: 1000"]))
                let text = try await client.everything()
                #expect(text.hasPrefix("HTTP/1.1 \(status)"), "\(text)")
            }
            try await fixture.stop()
        }

        /// Clients that withhold the last byte of a body keep no one else from posting.
        @Test func withheldBodiesAreOfTheirSender() async throws {
            let fixture = try ServerFixture()
            try await fixture.start { $0.clientBudget.userMaximum = (16 << 20) + (64 << 10) }
            let (maya, mallory) = (try await fixture.member("maya"), try await fixture.member("mallory"))
            var open: [HTTPClient] = []
            // Sixteen bodies are the user's share.
            for _ in 0..<16 << 20 / Self.size {
                let client = try mallory.another()
                try await withhold(client, "/v1/commands", size: Self.size)
                open.append(client)
            }
            let beyond = try mallory.another()
            try await withhold(beyond, "/v1/commands", size: Self.size)
            #expect(try await beyond.reply().status == 503)
            let body = "{\"openThread\":{\"name\":\"Weeds\"}}" + String(repeating: " ", count: 200_000)
            #expect(try await maya.send("POST", "/v1/commands", body).status == 200)
            // The share is free again when the connections end.
            for client in open { client.socket.close() }
            var reply = Reply()
            for _ in 0..<100 where reply.status != 200 {
                let client = try mallory.another()
                let json = "{\"openThread\":{\"name\":\"Weeds\"}}"
                reply = try await client.send(
                    "POST", "/v1/commands", json + String(repeating: " ", count: Self.size - json.utf8.count))
            }
            #expect(reply.status == 200)
            try await fixture.stop()
        }
    }
#endif
