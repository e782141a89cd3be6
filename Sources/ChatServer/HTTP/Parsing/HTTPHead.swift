#if Server
    /// A header whose one value decides something; a request has it at most once.
    ///
    /// Two programs that read such a header twice take different ones of its values: a proxy checks
    /// one session, and the server acts for another. The server reads the value of no other header.
    enum SingleHeader: String, CaseIterable {
        case host
        case authorization
        case cookie
        case origin
        case fetchSite = "sec-fetch-site"
        case contentType = "content-type"
        case contentLength = "content-length"
        case transferEncoding = "transfer-encoding"
        case expect
        case lastEventID = "last-event-id"
        case socketKey = "sec-websocket-key"
        case socketVersion = "sec-websocket-version"
    }

    /// The request line and the headers of a request.
    struct HTTPHead: Sendable {
        /// What follows the head.
        enum Framing: Hashable, Sendable {
            case none
            /// A body with a number of bytes, which is not 0.
            case length(Int)
            case chunked
        }

        /// The method as it was sent.
        let method: String
        /// `HTTP/1.1` or `HTTP/1.0`.
        let version: String
        /// The path and the query as they were sent, or `*`.
        let target: String
        /// The names in lower case, with their values, in the order of the request.
        let headers: [(name: String, value: String)]
        let framing: Framing
        /// The address of the other end of the connection as text; nil if it has none.
        var peer: String?
        /// About the bytes that the head holds.
        var heldByteCount: Int { 2 * target.utf8.count + headers.reduce(0) { $0 + HTTPHeadParser.heldByteCount($1) } }

        /// The value of a header that a request has at most once.
        subscript(_ header: SingleHeader) -> String? { headers.first { $0.name == header.rawValue }?.value }

        /// The elements of a list, which can be in several headers of the same name.
        func list(_ name: String) -> [String] {
            headers.filter { $0.name == name }.flatMap { $0.value.split(separator: ",").map(\.trimmingSpaces) }
        }

        /// Whether the method changes nothing.
        var isSafe: Bool { method == "GET" || method == "HEAD" || method == "OPTIONS" }

        /// Whether the health is asked for, which is answered in any state.
        var isHealthCheck: Bool { target == "/healthz" }

        /// Whether the connection takes another request after this one.
        var keepsAlive: Bool { version == "HTTP/1.1" && !list("connection").contains { $0.lowercased() == "close" } }

        /// Whether the client waits for `100 Continue` before it sends the body.
        var expectsContinue: Bool { version == "HTTP/1.1" && self[.expect]?.lowercased() == "100-continue" }
    }

    extension Substring {
        /// The text without spaces and tabs at its ends.
        var trimmingSpaces: String {
            var rest = self
            while let first = rest.first, first == " " || first == "\t" { rest.removeFirst() }
            while let last = rest.last, last == " " || last == "\t" { rest.removeLast() }
            return String(rest)
        }
    }
#endif
