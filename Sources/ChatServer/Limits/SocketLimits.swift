#if Server
    /// The limits of the WebSockets of a server.
    struct SocketLimits: Sendable {
        /// The bytes of one message of a client.
        var messageByteCount = 1 << 20
        /// The time between two pings.
        var pingInterval = Duration.seconds(20)
        /// A peer that sends nothing for this time, not even a pong, is gone.
        var silence = Duration.seconds(60)
        /// The time that a peer gets to read the last messages, and then to answer a close.
        var closing = Duration.seconds(5)
    }
#endif
