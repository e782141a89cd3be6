#if Server
    internal import Locking

    /// The addresses that a server listens on, taken before the server starts.
    ///
    /// A program that ends another server by opening the log takes them first, so that a port that is
    /// in use ends no server. Connections are refused until the server starts. What no server has
    /// taken over is given back with the object.
    public final class ServerListeners: Sendable {
        typealias Listener = (socket: Int32, address: ListenAddress)

        private struct State {
            var requests: Listener?
            var metrics: Listener?
        }

        private let state: Lock<State>

        /// Takes the addresses of a server's options.
        ///
        /// - Throws: `cannotListen`.
        public init(_ options: ServerOptions) throws(ServerError) {
            var state = State(requests: try ListeningSocket.reserve(options.listen))
            do throws(ServerError) {
                state.metrics = try options.metrics.map { address throws(ServerError) in
                    try ListeningSocket.reserve(address)
                }
            } catch {
                if let requests = state.requests { ListeningSocket.close(requests.socket) }
                throw error
            }
            self.state = Lock(state)
        }

        deinit {
            let listeners = state.withLock { [$0.requests, $0.metrics] }
            for case let listener? in listeners { ListeningSocket.close(listener.socket) }
        }

        /// Listens for requests; nil if a server has taken the address.
        func listen() throws(ServerError) -> Listener? { try Self.listen(state.withLock { $0.requests.take() }) }

        /// Listens for requests of the metrics; nil if the options have no address for them.
        func listenForMetrics() throws(ServerError) -> Listener? {
            try Self.listen(state.withLock { $0.metrics.take() })
        }

        private static func listen(_ listener: Listener?) throws(ServerError) -> Listener? {
            guard let listener else { return nil }
            do throws(ServerError) { try ListeningSocket.startListening(listener.socket, at: listener.address) } catch {
                ListeningSocket.close(listener.socket)
                throw error
            }
            return listener
        }
    }
#endif
