#if Server
    internal import ChatAccounts
    internal import Locking

    /// The connections of a daemon: their addresses, and how long each may take for what it is
    /// doing.
    ///
    /// The library ends a connection that is silent. This table also ends one that sends a byte now
    /// and then, and counts the connections of each address.
    final class ConnectionTable: Sendable {
        /// What a connection is doing.
        enum Phase: Sendable {
            /// No request has begun.
            case idle
            /// The request line has been read, the headers have not.
            case headers
            case body
            /// The response is sent.
            case response
            /// A task responds, or a stream is open; these have limits of their own.
            case unlimited

            /// The longest time that a connection may stay in the phase.
            var limit: Duration? {
                switch self {
                case .idle: .seconds(75)
                case .headers: .seconds(10)
                case .body: .seconds(30)
                case .response: .seconds(120)
                case .unlimited: nil
                }
            }
        }

        private struct Entry {
            let socket: Int32
            let peer: ClientAddress?
            var phase = Phase.idle
            var since = ContinuousClock.now
            var target = ""
        }

        private struct State {
            var entries: [UInt: Entry] = [:]
            var counts: [ClientAddress: Int] = [:]
            var lastID: UInt = 0
            var isClosed = false
        }

        private let maximumPerAddress: Int
        private let isExempt: @Sendable (ClientAddress) -> Bool
        private let state = Lock(State())

        init(maximumPerAddress: Int, isExempt: @escaping @Sendable (ClientAddress) -> Bool) {
            (self.maximumPerAddress, self.isExempt) = (maximumPerAddress, isExempt)
        }

        var count: Int { state.withLock { $0.entries.count } }

        /// Whether a connection from an address is accepted; one without an address has no limit.
        func mayConnect(_ peer: ClientAddress?) -> Bool {
            let hasLimit = peer.map { !isExempt($0) } ?? false
            return state.withLock { state in
                guard !state.isClosed else { return false }
                return !hasLimit || peer.map { state.counts[$0, default: 0] < maximumPerAddress } ?? true
            }
        }

        /// Accepts no connection from now on.
        func close() { state.withLock { $0.isClosed = true } }

        /// Adds a connection; returns its id, which is not 0.
        func add(socket: Int32, peer: ClientAddress?) -> UInt {
            state.withLock { state in
                state.lastID += 1
                state.entries[state.lastID] = Entry(socket: socket, peer: peer)
                if let peer { state.counts[peer, default: 0] += 1 }
                return state.lastID
            }
        }

        func remove(_ id: UInt) {
            state.withLock { state in
                guard let entry = state.entries.removeValue(forKey: id), let peer = entry.peer else { return }
                let count = state.counts[peer, default: 1] - 1
                state.counts[peer] = count == 0 ? nil : count
            }
        }

        func beginRequest(_ id: UInt, target: String) {
            enter(.headers, id)
            state.withLock { $0.entries[id]?.target = target }
        }

        /// Returns the target of the request and the address of the connection.
        func request(of id: UInt) -> (target: String, peer: ClientAddress?) {
            state.withLock { ($0.entries[id]?.target ?? "", $0.entries[id]?.peer) }
        }

        func beginBody(_ id: UInt) { enter(.body, id) }

        func beginHandling(_ id: UInt) { enter(.unlimited, id) }

        func beginResponse(_ id: UInt, isStream: Bool) { enter(isStream ? .unlimited : .response, id) }

        func endRequest(_ id: UInt) { enter(.idle, id) }

        private func enter(_ phase: Phase, _ id: UInt) {
            state.withLock { state in
                state.entries[id]?.phase = phase
                state.entries[id]?.since = .now
            }
        }

        /// Calls the closure with the socket of each connection that is past its time.
        ///
        /// Under the lock: a socket is closed only after its connection is removed.
        func endLate(at now: ContinuousClock.Instant = .now, _ end: (Int32) -> Void) {
            state.withLock { state in
                for entry in state.entries.values {
                    if let limit = entry.phase.limit, now - entry.since > limit { end(entry.socket) }
                }
            }
        }
    }
#endif
