#if Server
    internal import ChatWire
    internal import Primitives

    /// The opening handshake of a WebSocket (RFC 6455, section 4.2).
    enum SocketHandshake {
        /// Returns the headers of the response with the status 101.
        ///
        /// - Parameter subprotocol: The subprotocol of the server; it is confirmed if the client
        ///   names it.
        /// - Throws: ``Problem`` with the status 426 for a request that is no handshake of version
        ///   13.
        static func headers(for head: HTTPHead, subprotocol: String? = nil) throws(Problem) -> [(
            name: String, value: String
        )] {
            guard head.method == "GET", head.version == "HTTP/1.1",
                head.list("upgrade").contains(where: { $0.lowercased() == "websocket" }),
                head.list("connection").contains(where: { $0.lowercased() == "upgrade" }),
                head[.socketVersion] == "13", let key = head[.socketKey],
                Base64.bytes(of: key)?.count == 16
            else { throw .upgradeRequired }
            let digest = SHA1.hash(Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))
            var headers = [(name: "Upgrade", value: "websocket"), ("Sec-WebSocket-Accept", Base64.text(of: digest))]
            if let subprotocol, head.list("sec-websocket-protocol").contains(subprotocol) {
                headers.append(("Sec-WebSocket-Protocol", subprotocol))
            }
            return headers
        }
    }
#endif
