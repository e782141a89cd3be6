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
            var isClosing = false
        }

        /// A client that has not read for this time is told to resume.
        private static let lagLimit = Duration.seconds(30)

        private let state = Lock(State())
        private let didEnd: @Sendable (EventStream.End) -> Void

        /// Creates a registry; the closure receives the reason of each stream that it ends.
        init(didEnd: @escaping @Sendable (EventStream.End) -> Void) { self.didEnd = didEnd }

        var count: Int { state.withLock { $0.entries.count } }

        /// Adds a stream; returns its id.
        ///
        /// Ends it at once if the server is closing, or if its session has ended after the request was
        /// checked: an ``end(_:where:)`` before the addition has not seen the stream.
        func add(_ entry: Entry, isValid: (String) -> Bool) -> UInt64 {
            let (id, isClosing) = state.withLock { state in
                state.lastID += 1
                state.entries[state.lastID] = entry
                state.checks[state.lastID] = .now + EventStream.heartbeatInterval
                return (state.lastID, state.isClosing)
            }
            if isClosing {
                end(entry, .closing)
            } else if let session = entry.session, !isValid(session.token) {
                end(entry, .signedOut)
            }
            return id
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
        func end(_ reason: EventStream.End, where isIncluded: (Entry) -> Bool) {
            // Not under the lock: the condition may read the accounts.
            for entry in state.withLock({ Array($0.entries.values) }) where isIncluded(entry) { end(entry, reason) }
        }

        /// Ends all streams, also those that are added later, because the server closes.
        func close() {
            state.withLock { $0.isClosing = true }
            end(.closing) { _ in true }
        }

        private func end(_ entry: Entry, _ reason: EventStream.End) {
            if entry.mailbox.end(entry.lastMessage(reason)) { didEnd(reason) }
            entry.stop()
        }

        /// Writes heartbeats to silent streams, and ends those whose client does not read or whose
        /// session has ended; called once a second.
        ///
        /// - Parameter isValid: Whether a token still belongs to a session.
        func tend(at now: ContinuousClock.Instant = .now, isValid: (String) -> Bool) {
            let (entries, due) = state.withLock { state in
                let due = state.checks.filter { $0.value <= now }
                for id in due.keys { state.checks[id] = now + EventStream.heartbeatInterval }
                return (state.entries, due)
            }
            for (id, entry) in entries {
                let times = entry.mailbox.idleTimes(at: now)
                var reason: EventStream.End?
                if let waits = times.writerWaits, waits > Self.lagLimit {
                    reason = .lagged
                } else if due[id] != nil, let session = entry.session, !isValid(session.token) {
                    reason = .signedOut
                } else if let heartbeat = entry.heartbeat, times.sinceWrite > EventStream.heartbeatInterval {
                    entry.mailbox.post(heartbeat)
                }
                guard let reason else { continue }
                end(entry, reason)
                remove(id)
            }
        }
    }
#endif
