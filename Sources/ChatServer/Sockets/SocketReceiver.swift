#if Server
    /// What one WebSocket does with its messages; called on the thread of the loop.
    protocol SocketReceiver: Sendable {
        /// The bytes of the messages that are received, wait or are carried out.
        var messages: HeldMemory { get }
        /// Receives a text or binary message, whose bytes it gives back to ``messages``; returns
        /// false while no more can be received.
        func receive(_ message: [UInt8]) -> Bool
        /// The connection has ended; can be called again.
        func didClose()
    }
#endif
