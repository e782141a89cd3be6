#if Server
    /// A complete request.
    struct HTTPRequest: Sendable {
        let head: HTTPHead
        let body: [UInt8]
    }

    /// A response, whose body is complete or a stream.
    struct HTTPResponse: Sendable {
        enum Body: Sendable {
            case bytes([UInt8])
            case stream(Mailbox)
            /// The connection becomes a WebSocket, which the closure receives.
            case upgrade(@Sendable (UpgradedSocket) -> Void)
        }

        var status: Int
        /// The headers beside `Content-Length`, `Date` and those of the connection.
        var headers: [(name: String, value: String)]
        var body: Body
        /// Whether the connection ends after the response.
        var closesConnection = false
    }
#endif
