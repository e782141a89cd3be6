#if Client || canImport(SQLite3)
    public import ChatDomain
    public import ChatLive

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
        /// The account was deleted, on this device or another one.
        ///
        /// Everything of the user has left the copy, with the outbox;
        /// ``ChatClient/removeCopy(discardsOutbox:)`` removes what is left of it.
        case accountDeleted
        /// The server has another journal than the local copy, or an earlier state of it.
        ///
        /// The copy and the outbox stay as they are, and nothing is sent.
        /// ``ChatClient/startOver()`` forgets the copy, and sends the outbox to the journal that
        /// the server has now.
        case anotherHistory
        /// The local copy cannot be read or written, and the path of its file.
        ///
        /// A full disk stops no client: it waits, and goes on when there is room.
        case storage(ClientError.Storage, file: String? = nil)
    }

    extension StopReason: ChatFailure {
        /// Nil: no rule of the chat is concerned.
        public var rejection: Rejection? { nil }

        /// The code and a sentence for people.
        public var description: String {
            switch self {
            case .signedOut: ClientError.signedOut.description
            case .accountDeleted: ClientError.accountDeleted.description
            case .anotherHistory: "anotherHistory: The server has another journal than the copy on this device."
            case .storage(let storage, let file): ClientError.storage(storage, file: file).description
            }
        }
    }
#endif
