#if Server
    internal import ChatAccounts
    internal import ChatDomain
    internal import ChatWire
    internal import Locking

    /// The open streams, so that they end with their session, and get heartbeats.
    final class StreamRegistry: Sendable {
        struct Entry: Sendable {
            let mailbox: Mailbox
            /// The session, and its secret, with which it is looked up again; nil for a stream without an
            /// account.
            let session: (session: AccountSession, token: String)?
            /// What the end of the session, or of the server, stops.
            let stop: @Sendable () -> Void
            /// The last message, for the reason of the end.
            let lastMessage: @Sendable (EventStream.End) -> [UInt8]
            /// What is written to a silent stream; nil if the transport has pings of its own.
            let heartbeat: [UInt8]?
        }

        private struct State {
            var entries: [UInt64: Entry] = [:]
            /// The times at which the sessions are looked up again.
            var checks: [UInt64: ContinuousClock.Instant] = [:]
            var lastID: UInt64 = 0
        }

        /// A client that has not read for this time is told to resume.
        private static let lagLimit = Duration.seconds(30)

        private let state = Lock(State())

        var count: Int { state.withLock { $0.entries.count } }

        /// Adds a stream; returns its id.
        func add(_ entry: Entry) -> UInt64 {
            state.withLock { state in
                state.lastID += 1
                state.entries[state.lastID] = entry
                state.checks[state.lastID] = .now + EventStream.heartbeatInterval
                return state.lastID
            }
        }

        /// Removes a stream and ends its task.
        func remove(_ id: UInt64) {
            let removed = state.withLock { state in
                state.checks[id] = nil
                return state.entries.removeValue(forKey: id)
            }
            removed?.stop()
        }

        /// Ends streams, with the reason as their last block.
        func end(_ reason: EventStream.End, where isIncluded: (Entry) -> Bool = { _ in true }) {
            let ended = state.withLock { state in state.entries.values.filter(isIncluded) }
            for entry in ended {
                entry.mailbox.end(entry.lastMessage(reason))
                entry.stop()
            }
        }

        /// Writes heartbeats to silent streams, and ends those whose client does not read or whose
        /// session has ended; called once a second.
        ///
        /// - Parameter isValid: Whether a token still belongs to a session.
        func tend(isValid: (String) -> Bool, ended: (EventStream.End) -> Void) {
            let now = ContinuousClock.now
            let (entries, due) = state.withLock { state in
                let due = state.checks.filter { $0.value <= now }
                for id in due.keys { state.checks[id] = now + EventStream.heartbeatInterval }
                return (state.entries, due)
            }
            for (id, entry) in entries {
                let times = entry.mailbox.idleTimes()
                var reason: EventStream.End?
                if let waits = times.writerWaits, waits > Self.lagLimit {
                    reason = .lagged
                } else if due[id] != nil, let session = entry.session, !isValid(session.token) {
                    reason = .signedOut
                } else if let heartbeat = entry.heartbeat, times.sinceWrite > EventStream.heartbeatInterval {
                    entry.mailbox.post(heartbeat)
                }
                guard let reason else { continue }
                entry.mailbox.end(entry.lastMessage(reason))
                remove(id)
                ended(reason)
            }
        }
    }
#endif
