#if Server
    import Foundation
    import Locking
    import Testing

    @testable import ChatServer

    /// A response as it arrived.
    struct Reply: Sendable {
        var status = 0
        /// Names in lower case.
        var headers: [(name: String, value: String)] = []
        var body: [UInt8] = []

        subscript(name: String) -> String? { headers.first { $0.name == name }?.value }
        var text: String { String(decoding: body, as: UTF8.self) }
        var json: [String: Any]? { try? JSONSerialization.jsonObject(with: Data(body)) as? [String: Any] }
        var items: [[String: Any]] { json?["items"] as? [[String: Any]] ?? [] }
        var code: String? { json?["code"] as? String }
    }

    /// A client on one connection, which shows exactly what the server sends.
    final class HTTPClient: Sendable {
        /// The connection has ended before the response was complete.
        struct Ended: Error {}

        let socket: RawSocket
        let port: UInt16
        private let buffer = Lock([UInt8]())
        private let session = Lock<String?>(nil)

        init(port: UInt16, receiveBuffer: Int32? = nil) throws {
            self.port = port
            socket = try RawSocket(port: port, receiveBuffer: receiveBuffer)
        }

        var token: String? {
            get { session.withLock { $0 } }
            set { session.withLock { $0 = newValue } }
        }

        /// Another connection with the same session.
        func another(receiveBuffer: Int32? = nil) throws -> HTTPClient {
            let client = try HTTPClient(port: port, receiveBuffer: receiveBuffer)
            client.token = token
            return client
        }

        // MARK: Requests

        func text(_ method: String, _ target: String, _ body: String? = nil, _ headers: [String] = []) -> String {
            var lines = ["\(method) \(target) HTTP/1.1"]
            if !headers.contains(where: { $0.lowercased().hasPrefix("host:") }) {
                lines.append("Host: 127.0.0.1:\(port)")
            }
            if let token { lines.append("Authorization: Bearer \(token)") }
            if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
            return (lines + headers).joined(separator: "\r\n") + "\r\n\r\n" + (body ?? "")
        }

        func write(_ text: String, _ more: [UInt8] = []) async throws {
            try await Threads.run { [socket] in try socket.write(Array(text.utf8) + more) }
        }

        @discardableResult
        func send(_ method: String, _ target: String, _ body: String? = nil, headers: [String] = []) async throws
            -> Reply
        {
            try await Threads.run { [self] in try ask(method, target, body, headers) }
        }

        /// Sends a request and reads the response, on the calling thread.
        func ask(_ method: String, _ target: String, _ body: String? = nil, _ headers: [String] = []) throws -> Reply {
            try socket.write(Array(text(method, target, body, headers).utf8))
            return try nextReply(toHead: method == "HEAD")
        }

        func get(_ target: String) async throws -> Reply { try await send("GET", target) }

        /// Posts a message and returns its position.
        @discardableResult
        func post(_ body: String, in thread: String) async throws -> UInt64 {
            let reply = try await send(
                "POST", "/v1/commands", "{\"postMessage\":{\"thread\":\"\(thread)\",\"body\":\"\(body)\"}}")
            return try #require(
                (reply.json?["positions"] as? [NSNumber])?.last?.uint64Value, "\(reply.status) \(reply.text)")
        }

        /// Posts messages in batches of 50.
        func post(_ bodies: [String], in thread: String) async throws {
            for start in stride(from: 0, to: bodies.count, by: 50) {
                let commands = bodies[start..<min(start + 50, bodies.count)].map {
                    "{\"postMessage\":{\"thread\":\"\(thread)\",\"body\":\"\($0)\"}}"
                }
                let reply = try await send("POST", "/v1/commands", "[\(commands.joined(separator: ","))]")
                #expect(reply.status == 200)
            }
        }

        // MARK: Responses

        /// Reads one response with its body.
        func reply(toHead: Bool = false) async throws -> Reply {
            try await Threads.run { [self] in try nextReply(toHead: toHead) }
        }

        /// Reads one response with its body, on the calling thread.
        private func nextReply(toHead: Bool) throws -> Reply {
            var reply = try head()
            if toHead || reply.status == 204 || reply.status == 304 || reply.status < 200 { return reply }
            if reply["transfer-encoding"]?.lowercased() == "chunked" {
                while let chunk = try chunk() { reply.body += chunk }
            } else if let count = reply["content-length"].flatMap({ Int($0) }) {
                reply.body = try bytes(count)
            }
            return reply
        }

        /// Opens a stream: reads the head of its response and the first block.
        func openStream(_ target: String = "/v1/events", headers: [String] = []) async throws -> (
            reply: Reply, opening: Block
        ) {
            try await write(text("GET", target, nil, headers))
            return try await streamHead()
        }

        /// Reads the head of a stream's response and the first block.
        func streamHead() async throws -> (reply: Reply, opening: Block) {
            let reply = try await Threads.run { [self] in try head() }
            guard reply.status == 200 else { return (reply, Block("")) }
            return (reply, try #require(try await block()))
        }

        /// A block of Server-Sent Events, without comments.
        struct Block: Sendable {
            var id: String?
            var data: String?
            var event: String?

            init(_ text: String) {
                for line in text.split(separator: "\n") {
                    let sides = line.split(separator: ":", maxSplits: 1).map(String.init)
                    guard sides.count == 2 else { continue }
                    let value = String(sides[1].dropFirst())
                    switch sides[0] {
                    case "id": id = value
                    case "data": data = value
                    case "event": event = value
                    default: break
                    }
                }
            }

            var body: String? {
                let json = data.flatMap { try? JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any] }
                return (json?["messagePosted"] as? [String: Any])?["body"] as? String
            }
        }

        private let blocks = Lock("")

        /// Reads the next block of a stream; nil at its end.
        func block() async throws -> Block? {
            try await Threads.run { [self] in
                while true {
                    let found = blocks.withLock { text -> String? in
                        guard let end = text.range(of: "\n\n") else { return nil }
                        defer { text = String(text[end.upperBound...]) }
                        return String(text[..<end.lowerBound])
                    }
                    if let found {
                        if found.hasPrefix(":") { continue }
                        return Block(found)
                    }
                    guard let chunk = try chunk() else { return nil }
                    blocks.withLock { $0 += String(decoding: chunk, as: UTF8.self) }
                }
            }
        }

        /// Reads blocks until the stream ends.
        func rest() async throws -> [Block] {
            var blocks: [Block] = []
            while let block = try await block() { blocks.append(block) }
            return blocks
        }

        /// Whether the server has ended the connection, without another byte.
        func isEnded() async throws -> Bool {
            try await Threads.run { [self] in try buffer.withLock { $0 }.isEmpty && socket.read().isEmpty }
        }

        /// Reads until the server ends the connection.
        func everything() async throws -> String {
            try await Threads.run { [self] in
                do { while true { try more() } } catch is Ended {}
                return buffer.withLock { String(decoding: $0, as: UTF8.self) }
            }
        }

        private func head() throws -> Reply {
            let lines = try line(endingWith: "\r\n\r\n").split(separator: "\r\n").map(String.init)
            var reply = Reply()
            reply.status = Int(lines.first?.split(separator: " ").dropFirst().first ?? "") ?? 0
            for line in lines.dropFirst() {
                let sides = line.split(separator: ":", maxSplits: 1).map(String.init)
                guard sides.count == 2 else { continue }
                reply.headers.append((sides[0].lowercased(), sides[1].trimmingCharacters(in: .whitespaces)))
            }
            return reply
        }

        /// Reads a chunk; nil for the last one, or if the connection ends.
        private func chunk() throws -> [UInt8]? {
            let size: String
            do { size = try line(endingWith: "\r\n") } catch is Ended { return nil }
            guard let count = Int(size.trimmingCharacters(in: .whitespacesAndNewlines), radix: 16) else {
                throw Ended()
            }
            let chunk = try bytes(count)
            _ = try line(endingWith: "\r\n")
            return count == 0 ? nil : chunk
        }

        private func line(endingWith end: String) throws -> String {
            let end = Array(end.utf8)
            while true {
                let found = buffer.withLock { buffer -> String? in
                    guard let range = buffer.firstRange(of: end) else { return nil }
                    defer { buffer.removeFirst(range.upperBound) }
                    return String(decoding: buffer[..<range.upperBound], as: UTF8.self)
                }
                if let found { return found }
                try more()
            }
        }

        /// Reads a number of bytes.
        func bytes(_ count: Int) throws -> [UInt8] {
            while buffer.withLock({ $0.count }) < count { try more() }
            return buffer.withLock { buffer in
                defer { buffer.removeFirst(count) }
                return Array(buffer.prefix(count))
            }
        }

        private func more() throws {
            let bytes = try socket.read()
            if bytes.isEmpty { throw Ended() }
            buffer.withLock { $0 += bytes }
        }
    }
#endif
