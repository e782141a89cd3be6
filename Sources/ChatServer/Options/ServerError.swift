#if Server
    /// An error that keeps a server from starting.
    public struct ServerError: Error, Hashable, Sendable, CustomStringConvertible {
        /// The reason, as a code that is stable across versions.
        public let code: Code
        /// A description for people; it may change between versions.
        public let message: String

        init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

        /// The code and the message.
        public var description: String { "\(code): \(message)" }

        /// A stable name of a reason; later versions may add more.
        public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
            /// The stable text.
            public let rawValue: String

            /// Creates the code with a text.
            public init(rawValue: String) { self.rawValue = rawValue }

            /// The stable text.
            public var description: String { rawValue }

            /// The address cannot be listened on.
            public static let cannotListen = Code(rawValue: "cannotListen")
            /// The server listens beyond loopback, or its writer is reached over https, and it has
            /// no origin; or the metrics would be served beyond loopback.
            public static let notLoopback = Code(rawValue: "notLoopback")
            /// Tokens would be sent to the server that writes without TLS.
            public static let insecureWriter = Code(rawValue: "insecureWriter")
            /// Another server has the account file: the users of two journals must not mix.
            public static let accountsInUse = Code(rawValue: "accountsInUse")
            /// A route or a WebSocket of the host program has no valid path, or takes requests of another route.
            public static let invalidRoute = Code(rawValue: "invalidRoute")
            /// The system has no descriptors for the connections.
            public static let cannotStart = Code(rawValue: "cannotStart")
        }
    }
#endif
