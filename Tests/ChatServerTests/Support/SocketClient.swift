#if Server && os(Linux)
    import Foundation
    import Testing

    /// A WebSocket (RFC 6455), as little of it as the tests need; can send frames that are wrong.
    final class SocketClient: Sendable {
        enum Opcode: UInt8 { case continuation = 0, text, binary, close = 8, ping, pong }

        /// What comes from the server; its pings are answered.
        enum Incoming: Equatable {
            case text(String)
            case pong([UInt8])
            /// A close with its code.
            case close(Int)
            /// The end of the connection.
            case end
        }

        /// The key, and its answer, of the example in RFC 6455, section 1.3.
        static let (key, accept) = ("dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
        static let handshake = [
            "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: \(key)",
        ]

        let connection: HTTPClient
        /// The response to the handshake.
        let response: Reply

        /// Makes the handshake with the session of a client.
        ///
        /// - Parameter early: Bytes that are sent with the handshake.
        init(_ client: HTTPClient, headers: [String] = [], receiveBuffer: Int32? = nil, early: [UInt8] = [])
            async throws
        {
            connection = try client.another(receiveBuffer: receiveBuffer)
            try await connection.write(connection.text("GET", "/v1/socket", nil, Self.handshake + headers), early)
            response = try await connection.reply()
        }

        /// Opens a socket and reads the first message; returns the socket and the token.
        static func open(_ client: HTTPClient, receiveBuffer: Int32? = nil) async throws -> (
            socket: SocketClient, token: String
        ) {
            let socket = try await SocketClient(client, receiveBuffer: receiveBuffer)
            #expect(socket.response.status == 101)
            let hello = try #require(try await socket.json()["hello"] as? [String: Any])
            return (socket, try #require(hello["token"] as? String))
        }

        // MARK: Sending

        static func frame(_ opcode: Opcode, _ payload: [UInt8], isLast: Bool = true, isMasked: Bool = true) -> [UInt8] {
            var frame = [(isLast ? 0x80 : 0) | opcode.rawValue]
            let mask: UInt8 = isMasked ? 0x80 : 0
            switch payload.count {
            case ..<126: frame.append(mask | UInt8(payload.count))
            case ..<(1 << 16): frame += [mask | 126, UInt8(payload.count >> 8), UInt8(payload.count & 0xFF)]
            default: frame += [mask | 127] + (0..<8).map { UInt8(truncatingIfNeeded: payload.count >> (56 - 8 * $0)) }
            }
            guard isMasked else { return frame + payload }
            let key: [UInt8] = [0x37, 0xFA, 0x21, 0x3D]
            frame += key
            frame.reserveCapacity(frame.count + payload.count)
            for (index, byte) in payload.enumerated() { frame.append(byte ^ key[index & 3]) }
            return frame
        }

        func send(_ bytes: [UInt8]) async throws {
            try await Threads.run { [connection] in try connection.socket.write(bytes) }
        }

        func send(_ opcode: Opcode, _ payload: [UInt8], isLast: Bool = true) async throws {
            try await send(Self.frame(opcode, payload, isLast: isLast))
        }

        func say(_ text: String) async throws { try await send(.text, Array(text.utf8)) }

        // MARK: Receiving

        /// Reads the next message or control frame but a ping.
        func next() async throws -> Incoming {
            do {
                while true {
                    let (opcode, payload) = try await frame()
                    switch opcode {
                    case .text: return .text(try #require(String(validating: payload, as: UTF8.self)))
                    case .pong: return .pong(payload)
                    case .close: return .close(payload.count < 2 ? 0 : Int(payload[0]) << 8 | Int(payload[1]))
                    case .ping: try await send(.pong, payload)
                    case .continuation, .binary: throw HTTPClient.Ended()
                    }
                }
            } catch is HTTPClient.Ended {
                return .end
            }
        }

        /// Reads the next message, which is JSON.
        func json() async throws -> [String: Any] {
            let incoming = try await next()
            guard case .text(let text) = incoming else {
                Issue.record("\(incoming) in the place of a message")
                throw HTTPClient.Ended()
            }
            return try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
        }

        /// Sends a message and reads its answer, which is the next message.
        func ask(_ text: String) async throws -> [String: Any] {
            try await say(text)
            return try await json()
        }

        /// Reads the last message and the close, answers the close, and reads up to the end.
        func expectEnd(_ reason: String) async throws {
            #expect(try await next() == .text("{\"end\":\"\(reason)\"}"))
            #expect(try await next() == .close(1001))
            // The server may have ended the connection.
            do { try await send(.close, [0x03, 0xE9]) } catch is RawSocket.Failure {}
            #expect(try await next() == .end)
        }

        /// A frame, which the server sends whole and unmasked.
        private func frame() async throws -> (Opcode, [UInt8]) {
            try await Threads.run { [connection] in
                let head = try connection.bytes(2)
                let opcode = try #require(Opcode(rawValue: head[0] & 0x0F))
                #expect(head[0] & 0xF0 == 0x80 && head[1] & 0x80 == 0)
                var count = Int(head[1])
                if count >= 126 {
                    count = try connection.bytes(count == 126 ? 2 : 8).reduce(0) { $0 << 8 | Int($1) }
                }
                return (opcode, try connection.bytes(count))
            }
        }
    }
#endif
