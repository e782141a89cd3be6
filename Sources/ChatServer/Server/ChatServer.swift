#if Server
    public import Chat
    public import ChatAccounts
    internal import ChatWire
    public import EventJournal

    /// The chat over HTTP: accounts, commands, queries and live events on one address.
    ///
    /// TLS is left to a proxy on the same machine. <doc:OperatingAServer> has an example.
    public final class ChatServer: Sendable {
        /// The URL of the server, with the port that it listens on.
        public let url: String
        /// The URL of the metrics; nil if they are not served.
        public let metricsURL: String?
        /// The error with which the store has stopped; nil if it has not.
        ///
        /// A server whose store has stopped is of no more use.
        public var failure: JournalError? { core.store.failure }
        let core: ServerCore
        private let loop: ConnectionLoop
        private let metricsLoop: ConnectionLoop?
        private let tickers: [Task<Void, Never>]

        /// Starts a server.
        ///
        /// First completes registrations and deletions of accounts that a crash has interrupted,
        /// and grants ``ServerOptions/operators``.
        ///
        /// - Parameters:
        ///   - store: The chat, open for writing. It stays the caller's, who closes it after
        ///     ``close()``.
        ///   - accounts: The accounts; they stay the caller's too.
        ///   - options: The addresses and limits.
        ///   - extensions: What the host program adds: <doc:ExtendingTheServer>.
        ///   - listeners: The addresses of the options, if they were taken before.
        /// - Throws: `cannotListen`, `notLoopback` for an address beyond loopback without origins
        ///   or a metrics address beyond it, `accountsInUse` if another server, which may have
        ///   another journal, has the account file, `invalidRoute` for a route of the host program
        ///   that cannot be added, or `cannotStart`.
        public convenience init(
            store: ChatStore, accounts: AccountStore, options: ServerOptions,
            extensions: ServerExtensions = ServerExtensions(), listeners: ServerListeners? = nil
        ) async throws(ServerError) {
            try Self.hold(accounts)
            try await self.init(store, options, extensions, listeners) { log in
                .writer(AccountService(store, accounts, log, operators: options.operators))
            }
        }

        /// Keeps other servers from using the accounts, until they are closed.
        ///
        /// - Throws: `accountsInUse`.
        package static func hold(_ accounts: AccountStore) throws(ServerError) {
            guard accounts.hold() else {
                throw ServerError(
                    .accountsInUse, "Another server has the account file open. Each journal needs accounts of its own.")
            }
        }

        /// Starts a server that answers queries and delivers events from a read-only store, and
        /// passes requests about accounts, and commands, to the server that writes.
        ///
        /// It follows the log. A response to a request that was passed on comes when this server
        /// can show what the request has changed, or after two seconds. Sessions are looked up at
        /// the writer: one that has ended remains valid here for up to five seconds, its streams
        /// for up to twenty, and for five minutes while the writer cannot be reached; then the
        /// streams end as if this server were closing. <doc:OperatingAServer> has the configuration
        /// of both.
        ///
        /// - Parameters:
        ///   - store: The chat, open for reading. It stays the caller's, who closes it after
        ///     ``close()``.
        ///   - writer: The scheme, host and port of the server that writes. It must trust this
        ///     server's address as that of a proxy, and have the same origins.
        ///   - options: The addresses and limits.
        ///   - extensions: What the host program adds; those of the writer are the same.
        ///   - listeners: The addresses of the options, if they were taken before.
        /// - Throws: Also `notLoopback` for a writer over https without origins (requests name the
        ///   first origin in `Host`), and `insecureWriter` for a writer beyond loopback without TLS,
        ///   because tokens are sent to it.
        public convenience init(
            readOnly store: ChatStore, writer: WebOrigin, options: ServerOptions,
            extensions: ServerExtensions = ServerExtensions(), listeners: ServerListeners? = nil
        ) async throws(ServerError) {
            if !writer.isSecure, !writer.isLoopback {
                throw ServerError(
                    .insecureWriter, "A writer beyond loopback must be reached over https: tokens are sent to it.")
            }
            if writer.isSecure, options.origins.isEmpty {
                throw ServerError(
                    .notLoopback, "A server whose writer is reached over https needs the origins of its pages.")
            }
            try await self.init(store, options, extensions, listeners) { _ in
                .reader(WriterClient(writer, pages: options.origins))
            }
        }

        private init(
            _ store: ChatStore, _ options: ServerOptions, _ extensions: ServerExtensions, _ listeners: ServerListeners?,
            _ makeRole: (ServerLog) -> ServerCore.Role
        ) async throws(ServerError) {
            if !options.listen.isLoopback, options.origins.isEmpty {
                throw ServerError(.notLoopback, "A server beyond loopback needs the origins of its pages.")
            }
            if let metrics = options.metrics, !metrics.isLoopback {
                throw ServerError(.notLoopback, "Metrics are served on loopback only.")
            }
            let connectionCount = min(
                options.maximumConnectionCount,
                Self.connectionCount(descriptors: ListeningSocket.raiseDescriptorLimit()))
            let listeners = if let listeners { listeners } else { try ServerListeners(options) }
            guard let (socket, address) = try listeners.listen() else {
                throw ServerError(.cannotListen, "Another server has taken the listeners.")
            }
            let headCheck = HeadCheck(address, origins: options.origins, trustedProxies: options.trustedProxies)
            let core: ServerCore
            do throws(ServerError) {
                core = try ServerCore(store, headCheck, options, extensions, makeRole)
            } catch {
                ListeningSocket.close(socket)
                throw error
            }
            await core.begin()
            var started: ConnectionLoop?
            do throws(ServerError) {
                started = ConnectionLoop(
                    socket: socket, maximumConnectionCount: connectionCount, isExempt: headCheck.isShared,
                    handler: core,
                    socketLimits: options.socketLimits, memory: core.memory)
                guard let loop = started else {
                    throw ServerError(.cannotStart, "The system has no descriptors for the server.")
                }
                let metrics = try listeners.listenForMetrics().map { listener throws(ServerError) in
                    try Self.startMetrics(core, loop, listener)
                }
                (self.core, self.loop, metricsLoop, metricsURL) = (core, loop, metrics?.loop, metrics?.url)
            } catch {
                await core.drain(timeout: .zero, sendTimeout: .zero) { (0, 0) }
                started?.stop()
                throw error
            }
            url = "http://\(address)"
            tickers = Self.startTickers(core, loop)
            core.log.write("listening", ("url", url))
        }

        /// Returns the number of connections, each of which takes a descriptor, with a limit of
        /// descriptors.
        ///
        /// 256 of them, or half of few, are kept for the journal, the accounts and the program.
        static func connectionCount(descriptors: Int) -> Int { max(16, descriptors - min(256, descriptors / 2)) }

        private static func startMetrics(
            _ core: ServerCore, _ loop: ConnectionLoop, _ listener: ServerListeners.Listener
        ) throws(ServerError) -> (loop: ConnectionLoop, url: String) {
            let (socket, address) = listener
            let metricsLoop = ConnectionLoop(
                socket: socket, maximumConnectionCount: 64, isExempt: { _ in true },
                handler: MetricsHandler(core, loop, HeadCheck(address, origins: [], trustedProxies: [])))
            guard let metricsLoop else {
                throw ServerError(.cannotStart, "The system has no descriptors for the metrics.")
            }
            return (metricsLoop, "http://\(address)/metrics")
        }

        /// Starts what happens once a second.
        private static func startTickers(_ core: ServerCore, _ loop: ConnectionLoop) -> [Task<Void, Never>] {
            func everySecond(_ body: @escaping @Sendable () async -> Void) -> Task<Void, Never> {
                Task {
                    while !Task.isCancelled {
                        await body()
                        // Ends early only if the task is cancelled.
                        try? await Task.sleep(for: .seconds(1))
                    }
                }
            }
            return [
                everySecond { core.checkStreams() }, everySecond { await core.checkSessions() },
                everySecond { await core.lookAtHealth(areConnectionsFull: loop.counts.areFull) },
            ]
        }

        /// Stops accepting connections, ends the streams, waits for the requests in progress, and
        /// ends the connections.
        ///
        /// A client of a stream is told to resume later. Requests that take longer than ten seconds
        /// get no response.
        public func close() async { await close(timeout: .seconds(10)) }

        /// - Parameters:
        ///   - timeout: The time that requests in progress get.
        ///   - sendTimeout: The time that clients then get to receive the responses and the ends of
        ///     the streams.
        func close(timeout: Duration, sendTimeout: Duration = .seconds(2)) async {
            loop.acceptNoMore()
            metricsLoop?.acceptNoMore()
            await core.drain(timeout: timeout, sendTimeout: sendTimeout) {
                (loop.counts.sockets, loop.counts.exchanges + (metricsLoop?.counts.exchanges ?? 0))
            }
            for ticker in tickers { ticker.cancel() }
            for ticker in tickers { await ticker.value }
            loop.stop()
            metricsLoop?.stop()
            core.log.write("closed", ("url", url))
        }
    }

    /// Serves the metrics, on a listener of its own.
    private struct MetricsHandler: HTTPHandler {
        let core: ServerCore
        let loop: ConnectionLoop
        let headCheck: HeadCheck

        init(_ core: ServerCore, _ loop: ConnectionLoop, _ headCheck: HeadCheck) {
            (self.core, self.loop, self.headCheck) = (core, loop, headCheck)
        }

        func bodyLimit(of head: HTTPHead) -> Int { 0 }

        func response(to error: HTTPError) -> HTTPResponse { HTTPResponse(WireResponse(Problem(error))) }

        func check(_ head: HTTPHead) -> HTTPResponse? {
            if let problem = headCheck.problem(of: head) { return HTTPResponse(WireResponse(problem)) }
            guard head.target == "/metrics" else { return HTTPResponse(WireResponse(.notFound)) }
            return head.method == "GET" || head.method == "HEAD" ? nil : HTTPResponse(WireResponse(allowing: ["GET"]))
        }

        func admit(_ head: HTTPHead, _ exchange: HTTPExchange) { exchange.admit(.shared) }

        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            Task {
                let text = core.metricsText(connections: loop.counts.connections)
                exchange.respond(
                    HTTPResponse(
                        status: 200,
                        headers: [("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")],
                        body: .bytes(Array(text.utf8))))
            }
        }
    }
#endif
