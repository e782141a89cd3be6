#if Server
    internal import ChatAccounts
    internal import ChatDomain
    internal import ChatWire
    internal import Locking

    /// The open streams, so that they end with their session, and get heartbeats.
    final class StreamRegistry: Sendable {
        struct Entry: Sendable {
            let mailbox: Mailbox
            let session: AccountSession
            /// The secret of the session, with which it is looked up again.
            let token: String
            let task: Task<Void, Never>
        }

        private struct State {
            var entries: [UInt64: Entry] = [:]
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
                return state.lastID
            }
        }

        /// Removes a stream and ends its task.
        func remove(_ id: UInt64) { state.withLock { $0.entries.removeValue(forKey: id) }?.task.cancel() }

        /// Ends streams, with the reason as their last block.
        func end(_ reason: EventStream.End, where isIncluded: (Entry) -> Bool = { _ in true }) {
            let ended = state.withLock { state in state.entries.values.filter(isIncluded) }
            for entry in ended {
                entry.mailbox.end(EventStream.block(reason))
                entry.task.cancel()
            }
        }

        /// Writes heartbeats to silent streams, and ends those whose client does not read or whose
        /// session has ended; called once a second.
        ///
        /// - Parameter isValid: Whether a token still belongs to a session.
        func tend(isValid: (String) -> Bool, ended: (EventStream.End) -> Void) {
            for (id, entry) in state.withLock({ $0.entries }) {
                let times = entry.mailbox.idleTimes()
                var reason: EventStream.End?
                if let waits = times.writerWaits, waits > Self.lagLimit {
                    reason = .lagged
                } else if times.sinceWrite > EventStream.heartbeatInterval, times.writerWaits == nil {
                    if isValid(entry.token) { entry.mailbox.post(EventStream.heartbeat) } else { reason = .signedOut }
                }
                guard let reason else { continue }
                entry.mailbox.end(EventStream.block(reason))
                remove(id)
                ended(reason)
            }
        }
    }
#endif
