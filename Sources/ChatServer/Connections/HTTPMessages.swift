#if Server
    internal import ChatWire

    /// A complete request.
    struct HTTPRequest: Sendable {
        let head: HTTPHead
        let body: [UInt8]
        /// What holds the memory of the body; nil for one that came with its head.
        var held: HeldMemory?
    }

    /// A response, whose body is complete or a stream.
    struct HTTPResponse: Sendable {
        enum Body: Sendable {
            case bytes([UInt8])
            /// That of a stream, to `HEAD`: nobody knows its length.
            case none
            case stream(Mailbox)
            /// The connection becomes a WebSocket: the closure is called on the thread of the loop,
            /// with a function that lets the socket receive again, and returns the messages for the
            /// client and what receives those of the client.
            case upgrade(
                @Sendable (_ resume: @escaping @Sendable () -> Void) -> (mailbox: Mailbox, receiver: any SocketReceiver)
            )
        }

        var status: Int
        /// The headers beside `Date` and those of the body's length and the connection.
        var headers: [(name: String, value: String)]
        var body: Body
        /// Whether the connection ends after the response.
        var closesConnection = false
    }

    extension HTTPResponse {
        /// The bytes of the head.
        ///
        /// - Parameters:
        ///   - date: The value of `Date`.
        ///   - isLast: Whether the connection ends after the response.
        ///   - isChunked: Whether a stream is sent in chunks.
        func headBytes(date: String, isLast: Bool, isChunked: Bool) -> [UInt8] {
            var text = "HTTP/1.1 \(status) \(Self.phrase(of: status))\r\nDate: \(date)\r\n"
            switch body {
            case .bytes(let bytes):
                if isLast { text += "Connection: close\r\n" }
                // These two have no body.
                if status != 204, status != 304 { text += "Content-Length: \(bytes.count)\r\n" }
            case .none: if isLast { text += "Connection: close\r\n" }
            case .stream:
                if isLast { text += "Connection: close\r\n" }
                if isChunked { text += "Transfer-Encoding: chunked\r\n" }
            case .upgrade: text += "Connection: Upgrade\r\n"
            }
            for header in headers { text += "\(header.name): \(header.value)\r\n" }
            text += "\r\n"
            return Array(text.utf8)
        }

        /// The reason phrase of RFC 9110.
        private static func phrase(of status: Int) -> String {
            switch status {
            case 101: "Switching Protocols"
            case 200: "OK"
            case 201: "Created"
            case 202: "Accepted"
            case 204: "No Content"
            case 304: "Not Modified"
            default: Problem.title(of: status)
            }
        }
    }

    /// What a loop calls, on its thread.
    protocol HTTPHandler: Sendable {
        /// Returns a response to a head; nil if the request may go on.
        func check(_ head: HTTPHead) -> HTTPResponse?
        /// Lets the body of a request be read, or responds, at any time and on any thread.
        ///
        /// Not called if the head came with the whole body.
        func admit(_ head: HTTPHead, _ exchange: HTTPExchange)
        /// The largest body that is read for a request.
        func bodyLimit(of head: HTTPHead) -> Int
        /// The response to a request that cannot be read.
        func response(to error: HTTPError) -> HTTPResponse
        /// Responds to a complete request, at any time and on any thread.
        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange)
    }
#endif
