#if Server && os(Linux)
    import Chat
    import ChatAccounts
    import Foundation
    import Testing

    @testable import ChatServer

    /// The loop of the WebSockets, over connections of this machine.
    @Suite struct SocketTests {
        private static let hour = Duration.seconds(3_600)

        /// Starts a server whose sockets have no limit of time: nothing that happens is made up for
        /// by a ping.
        private func fixture(
            userMemory: Int = ClientBudget().userMaximum, _ change: (inout SocketLimits) -> Void = { _ in }
        ) async throws -> ServerFixture {
            let fixture = try ServerFixture()
            try await fixture.start { options in
                (options.socketLimits.pingInterval, options.socketLimits.silence, options.socketLimits.closing) = (
                    Self.hour, Self.hour, Self.hour
                )
                change(&options.socketLimits)
                options.clientBudget.userMaximum = userMemory
            }
            return fixture
        }

        /// Opens a thread and returns its id.
        private func thread(_ owner: HTTPClient) async throws -> String {
            let reply = try await owner.send("POST", "/v1/commands", "{\"openThread\":{\"name\":\"Market\"}}")
            let events = try #require(reply.json?["events"] as? [[String: Any]])
            return try #require((events.first?["threadOpened"] as? [String: Any])?["thread"] as? String)
        }

        private func post(_ body: String, in thread: String) -> String {
            "{\"postMessage\":{\"thread\":\"\(thread)\",\"body\":\"\(body)\"}}"
        }

        /// The body and the token of an event of a follow.
        private func event(_ message: [String: Any]) -> (body: String?, token: String?) {
            let event = message["event"] as? [String: Any]
            return ((event?["messagePosted"] as? [String: Any])?["body"] as? String, message["token"] as? String)
        }

        private func id(_ message: [String: Any]) -> Int? { (message["id"] as? NSNumber)?.intValue }

        private func code(_ message: [String: Any]) -> String? {
            (message["problem"] as? [String: Any])?["code"] as? String
        }

        // MARK: The handshake

        @Test func handshakeIsThatOfTheStandard() async throws {
            let fixture = try await fixture()
            let maya = try await fixture.member("maya")
            let plain = try await SocketClient(maya)
            #expect(plain.response.status == 101)
            #expect(
                plain.response["upgrade"]?.lowercased() == "websocket"
                    && plain.response["connection"]?.lowercased() == "upgrade")
            #expect(plain.response["sec-websocket-accept"] == SocketClient.accept)
            #expect(plain.response["sec-websocket-protocol"] == nil)
            let hello = try #require(try await plain.json()["hello"] as? [String: Any])
            #expect(
                hello["version"] as? Int == 1 && (hello["user"] as? [String: Any])?["username"] as? String == "maya")
            let named = try await SocketClient(maya, headers: ["Sec-WebSocket-Protocol: other, chat-journal.v1"])
            #expect((named.response.status, named.response["sec-websocket-protocol"]) == (101, "chat-journal.v1"))
            for socket in [plain, named] { socket.connection.socket.close() }
            try await fixture.stop()
        }

        /// No poll reports the messages that came with the handshake.
        @Test func messagesWithTheHandshakeAreAnswered() async throws {
            let fixture = try await fixture()
            let maya = try await fixture.member("maya")
            for _ in 0..<10 {
                let frames = (1...3).flatMap { SocketClient.frame(.text, Array("{\"id\":\($0),\"unfollow\":9}".utf8)) }
                let socket = try await SocketClient(maya, early: frames)
                #expect(try await socket.json()["hello"] != nil)
                for number in 1...3 { #expect(id(try await socket.json()) == number) }
                socket.connection.socket.close()
            }
            try await fixture.stop()
        }

        @Test func otherRequestsAreRejected() async throws {
            let fixture = try await fixture()
            let maya = try await fixture.member("maya")
            let handshake = SocketClient.handshake
            let old = handshake.map { $0.replacing("Version: 13", with: "Version: 8") }
            for (method, target, headers, status, code) in [
                ("GET", "/v1/socket", [], 426, "upgradeRequired"),
                ("POST", "/v1/socket", handshake, 426, "upgradeRequired"),
                ("GET", "/v1/socket", old, 426, "upgradeRequired"),
                ("GET", "/v1/socket?x=1", handshake, 400, "invalidQuery"),
                ("GET", "/v1/socket?token=x", handshake, 400, "invalidQuery"),
                ("GET", "/v1/socket/", handshake, 404, "notFound"),
                ("GET", "/v1/socket", handshake + ["Origin: https://evil.example"], 403, "foreignOrigin"),
            ] {
                let reply = try await maya.another().send(method, target, headers: headers)
                #expect((reply.status, reply.code) == (status, code), "\(method) \(target) \(headers)")
                if status == 426 { #expect(reply["sec-websocket-version"] == "13" && reply["connection"] == "Upgrade") }
            }
            let stranger = try await fixture.client().send("GET", "/v1/socket", headers: handshake)
            #expect((stranger.status, stranger.code) == (401, "notSignedIn"))
            try await fixture.stop()
        }

        // MARK: Messages

        @Test func commandsAreAnsweredInOrder() async throws {
            let fixture = try await fixture()
            let maya = try await fixture.member("maya")
            let thread = try await thread(maya)
            let (socket, _) = try await SocketClient.open(maya)
            // More than waits for a session, in one write.
            let frames = (0..<200).flatMap { number in
                SocketClient.frame(
                    .text, Array("{\"id\":\(number),\"commands\":\(post("number \(number)", in: thread))}".utf8))
            }
            async let written: Void = socket.send(frames)
            var positions: [Int] = []
            for number in 0..<200 {
                let message = try await socket.json()
                let answer = try #require(message["answer"] as? [String: Any], "\(message)")
                #expect(id(message) == number)
                positions += (answer["positions"] as? [NSNumber])?.suffix(1).map(\.intValue) ?? []
            }
            try await written
            #expect(positions.count == 200 && positions == positions.sorted())
            let batch = try await socket.ask(
                "{\"id\":1,\"commands\":[\(post("a", in: thread)),\(post("b", in: thread))]}")
            #expect((batch["answers"] as? [Any])?.count == 2)
            #expect(code(try await socket.ask("{\"id\":2,\"commands\":{\"grantOperator\":{}}}")) != nil)
            #expect(code(try await socket.ask("no JSON")) == "notJSON")
            let bodies = try await maya.get("/v1/threads/\(thread)/timeline?limit=200").items.compactMap {
                $0["body"] as? String
            }
            #expect(bodies == (2..<200).map { "number \($0)" } + ["a", "b"])
            socket.connection.socket.close()
            try await fixture.stop()
        }

        /// Without a ping, an answer whose wake-up is lost never comes.
        @Test func everyAnswerToAFloodComes() async throws {
            let fixture = try await fixture()
            let maya = try await fixture.member("maya")
            let (socket, _) = try await SocketClient.open(maya, receiveBuffer: 4_096)
            let padding = String(repeating: " ", count: 2_000)
            let frames = (0..<2_000).flatMap {
                SocketClient.frame(.text, Array("{\"id\":\($0),\"unfollow\":1}\(padding)".utf8))
            }
            async let written: Void = socket.send(frames)
            for number in 0..<2_000 {
                let answer = try await socket.json()
                #expect((id(answer), code(answer)) == (number, "notFound"))
            }
            try await written
            socket.connection.socket.close()
            try await fixture.stop()
        }

        @Test func eventsArriveInOrder() async throws {
            let fixture = try await fixture()
            let (maya, om) = (try await fixture.member("maya"), try await fixture.member("om"))
            let thread = try await thread(maya)
            #expect(
                try await om.send("POST", "/v1/commands", "{\"joinThread\":{\"thread\":\"\(thread)\"}}").status == 200)
            let (socket, _) = try await SocketClient.open(om)
            #expect(try await socket.ask("{\"id\":5,\"follow\":{\"thread\":\"\(thread)\"}}")["following"] != nil)
            let bodies = (0..<300).map { "number \($0)" }
            try await maya.post(bodies, in: thread)
            var found: [(body: String?, token: String?)] = []
            for _ in bodies {
                let message = try await socket.json()
                #expect((message["follow"] as? NSNumber)?.intValue == 5)
                found.append(event(message))
            }
            #expect(found.map(\.body) == bodies)
            // The first message after the end of a follow is its answer.
            #expect((try await socket.ask("{\"id\":6,\"unfollow\":5}")["unfollowed"] as? NSNumber)?.intValue == 5)
            try await maya.post("later", in: thread)
            #expect(code(try await socket.ask("{\"id\":7,\"unfollow\":5}")) == "notFound")
            let (again, _) = try await SocketClient.open(om)
            let token = try #require(found[149].token)
            #expect(
                try await again.ask("{\"id\":1,\"follow\":{\"after\":\"\(token)\",\"thread\":\"\(thread)\"}}")[
                    "following"] != nil)
            for body in bodies[150...] + ["later"] { #expect(event(try await again.json()).body == body) }
            for client in [socket, again] { client.connection.socket.close() }
            try await fixture.stop()
        }

        // MARK: Frames

        @Test func fragmentsAndControlFramesAreJoined() async throws {
            let fixture = try await fixture()
            let maya = try await fixture.member("maya")
            let (socket, _) = try await SocketClient.open(maya)
            let parts = ["{\"id\":7,", "\"unfollow\"", ":1}"].map { Array($0.utf8) }
            try await socket.send(.text, parts[0], isLast: false)
            try await socket.send(.ping, [1, 2, 3])
            try await socket.send(.continuation, parts[1], isLast: false)
            try await socket.send(.continuation, parts[2])
            #expect(try await socket.next() == .pong([1, 2, 3]))
            #expect(id(try await socket.json()) == 7)
            try await socket.send(.close, [0x0F, 0xA0])
            #expect(try await socket.next() == .close(4_000))
            #expect(try await socket.next() == .end)
            try await fixture.stop()
        }

        @Test func wrongFramesEndTheirSocket() async throws {
            let fixture = try await fixture { $0.messageByteCount = 100 }
            let maya = try await fixture.member("maya")
            let (other, _) = try await SocketClient.open(maya)
            let large = [UInt8](repeating: 0x20, count: 101)
            for (frames, code) in [
                ([SocketClient.frame(.text, [0x20], isMasked: false)], 1002),
                ([SocketClient.frame(.continuation, [])], 1002),
                ([SocketClient.frame(.text, [0xFF])], 1007), ([SocketClient.frame(.text, large)], 1009),
                (
                    [
                        SocketClient.frame(.text, Array(large.prefix(100)), isLast: false),
                        SocketClient.frame(.continuation, [0x20]),
                    ], 1009
                ),
            ] {
                let (socket, _) = try await SocketClient.open(maya)
                for frame in frames { try await socket.send(frame) }
                #expect(try await socket.next() == .close(code))
                #expect(try await socket.next() == .end)
            }
            #expect(id(try await other.ask("{\"id\":1,\"unfollow\":1}")) == 1)
            other.connection.socket.close()
            try await fixture.wait(until: "chat_server_socket_message_bytes", is: 0)
            try await fixture.stop()
        }

        /// Clients that keep parts of messages are ended, the first one first, and all others are
        /// answered.
        @Test func messagesOfAllSocketsAreLimited() async throws {
            let fixture = try await fixture(userMemory: 1_100_000)
            let maya = try await fixture.member("maya")
            let message = Array("{\"id\":7,\"unfollow\":1}".utf8) + [UInt8](repeating: 0x20, count: 400_000)
            let part = message.count - 1
            var sockets: [SocketClient] = []
            for number in 0..<6 {
                let (socket, _) = try await SocketClient.open(maya)
                sockets.append(socket)
                try await socket.send(.text, Array(message.dropLast()), isLast: false)
                // Two parts fit, the third one ends the first.
                if number >= 2 {
                    #expect(try await sockets[number - 2].next() == .close(1013))
                    #expect(try await sockets[number - 2].next() == .end)
                }
                try await fixture.wait(until: "chat_server_socket_message_bytes", is: min(number + 1, 2) * part)
                let (small, _) = try await SocketClient.open(maya)
                #expect(id(try await small.ask("{\"id\":1,\"unfollow\":1}")) == 1)
                small.connection.socket.close()
            }
            for socket in sockets.suffix(2) {
                try await socket.send(.continuation, Array(message.suffix(1)))
                #expect(id(try await socket.json()) == 7)
            }
            try await fixture.wait(until: "chat_server_socket_message_bytes", is: 0)
            // A part counts until its socket ends.
            let (last, _) = try await SocketClient.open(maya)
            try await last.send(.text, Array(message.dropLast()), isLast: false)
            try await fixture.wait(until: "chat_server_socket_message_bytes", is: part)
            last.connection.socket.close(reset: true)
            try await fixture.wait(until: "chat_server_socket_message_bytes", is: 0)
            for socket in sockets { socket.connection.socket.close() }
            try await fixture.stop()
        }

        // MARK: Ends

        @Test func endOfTheSessionClosesItsSockets() async throws {
            let fixture = try await fixture()
            let maya = try await fixture.member("maya")
            let second = try maya.another()
            try await fixture.signIn("maya", second)
            let om = try await fixture.member("om")
            var ended: [SocketClient] = []
            for _ in 0..<3 { ended.append(try await SocketClient.open(maya).socket) }
            let others = [try await SocketClient.open(second).socket, try await SocketClient.open(om).socket]
            #expect(try await maya.send("POST", "/v1/sign-out").status == 204)
            for socket in ended { try await socket.expectEnd("signed-out") }
            for socket in others { #expect(id(try await socket.ask("{\"id\":1,\"unfollow\":1}")) == 1) }
            #expect(try await second.send("POST", "/v1/sign-out-everywhere").status == 204)
            try await others[0].expectEnd("signed-out")
            #expect(id(try await others[1].ask("{\"id\":2,\"unfollow\":1}")) == 2)
            others[1].connection.socket.close()
            try await fixture.stop()
        }

        @Test func clientThatDoesNotAnswerTheCloseIsDropped() async throws {
            let fixture = try await fixture { $0.closing = .milliseconds(100) }
            let maya = try await fixture.member("maya")
            let (socket, _) = try await SocketClient.open(maya)
            try await socket.send(.text, [0x20], isLast: false)
            try await fixture.wait(until: "chat_server_socket_message_bytes", is: 1)
            #expect(try await maya.send("POST", "/v1/sign-out").status == 204)
            #expect(try await socket.next() == .text("{\"end\":\"signed-out\"}"))
            #expect(try await socket.next() == .close(1001))
            #expect(try await socket.next() == .end)
            // The part of its message does not count any more.
            try await fixture.wait(until: "chat_server_socket_message_bytes", is: 0)
            try await fixture.stop()
        }

        /// A client that does not read is told to resume, and nothing is missing when it does.
        @Test func slowReaderIsToldToResume() async throws {
            let fixture = try await fixture()
            let maya = try await fixture.member("maya")
            let thread = try await thread(maya)
            let (socket, start) = try await SocketClient.open(maya, receiveBuffer: 4_096)
            #expect(try await socket.ask("{\"id\":1,\"follow\":{\"thread\":\"\(thread)\"}}")["following"] != nil)
            // Five times what the system, the library and the mailbox hold.
            let padding = String(repeating: "x", count: 2_000)
            let bodies = (0..<1_000).map { "\($0) \(padding)" }
            try await maya.post(bodies, in: thread)
            let server = try fixture.server
            try await fixture.wait(until: "chat_server_streams_ended_total{reason=\"lagged\"}", is: 1) {
                // As if the client had not read for longer than it may.
                server.core.streams.checkStreams(at: .now + Self.hour)
            }
            var (found, token): ([String], String) = ([], start)
            reading: while true {
                let incoming = try await socket.next()
                switch incoming {
                case .text("{\"end\":\"lagged\"}"): break reading
                case .text(let text):
                    let message = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
                    let event = event(try #require(message))
                    found.append(try #require(event.body))
                    token = try #require(event.token)
                default:
                    Issue.record("\(incoming) after \(found.count) events")
                    break reading
                }
            }
            #expect(try await socket.next() == .close(1001))
            #expect(found.count < bodies.count && found == Array(bodies.prefix(found.count)))
            let (again, _) = try await SocketClient.open(maya)
            #expect(
                try await again.ask("{\"id\":1,\"follow\":{\"after\":\"\(token)\",\"thread\":\"\(thread)\"}}")[
                    "following"] != nil)
            for body in bodies[found.count...] { #expect(event(try await again.json()).body == body) }
            for client in [socket, again] { client.connection.socket.close() }
            try await fixture.stop()
        }

        /// Every socket is told, also one that does not answer the close.
        @Test func closingServerEndsEverySocket() async throws {
            let fixture = try await fixture { $0.closing = .milliseconds(100) }
            let maya = try await fixture.member("maya")
            var sockets: [SocketClient] = []
            for _ in 0..<20 { sockets.append(try await SocketClient.open(maya).socket) }
            let deaf = try await SocketClient.open(maya).socket
            let half = try await SocketClient.open(maya).socket
            try await half.send([0x81, 0xFE])
            try await fixture.server.close()
            for socket in sockets { try await socket.expectEnd("closing") }
            for socket in [deaf, half] {
                #expect(try await socket.next() == .text("{\"end\":\"closing\"}"))
                #expect(try await socket.next() == .close(1001))
                #expect(try await socket.next() == .end)
            }
            try fixture.accounts.close()
            try fixture.store.close()
        }
    }
#endif
