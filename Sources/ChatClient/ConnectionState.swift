#if Client || canImport(SQLite3)
    /// Whether a client follows its server.
    public enum ConnectionState: Hashable, Sendable {
        /// The client was not told to connect, or was told to stop.
        case idle
        /// The client connects.
        case connecting
        /// What the server records arrives here.
        case connected
        /// The server cannot be reached; the client tries again by itself, after the duration.
        case waiting(ClientError, Duration)
        /// The client has stopped, and trying again would not help.
        case stopped(StopReason)
    }

    /// Why a client has stopped.
    public enum StopReason: Hashable, Sendable {
        /// The session has ended: sign in again.
        case signedOut
        /// The server has another journal than the local copy, or an earlier state of it.
        ///
        /// The copy and the outbox stay as they are, and nothing is sent. ``ChatClient/startOver()`` forgets the copy, and sends the
        /// outbox to the journal that the server has now.
        case anotherHistory
        /// The local copy cannot be read or written.
        case storage(ClientError.Storage)
    }
#endif
