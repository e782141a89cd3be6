#if Server
    internal import ChatDomain
    internal import ChatWire
    internal import Locking

    /// How much of its limits each user has used.
    ///
    /// A user has the time at which each allowance is full again (the generic cell rate algorithm, ITU-T
    /// I.371): one number, which needs no work while time passes.
    final class UsedLimits: Sendable {
        private struct Key: Hashable {
            let user: UserID
            let name: UserLimits.Name
        }

        private struct State {
            /// The times at which allowances are full again.
            var fullTimes: [Key: ContinuousClock.Instant] = [:]
            var refusedCounts: [UserLimits.Name: UInt64] = [:]
            /// The number of allowances from which those that are full are forgotten.
            var sweepCount = UsedLimits.minimumSweepCount

            /// Forgets allowances that are full: each use pays for a part of it.
            mutating func sweep(at now: ContinuousClock.Instant) {
                guard fullTimes.count >= sweepCount else { return }
                fullTimes = fullTimes.filter { $0.value > now }
                sweepCount = max(UsedLimits.minimumSweepCount, 2 * fullTimes.count)
            }
        }

        private static let minimumSweepCount = 16_384

        let limits: UserLimits
        private let state = Lock(State())

        init(_ limits: UserLimits) { self.limits = limits }

        /// The number of allowances that are not full, and some that are.
        var allowanceCount: Int { state.withLock { $0.fullTimes.count } }

        /// The requests that each limit has refused.
        var refusedCounts: [UserLimits.Name: UInt64] { state.withLock { $0.refusedCounts } }

        /// Uses a number of a user's allowance; the last use may exceed it, and the next ones then wait.
        ///
        /// - Throws: ``Problem`` with `tooManyRequests` if it is used up.
        func use(_ number: Double, of name: UserLimits.Name, by user: UserID, at now: ContinuousClock.Instant = .now) throws(Problem) {
            let wait = state.withLock { state -> Duration? in
                if number > 0 { state.sweep(at: now) }
                let key = Key(user: user, name: name)
                let start = max(now, state.fullTimes[key] ?? now)
                let excess = start - now - .seconds(UserLimits.savedSeconds[name] ?? 1)
                if excess >= .zero {
                    state.refusedCounts[name, default: 0] += 1
                    return excess
                }
                if number > 0 { state.fullTimes[key] = start + .seconds(number / Double(limits[name])) }
                return nil
            }
            if let wait { throw .limited(name, by: limits[name], after: max(1, Int((wait / .seconds(1)).rounded(.up)))) }
        }

        /// Uses up what a query has cost, which is known after it.
        func charge(_ duration: Duration, to user: UserID) {
            let (seconds, attoseconds) = duration.components
            // The query is done; the next one is refused.
            try? use(Double(seconds) * 1_000 + Double(attoseconds) / 1e15, of: .queries, by: user)
        }

        /// Uses the allowances that commands need.
        func use(by commands: ClientCommands, of user: UserID) throws(Problem) {
            let kinds = commands.requests.map(\.command.kind)
            let counts: [(UserLimits.Name, Int)] = [
                (.threads, kinds.count { $0 == .openThread }), (.invitations, kinds.count { $0 == .invite }), (.commands, kinds.count),
            ]
            // Nothing is used for commands that are refused.
            for (name, count) in counts where count > 0 { try use(0, of: name, by: user) }
            for (name, count) in counts where count > 0 { try use(Double(count), of: name, by: user) }
        }

        /// Checks the number of streams that a user has.
        func requireStream(beside count: Int) throws(Problem) {
            guard count >= limits[.streams] else { return }
            state.withLock { $0.refusedCounts[.streams, default: 0] += 1 }
            throw .limited(.streams, by: limits[.streams], after: 1)
        }
    }

    extension Problem {
        fileprivate static func limited(_ name: UserLimits.Name, by limit: Int, after seconds: Int) -> Problem {
            let unit =
                switch name {
                case .streams: "streams at once"
                case .queries: "milliseconds of queries in a second"
                default: "\(name.rawValue) in a second"
                }
            return Problem(429, .tooManyRequests, "You have used up your \(limit) \(unit).", retryAfter: seconds)
        }
    }
#endif
