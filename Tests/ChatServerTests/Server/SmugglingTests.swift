#if Server
    import Testing

    @testable import ChatServer

    /// Requests that one program reads as one and another as two, and answers at the edges of HTTP.
    @Suite struct SmugglingTests {
        private func head(_ client: HTTPClient, _ method: String, _ target: String, _ lines: [String]) -> String {
            let own = ["Host: 127.0.0.1:\(client.port)", "Authorization: Bearer \(client.token ?? "")"]
            return (["\(method) \(target) HTTP/1.1"] + own + lines).joined(separator: "\r\n") + "\r\n\r\n"
        }

        /// A hidden command in the place of a body is not carried out.
        @Test func hiddenRequestIsNotCarriedOut() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let hidden = maya.text("POST", "/v1/commands", "{\"setPostcode\":{\"postcode\":\"SW1A 1AA\"}}")
            let (count, json) = (hidden.utf8.count, "Content-Type: application/json")
            let chunk = "\(String(count, radix: 16))\r\n\(hidden)\r\n0\r\n\r\n"
            for lines in [
                ["Content-Length:\r\n \(count)"], ["Content-Length:\r\n\t\(count)"], ["Content-Length: 0\u{1F}"],
                ["Content-Length: 0\u{0}"],
                ["Content-Length: 0", "Content-Length: \(count)"], ["Content-Length : \(count)"],
                ["Content-Length: +0"],
                ["X: y\nContent-Length: \(count)"], ["X: y\rContent-Length: \(count)"],
            ] {
                for method in ["GET", "POST"] {
                    let client = try maya.another()
                    try await client.write(head(client, method, "/v1/me", lines + [json]) + hidden)
                    let text = try await client.everything()
                    #expect(
                        text.hasPrefix("HTTP/1.1 400") && !text.dropFirst(9).contains("HTTP/1.1"), "\(lines): \(text)")
                }
            }
            for lines in [
                ["Transfer-Encoding:\r\n chunked"], ["Transfer-Encoding: x\r\n chunked"],
                ["Transfer-Encoding: chunked", "Content-Length: 4"],
                ["Content-Length: 4", "Transfer-Encoding: chunked"],
                ["Transfer-Encoding: chunked", "Transfer-Encoding: x"],
                ["Transfer-Encoding : chunked"], ["Transfer-Encoding: \u{0B}chunked"],
                ["Transfer-Encoding: chunked\u{0}"],
            ] {
                let client = try maya.another()
                try await client.write(head(client, "POST", "/v1/commands", lines + [json]) + chunk)
                let text = try await client.everything()
                #expect(text.hasPrefix("HTTP/1.1 400") && !text.dropFirst(9).contains("HTTP/1.1"), "\(lines): \(text)")
            }
            #expect(try await maya.get("/v1/threads").items.isEmpty)
            // The same without a trick.
            try await maya.write(hidden)
            #expect(try await maya.reply().status == 200)
            #expect(try await maya.get("/v1/threads").items.count == 1)
            try await fixture.stop()
        }

        @Test func nulCutsNothing() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            for text in [
                "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:\(maya.port)\u{0}evil.example\r\n\r\n",
                maya.text("GET", "/v1/me", nil, ["Origin: http://127.0.0.1:\(maya.port)\u{0}evil.example"]),
                maya.text("GET", "/v1/me\u{0}x"),
            ] {
                let client = try maya.another()
                try await client.write(text)
                let reply = try await client.reply()
                #expect((reply.status, reply.code) == (400, "invalidRequest"))
                #expect(try await client.isEnded())
            }
            try await fixture.stop()
        }

        /// An error is one answer, in the form of all problems, before anything that follows it.
        @Test func errorIsOneProblem() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let long = String(repeating: "x", count: 100_000)
            let chunked = ["Content-Type: application/json", "Transfer-Encoding: chunked"]
            let maya = try await fixture.member("maya")
            for (text, status) in [
                ("GET\r\n\r\n", 400), ("GET / HTTP/3.0\r\n\r\n", 505), ("CONNECT x:1 HTTP/1.1\r\n\r\n", 501),
                ("GET /\(long)", 414),
                ("GET / HTTP/1.1\r\nX: \(long)", 431),
                (head(maya, "POST", "/v1/commands", chunked) + "2;\(long)\r\n{}\r\n0\r\n\r\n", 400),
                (head(maya, "POST", "/v1/commands", chunked) + "200000\r\n" + String(repeating: long, count: 11), 413),
            ] {
                let client = try maya.another()
                // The server may end the connection before it has read everything, but the answer
                // arrives.
                do { try await client.write(text + maya.text("GET", "/healthz")) } catch is RawSocket.Failure {}
                let reply = try await client.reply()
                #expect(
                    (reply.status, reply["content-type"], reply["connection"]) == (
                        status, "application/problem+json", "close"
                    ))
                #expect(reply["date"]?.hasSuffix(" GMT") == true && reply.code != nil)
                #expect(try await client.everything().isEmpty)
            }
            try await fixture.stop()
        }

        @Test func targetInAbsoluteFormNamesTheHost() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            #expect(try await maya.get("http://127.0.0.1:\(maya.port)/v1/me").status == 200)
            #expect(
                try await maya.send("GET", "http://127.0.0.1:\(maya.port)/v1/me", headers: ["Host: evil.example"])
                    .status == 200)
            #expect(try await maya.get("http://evil.example/v1/me").code == "misdirectedRequest")
            try await fixture.stop()
        }

        @Test func clientThatEndsItsSideGetsItsAnswers() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let client = try maya.another()
            try await client.write(
                client.text("GET", "/v1/me") + client.text("POST", "/v1/commands", "{\"openThread\":{\"name\":\"x\"}}"))
            client.socket.endWriting()
            for _ in 0..<2 { #expect(try await client.reply().status == 200) }
            #expect(try await client.isEnded())
            try await fixture.stop()
        }

        /// A body in many chunks, each of which arrives with others or in two parts.
        @Test func bodyInManyChunks() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let body = "{\"openThread\":{\"name\":\"x\"}}" + String(repeating: " ", count: (1 << 20) - 28)
            for size in [7, 1_000, 65_536, body.utf8.count] {
                var text = head(
                    maya, "POST", "/v1/commands", ["Content-Type: application/json", "Transfer-Encoding: chunked"])
                var rest = body[...]
                while !rest.isEmpty {
                    let part = rest.prefix(size)
                    text += "\(String(part.utf8.count, radix: 16))\r\n\(part)\r\n"
                    rest = rest.dropFirst(size)
                }
                try await maya.write(text + "0\r\n\r\n" + maya.text("GET", "/healthz"))
                #expect(try await maya.reply().status == 200)
                #expect(try await maya.reply().status == 200)
            }
            try await fixture.stop()
        }

        /// A long answer waits for a client that reads late; others are served meanwhile.
        @Test func unreadAnswerDelaysNoOther() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let opened = try await maya.send("POST", "/v1/commands", "{\"openThread\":{\"name\":\"Market\"}}")
            let event = (opened.json?["events"] as? [[String: Any]])?.first?["threadOpened"] as? [String: Any]
            let thread = try #require(event?["thread"] as? String)
            try await maya.post((0..<200).map { "\($0) " + String(repeating: "x", count: 16_000) }, in: thread)
            let late = try (0..<4).map { _ in try maya.another(receiveBuffer: 4_096) }
            for client in late {
                try await client.write(client.text("GET", "/v1/threads/\(thread)/timeline?limit=200"))
            }
            for _ in 0..<20 { #expect(try await maya.get("/v1/me").status == 200) }
            for client in late {
                // As much of the page as an answer has.
                let reply = try await client.reply()
                #expect(
                    reply.status == 200 && (20..<200).contains(reply.items.count)
                        && reply.json?["more"] as? Bool == true)
            }
            try await fixture.stop()
        }
    }
#endif
