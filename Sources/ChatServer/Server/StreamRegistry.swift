#if Server
    internal import ChatDomain
    internal import ChatWire
    internal import Locking

    /// The open streams, so that they end with their session, and get heartbeats.
    final class StreamRegistry: Sendable {
        struct Entry: Sendable {
            let mailbox: Mailbox
            /// The user of the session, and its secret, with which it is looked up again; nil for a
            /// stream without an account.
            let session: (user: UserID, token: String)?
            /// Stops what writes the stream, and calls the closure when nothing more has to be
            /// written.
            let stop: @Sendable (_ then: @escaping @Sendable () -> Void) -> Void
            /// The last message, for the reason of the end.
            let lastMessage: @Sendable (EventStream.End) -> [UInt8]
            /// What is written to a silent stream; nil if the transport has pings of its own.
            let heartbeat: [UInt8]?
        }

        private struct State {
            var entries: [UInt64: Entry] = [:]
            /// The number of streams of each user.
            var counts: [UserID: Int] = [:]
            /// The times at which the sessions are looked up again.
            var checks: [UInt64: ContinuousClock.Instant] = [:]
            var lastID: UInt64 = 0
            /// Why every stream ends; nil while the server runs.
            var closing: EventStream.End?
        }

        /// The time between two look-ups of a session.
        private static let sessionCheckInterval = Duration.seconds(15)
        /// A client that has not read for this time is told to resume.
        private static let lagLimit = Duration.seconds(30)

        /// The sessions that are looked up at once: each look-up can wait for the writer.
        private static let concurrentLookups = 32

        private let state = Lock(State())
        private let didEnd: @Sendable (EventStream.End) -> Void

        /// Creates a registry; the closure receives the reason of each stream that it ends.
        init(didEnd: @escaping @Sendable (EventStream.End) -> Void) { self.didEnd = didEnd }

        var count: Int { state.withLock { $0.entries.count } }

        /// The number of a user's streams.
        func count(of user: UserID) -> Int { state.withLock { $0.counts[user, default: 0] } }

        /// Adds a stream, and ends it at once if the server is closing; returns its id.
        ///
        /// Then call ``checkSession(of:validity:)``: the session may have ended after the request
        /// was checked, and who ended it has not seen the stream.
        func add(_ entry: Entry) -> UInt64 {
            let (id, closing) = state.withLock { state in
                state.lastID += 1
                state.entries[state.lastID] = entry
                if let user = entry.session?.user { state.counts[user, default: 0] += 1 }
                state.checks[state.lastID] = .now + Self.sessionCheckInterval
                return (state.lastID, state.closing)
            }
            if let closing { end(entry, closing) }
            return id
        }

        /// Ends a stream if its session has ended, or is not known any more.
        func checkSession(of id: UInt64, validity: Lookup) async {
            guard let entry = state.withLock({ $0.entries[id] }), let session = entry.session else { return }
            await end([entry], asFoundFor: session.token, validity)
        }

        /// Ends streams of a session if it has ended, or is not known any more; returns whether it
        /// did.
        @discardableResult
        private func end(_ entries: [Entry], asFoundFor token: String, _ validity: Lookup) async -> Bool {
            let reason: EventStream.End
            switch await validity(token) {
            case .valid: return false
            case .ended: reason = .signedOut
            // The client connects again, and learns that the writer cannot be reached.
            case .unknown: reason = .closing
            }
            for entry in entries { end(entry, reason) }
            return true
        }

        /// Looks up a session.
        typealias Lookup = @Sendable (String) async -> SessionValidity

        /// Removes a stream and ends its task.
        func remove(_ id: UInt64) {
            let removed = state.withLock { state in
                state.checks[id] = nil
                let entry = state.entries.removeValue(forKey: id)
                if let user = entry?.session?.user, let count = state.counts[user] {
                    state.counts[user] = count == 1 ? nil : count - 1
                }
                return entry
            }
            removed?.stop {}
        }

        /// Ends streams, with the reason as their last block.
        func end(_ reason: EventStream.End, where isIncluded: (Entry) -> Bool) {
            for entry in state.withLock({ Array($0.entries.values) }) where isIncluded(entry) { end(entry, reason) }
        }

        /// Ends all streams, also those that are added later, because the server closes.
        func close(_ reason: EventStream.End) {
            state.withLock { $0.closing = reason }
            end(reason) { _ in true }
        }

        private func end(_ entry: Entry, _ reason: EventStream.End) {
            let end = { @Sendable [didEnd] in if entry.mailbox.end(entry.lastMessage(reason)) { didEnd(reason) } }
            // A client that does not read gets no answer any more.
            if reason == .lagged { end() }
            entry.stop(end)
        }

        /// Ends the streams of a user, or of all users, whose session has ended.
        func checkSessions(of user: UserID? = nil, validity: @escaping Lookup) async {
            let ids = state.withLock { state in
                state.entries.filter { $0.value.session != nil && (user == nil || $0.value.session?.user == user) }.map(
                    \.key)
            }
            await checkSessions(ofStreams: ids, validity)
        }

        /// Looks up the session of each stream, several sessions at a time and each one once;
        /// returns the streams that it has ended.
        @discardableResult
        private func checkSessions(ofStreams ids: [UInt64], _ validity: @escaping Lookup) async -> [UInt64] {
            let streams = state.withLock { state in
                ids.reduce(into: [String: [UInt64: Entry]]()) { streams, id in
                    if let entry = state.entries[id], let session = entry.session {
                        streams[session.token, default: [:]][id] = entry
                    }
                }
            }
            return await withTaskGroup(of: [UInt64].self) { group in
                var (ended, count) = ([UInt64](), 0)
                for (token, entries) in streams {
                    if count == Self.concurrentLookups { ended += await group.next() ?? [] } else { count += 1 }
                    group.addTask {
                        await self.end(Array(entries.values), asFoundFor: token, validity) ? Array(entries.keys) : []
                    }
                }
                return await group.reduce(into: ended) { $0 += $1 }
            }
        }

        /// Ends the streams whose session has ended, among those that were not checked for a while;
        /// called once a second.
        func checkDueSessions(at now: ContinuousClock.Instant = .now, validity: @escaping Lookup) async {
            let due = state.withLock { state in
                let due = state.checks.filter { $0.value <= now }.map(\.key)
                for id in due { state.checks[id] = now + Self.sessionCheckInterval }
                return due
            }
            for id in await checkSessions(ofStreams: due, validity) { remove(id) }
        }

        /// Writes heartbeats to silent streams, ends those whose client does not read, and lets
        /// those go on whose client has memory again; called once a second.
        func checkStreams(at now: ContinuousClock.Instant = .now) {
            for (id, entry) in state.withLock({ $0.entries }) {
                let times = entry.mailbox.idleTimes(at: now)
                if let waits = times.writerWaits, waits > Self.lagLimit {
                    end(entry, .lagged)
                    remove(id)
                } else if let heartbeat = entry.heartbeat, times.sinceWrite > EventStream.heartbeatInterval {
                    entry.mailbox.post(heartbeat)
                }
                entry.mailbox.retry()
            }
        }
    }
#endif
