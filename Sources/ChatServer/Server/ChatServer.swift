#if Server
    public import Chat
    public import ChatAccounts
    internal import ChatWire
    internal import Locking

    /// The chat over HTTP: accounts, commands, queries and live events on one address.
    ///
    /// TLS is left to a proxy on the same machine. <doc:Operating> has an example.
    public final class ChatServer: Sendable {
        /// The URL of the server, with the port that it listens on.
        public let url: String
        /// The URL of the metrics; nil if they are not served.
        public let metricsURL: String?
        let core: ServerCore
        private let daemon: HTTPDaemon
        private let metricsDaemon: HTTPDaemon?
        private let ticker: Task<Void, Never>

        /// Starts a server.
        ///
        /// First completes registrations and deletions of accounts that a crash has interrupted.
        ///
        /// - Parameters:
        ///   - store: The chat, open for writing. It stays the caller's, who closes it after ``close()``.
        ///   - accounts: The accounts; they stay the caller's too.
        ///   - options: The addresses and limits.
        /// - Throws: `cannotListen`, `notLoopback` for an address beyond loopback without origins or a
        ///   metrics address beyond it, or `cannotStart`.
        public init(store: ChatStore, accounts: AccountStore, options: ServerOptions) async throws(ServerError) {
            if !options.listen.isLoopback, options.origins.isEmpty {
                throw ServerError(.notLoopback, "A server beyond loopback needs the origins of its pages.")
            }
            if let metrics = options.metrics, !metrics.isLoopback {
                throw ServerError(.notLoopback, "Metrics are served on loopback only.")
            }
            if options.tutorialThread != nil, !options.listen.isLoopback, !options.isTutorialPublic {
                throw ServerError(.tutorialThread, "The tutorials' chat has no accounts; it must be allowed beyond loopback.")
            }
            // Two descriptors of a connection are never needed; the journal and the accounts need some.
            let descriptors = ListeningSocket.raiseDescriptorLimit()
            var limits = HTTPDaemon.Limits()
            limits.connections = max(16, min(options.maximumConnectionCount, descriptors - 256))
            limits.connectionsPerAddress = options.maximumConnectionCountPerAddress
            let (socket, address) = try ListeningSocket.open(options.listen)
            let gate = RequestGate(address, origins: options.origins, trustedProxies: options.trustedProxies)
            let core: ServerCore
            do throws(ServerError) { core = try ServerCore(store, accounts, gate, options) } catch {
                ListeningSocket.close(socket)
                throw error
            }
            await core.completeInterrupted()
            guard let daemon = HTTPDaemon(socket: socket, limits: limits, isExempt: gate.isShared, handler: core) else {
                await core.drain(timeout: .zero, sendTimeout: .zero) { 0 }
                throw ServerError(.cannotStart, "The thread of the server cannot be started.")
            }
            var metricsDaemon: HTTPDaemon?
            if let metrics = options.metrics {
                do throws(ServerError) {
                    let (socket, address) = try ListeningSocket.open(metrics)
                    metricsDaemon = HTTPDaemon(
                        socket: socket, limits: HTTPDaemon.Limits(connections: 64), isExempt: { _ in true },
                        handler: MetricsHandler(core, daemon, RequestGate(address, origins: [], trustedProxies: [])))
                    guard metricsDaemon != nil else {
                        throw ServerError(.cannotStart, "The thread of the metrics cannot be started.")
                    }
                    metricsURL = "http://\(address)/metrics"
                } catch {
                    await core.drain(timeout: .zero, sendTimeout: .zero) { 0 }
                    daemon.stop()
                    throw error
                }
            } else {
                metricsURL = nil
            }
            (self.core, self.daemon, self.metricsDaemon) = (core, daemon, metricsDaemon)
            url = "http://\(address)"
            ticker = Task {
                while !Task.isCancelled {
                    daemon.endLateConnections()
                    metricsDaemon?.endLateConnections()
                    core.tend()
                    // Ends early only if the task is cancelled.
                    try? await Task.sleep(for: .seconds(1))
                }
            }
            core.log.write("listening", ("url", url))
        }

        /// Stops accepting connections, ends the streams, waits for the requests in progress, and ends
        /// the connections.
        ///
        /// A client of a stream is told to resume later. Requests that take longer than ten seconds get
        /// no response.
        public func close() async { await close(timeout: .seconds(10)) }

        /// - Parameters:
        ///   - timeout: The time that requests in progress get.
        ///   - sendTimeout: The time that clients then get to receive the responses and the ends of the streams.
        func close(timeout: Duration, sendTimeout: Duration = .seconds(2)) async {
            daemon.quiesce()
            metricsDaemon?.quiesce()
            await core.drain(timeout: timeout, sendTimeout: sendTimeout) { daemon.exchangeCount + (metricsDaemon?.exchangeCount ?? 0) }
            ticker.cancel()
            await ticker.value
            daemon.stop()
            metricsDaemon?.stop()
            core.log.write("closed", ("url", url))
        }
    }

    /// Serves the metrics, on a listener of its own.
    private struct MetricsHandler: HTTPHandler {
        let core: ServerCore
        let daemon: HTTPDaemon
        let gate: RequestGate

        init(_ core: ServerCore, _ daemon: HTTPDaemon, _ gate: RequestGate) {
            (self.core, self.daemon, self.gate) = (core, daemon, gate)
        }

        var tooLarge: HTTPResponse { HTTPResponse(WireResponse(.tooLarge)) }
        var busy: HTTPResponse { HTTPResponse(WireResponse(.busy)) }
        func bodyLimit(of head: HTTPHead) -> Int { 0 }

        func check(_ head: HTTPHead) -> HTTPResponse? {
            if let problem = gate.problem(of: head) { return HTTPResponse(WireResponse(problem)) }
            guard head.target == "/metrics" else { return HTTPResponse(WireResponse(.notFound)) }
            guard head.method == "GET" || head.method == "HEAD" else {
                var response = HTTPResponse(WireResponse(.methodNotAllowed))
                response.headers.append(("Allow", "GET, HEAD"))
                return response
            }
            return nil
        }

        func handle(_ request: HTTPRequest, _ exchange: HTTPExchange) {
            Task {
                let text = core.metricsText(connections: daemon.connections.count)
                exchange.respond(
                    HTTPResponse(
                        status: 200, headers: [("Content-Type", "application/openmetrics-text; version=1.0.0; charset=utf-8")],
                        body: .bytes(Array(text.utf8))))
            }
        }
    }
#endif
