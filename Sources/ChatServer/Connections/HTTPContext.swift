#if Server
    /// What the connections of a loop share; it belongs to the thread of the loop.
    final class HTTPContext {
        let handler: any HTTPHandler
        let signals: LoopSignals
        let socketLimits: SocketLimits
        let messageBudget: MessageBudget
        /// The time of the present round of the loop.
        var now = ContinuousClock.now
        /// Whether there are as many connections as there may be.
        var isFull = false
        /// The value of the header `Date`.
        var date = ""
        /// The memory of the bodies that are being read.
        var bodies = ClientBudget.bodies

        init(
            _ handler: any HTTPHandler, _ signals: LoopSignals, _ socketLimits: SocketLimits,
            _ messageBudget: MessageBudget
        ) {
            (self.handler, self.signals, self.socketLimits, self.messageBudget) = (
                handler, signals, socketLimits, messageBudget
            )
        }
    }
#endif
