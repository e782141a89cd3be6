#if Server
    public import ChatDomain
    public import ChatWire

    /// What the host program adds to a server.
    ///
    /// <doc:ExtendingTheServer> has an example.
    public struct ServerExtensions: Sendable {
        /// The routes of the host program.
        public var routes: [HostRoute] = []
        /// The WebSockets of the host program, which Linux alone has.
        public var sockets: [HostSocket] = []
        /// Is called before the commands of a request or of a message of a WebSocket are executed.
        ///
        /// A problem that it throws is the answer, and no command is executed. It is not called for
        /// commands of the host program, nor by a server that passes commands to the one that
        /// writes.
        public var willExecute: @Sendable (_ commands: ClientCommands, _ user: UserID) throws(Problem) -> Void = {
            (_, _) throws(Problem) in
        }

        /// Creates extensions that add nothing.
        public init() {}
    }

    /// A route of the host program, for users who are signed in.
    public struct HostRoute: Sendable {
        /// The method of a route.
        public enum Method: String, Sendable {
            /// Reads; answers `HEAD` too.
            case get = "GET"
            /// Changes something, as each method but `get`.
            case post = "POST"
            /// Replaces something.
            case put = "PUT"
            /// Changes a part of something.
            case patch = "PATCH"
            /// Removes something.
            case delete = "DELETE"
        }

        /// The method.
        public let method: Method
        /// The path, with a name in braces for each segment that varies: `/v1/polls/{poll}`.
        public let path: String
        let respond: @Sendable (HostRequest) async throws -> WireResponse

        /// Creates a route.
        ///
        /// - Parameters:
        ///   - method: The method.
        ///   - path: The path, which begins with `/v1/` and takes no request of another route.
        ///   - respond: Responds to a request. A `Problem` or `ChatError` that it throws is the
        ///     response; any other error is the problem `hostFailed`.
        public init(
            _ method: Method, _ path: String, respond: @escaping @Sendable (HostRequest) async throws -> WireResponse
        ) {
            (self.method, self.path, self.respond) = (method, path, respond)
        }
    }

    /// A WebSocket of the host program, for clients without a session.
    ///
    /// Its connections count as one client, and each message has at most the bytes of the options.
    /// `Examples/TutorialChat` has one.
    public struct HostSocket: Sendable {
        /// The path, such as `/chat`.
        public let path: String
        /// Whether clients beyond loopback may use it.
        public let isPublic: Bool
        let deliver: @Sendable (_ write: ([UInt8]) async throws -> Void) async throws -> Void
        let receiver: @Sendable () -> @Sendable ([UInt8]) async throws -> Void

        /// Creates a WebSocket.
        ///
        /// - Parameters:
        ///   - path: The path, which takes no request of another route.
        ///   - isPublic: Whether clients beyond loopback may use it.
        ///   - deliver: Writes all messages for one client. A write suspends while the client does
        ///     not read, and throws after its end. The connection ends when the function returns or
        ///     throws.
        ///   - receiver: Returns what receives the messages of one client, one after another. An
        ///     error ends their receipt.
        public init(
            _ path: String, isPublic: Bool = false,
            deliver: @escaping @Sendable (_ write: ([UInt8]) async throws -> Void) async throws -> Void,
            receiver: @escaping @Sendable () -> @Sendable ([UInt8]) async throws -> Void
        ) {
            (self.path, self.isPublic, self.deliver, self.receiver) = (path, isPublic, deliver, receiver)
        }
    }

    /// A request to a route of the host program.
    public struct HostRequest: Sendable {
        /// The user of the session.
        public let user: UserID
        /// The method, the path, the query, and the body.
        ///
        /// The body is JSON of at most 16 KiB, or empty.
        public let request: WireRequest
        /// The segments of the path that vary.
        public let parameters: RouteParameters
    }
#endif
