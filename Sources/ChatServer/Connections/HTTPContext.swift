#if Server
    internal import ChatAccounts

    /// What the connections of a loop share; it belongs to the thread of the loop.
    final class HTTPContext {
        let handler: any HTTPHandler
        let signals: LoopSignals
        let socketLimits: SocketLimits
        /// The account of what clients hold.
        let memory: ClientMemory
        /// The client of a connection whose requests have not said who they are.
        let client: @Sendable (ClientAddress?) -> Client
        /// The time of the present round of the loop.
        var now = ContinuousClock.now
        /// Whether there are as many connections as there may be.
        var isFull = false
        /// The value of the header `Date`.
        var date = ""

        init(
            _ handler: any HTTPHandler, _ signals: LoopSignals, _ socketLimits: SocketLimits, _ memory: ClientMemory,
            client: @escaping @Sendable (ClientAddress?) -> Client = { _ in .shared }
        ) {
            (self.handler, self.signals, self.socketLimits, self.memory, self.client) = (
                handler, signals, socketLimits, memory, client
            )
        }
    }
#endif
