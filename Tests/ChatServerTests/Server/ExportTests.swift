#if Server
    import Chat
    import ChatDomain
    import Foundation
    import TestSupport
    import Testing

    @testable import ChatAccounts
    @testable import ChatServer

    /// The export of what the server has of a user.
    @Suite struct ExportTests {
        private static let body = "{\"password\":\"\(ServerFixture.password)\"}"

        /// The names of the lines, and the whole text.
        private func export(_ client: HTTPClient) async throws -> (lines: [String], text: String) {
            let reply = try await client.send("POST", "/v1/me/export", Self.body)
            #expect((reply.status, reply["content-type"]) == (200, "application/octet-stream"))
            return (reply.text.split(separator: "\n").map(String.init), reply.text)
        }

        private func thread(_ client: HTTPClient) async throws -> String {
            let reply = try await client.send("POST", "/v1/commands", "{\"openThread\":{\"name\":\"Garden\"}}")
            let event = (reply.json?["events"] as? [[String: Any]])?.first?["threadOpened"] as? [String: Any]
            return try #require(event?["thread"] as? String)
        }

        @Test func erasedContentIsAbsent() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let thread = try await thread(maya)
            for body in ["what stays", "what goes"] {
                _ = try await maya.send(
                    "POST", "/v1/commands", "{\"postMessage\":{\"thread\":\"\(thread)\",\"body\":\"\(body)\"}}")
            }
            #expect(try await export(maya).text.contains("what goes"))
            let position = fixture.store.head.position
            try fixture.store.eraseContent(of: PositionSet([position...position]), reason: "a-test")
            // What the host does to a user is nothing that the user caused.
            let user = try #require(try fixture.store.userID(named: "maya"))
            try fixture.store.executeBlocking(.grantOperator(user: user), correlation: "of the host")
            let (lines, text) = try await export(maya)
            #expect(text.contains("what stays") && !text.contains("what goes"))
            #expect(!text.contains("operatorGranted") && !text.contains("of the host") && !text.contains("\"erased\""))
            #expect(lines[0].hasPrefix("{\"account\":") && lines[1].hasPrefix("{\"profile\":"))
            #expect(lines.last?.hasPrefix("{\"complete\":") == true)
            try await fixture.stop()
        }

        /// A client that does not read holds back the export; the end of its session ends it
        /// without the last line.
        @Test func endsWithItsSession() async throws {
            let fixture = try ServerFixture()
            try await fixture.start()
            let maya = try await fixture.member("maya")
            let thread = try await thread(maya)
            let long = String(repeating: "x", count: 16_000)
            for _ in 0..<400 {
                _ = try await maya.send(
                    "POST", "/v1/commands", "{\"postMessage\":{\"thread\":\"\(thread)\",\"body\":\"\(long)\"}}")
            }
            let slow = try maya.another(receiveBuffer: 4_096)
            try await slow.write(slow.text("POST", "/v1/me/export", Self.body))
            try await fixture.wait(until: "chat_server_streams", is: 1)
            #expect(try await maya.send("POST", "/v1/sign-out").status == 204)
            let reply = try await slow.reply()
            #expect(reply.status == 200 && reply.body.count < 400 * 16_000 && !reply.text.contains("{\"complete\":"))
            try await fixture.stop()
        }

        @Test func countsAsAStream() async throws {
            let fixture = try ServerFixture()
            try await fixture.start { $0.userLimits[.streams] = 1 }
            let maya = try await fixture.member("maya")
            let live = try maya.another()
            _ = try await live.openStream()
            let refused = try await maya.send("POST", "/v1/me/export", Self.body)
            #expect((refused.status, refused.code) == (429, "tooManyRequests"))
            try await fixture.stop()
        }
    }
#endif
