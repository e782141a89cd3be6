#if Server
    internal import ChatDomain
    internal import ChatWire
    internal import Locking

    /// The open streams, so that they end with their session, and get heartbeats.
    final class StreamRegistry: Sendable {
        struct Entry: Sendable {
            let mailbox: Mailbox
            /// The user of the session, and its secret, with which it is looked up again; nil for a stream
            /// without an account.
            let session: (user: UserID, token: String)?
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

        /// Adds a stream, and ends it at once if the server is closing; returns its id.
        ///
        /// Then call ``checkSession(of:isValid:)``: the session may have ended after the request was checked,
        /// and who ended it has not seen the stream.
        func add(_ entry: Entry) -> UInt64 {
            let (id, isClosing) = state.withLock { state in
                state.lastID += 1
                state.entries[state.lastID] = entry
                state.checks[state.lastID] = .now + EventStream.heartbeatInterval
                return (state.lastID, state.isClosing)
            }
            if isClosing { end(entry, .closing) }
            return id
        }

        /// Ends a stream if its session has ended; returns whether it has.
        @discardableResult
        func checkSession(of id: UInt64, isValid: (String) async -> Bool) async -> Bool {
            guard let entry = state.withLock({ $0.entries[id] }), let session = entry.session, await !isValid(session.token) else {
                return false
            }
            end(entry, .signedOut)
            return true
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

        /// Ends the streams of a user, or of all users, whose session has ended.
        func checkSessions(of user: UserID? = nil, isValid: (String) async -> Bool) async {
            let ids = state.withLock { state in
                state.entries.filter { $0.value.session != nil && (user == nil || $0.value.session?.user == user) }.map(\.key)
            }
            for id in ids { await checkSession(of: id, isValid: isValid) }
        }

        /// Ends the streams whose session has ended, among those that were not checked for a while; called
        /// once a second.
        func checkDueSessions(at now: ContinuousClock.Instant = .now, isValid: (String) async -> Bool) async {
            let due = state.withLock { state in
                let due = state.checks.filter { $0.value <= now }.map(\.key)
                for id in due { state.checks[id] = now + EventStream.heartbeatInterval }
                return due
            }
            for id in due where await checkSession(of: id, isValid: isValid) { remove(id) }
        }

        /// Writes heartbeats to silent streams, and ends those whose client does not read; called once a
        /// second.
        func tend(at now: ContinuousClock.Instant = .now) {
            for (id, entry) in state.withLock({ $0.entries }) {
                let times = entry.mailbox.idleTimes(at: now)
                if let waits = times.writerWaits, waits > Self.lagLimit {
                    end(entry, .lagged)
                    remove(id)
                } else if let heartbeat = entry.heartbeat, times.sinceWrite > EventStream.heartbeatInterval {
                    entry.mailbox.post(heartbeat)
                }
            }
        }
    }
#endif
