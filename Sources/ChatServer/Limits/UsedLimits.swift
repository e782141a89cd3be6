#if Server
    internal import ChatDomain
    internal import ChatWire
    internal import Locking

    /// How much of its limits each user has used.
    ///
    /// A user has the time at which each allowance is full again (the generic cell rate algorithm,
    /// ITU-T I.371): one number, which needs no work while time passes.
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

        /// Uses parts of a user's allowances: all of them or, if one does not have as much, none.
        ///
        /// - Throws: ``Problem`` with `tooManyRequests` if an allowance is used up, or with
        ///   `tooLarge` if it never has as much.
        func use(
            _ parts: [(name: UserLimits.Name, number: Int)], by user: UserID, at now: ContinuousClock.Instant = .now
        ) throws(Problem) {
            let refusal = state.withLock { state -> (name: UserLimits.Name, wait: Duration?)? in
                state.sweep(at: now)
                let ends = parts.map { part in
                    let time = Duration.seconds(Double(part.number) / Double(limits[part.name]))
                    return (
                        part.name, time, end: max(now, state.fullTimes[Key(user: user, name: part.name)] ?? now) + time
                    )
                }
                for (name, time, end) in ends {
                    let saved = Self.saved(name)
                    guard end - now > saved else { continue }
                    state.refusedCounts[name, default: 0] += 1
                    return (name, time > saved ? nil : end - now - saved)
                }
                for (name, _, end) in ends { state.fullTimes[Key(user: user, name: name)] = end }
                return nil
            }
            guard let (name, wait) = refusal else { return }
            guard let wait else {
                throw .limitedAtOnce(name, by: Int(Double(limits[name]) * (Self.saved(name) / .seconds(1))))
            }
            throw .limited(name, by: limits[name], after: wait)
        }

        /// Uses the allowances that commands need.
        func use(by commands: ClientCommands, of user: UserID) throws(Problem) {
            let kinds = commands.requests.map(\.command.kind)
            let parts: [(name: UserLimits.Name, number: Int)] = [
                (.threads, kinds.count { $0 == .openThread || $0 == .openDirect }),
                (.invitations, kinds.count { $0 == .invite }),
                (.sanctions, kinds.count { [.mute, .unmute, .ban, .unban, .removeMember].contains($0) }),
                (.commands, kinds.count),
            ]
            try use(parts.filter { $0.number > 0 }, by: user)
        }

        /// Throws if the queries of a user have cost what they may; the last one may have cost
        /// more.
        func requireQueries(by user: UserID, at now: ContinuousClock.Instant = .now) throws(Problem) {
            let wait = state.withLock { state -> Duration? in
                guard let fullTime = state.fullTimes[Key(user: user, name: .queries)] else { return nil }
                let wait = fullTime - now - Self.saved(.queries)
                guard wait >= .zero else { return nil }
                state.refusedCounts[.queries, default: 0] += 1
                return wait
            }
            if let wait { throw .limited(.queries, by: limits[.queries], after: wait) }
        }

        /// Uses up what a query has cost, which is known after it; a second at most, so that
        /// the wait for a database is not charged to users.
        func charge(_ duration: Duration, to user: UserID, at now: ContinuousClock.Instant = .now) {
            state.withLock { state in
                state.sweep(at: now)
                let key = Key(user: user, name: .queries)
                let duration = min(duration, .seconds(1))
                // The limit is a number of milliseconds in a second.
                state.fullTimes[key] = max(now, state.fullTimes[key] ?? now) + duration * 1_000 / limits[.queries]
            }
        }

        /// The time for which what is not used is saved.
        private static func saved(_ name: UserLimits.Name) -> Duration { .seconds(UserLimits.savedSeconds[name] ?? 1) }

        /// Checks the number of streams that a user has.
        func requireStream(beside count: Int) throws(Problem) {
            if count >= limits[.streams] { throw refusal(.streams) }
        }

        /// Counts a refusal, and returns its problem, of a limit of what exists at once.
        func refusal(_ name: UserLimits.Name) -> Problem {
            state.withLock { $0.refusedCounts[name, default: 0] += 1 }
            return .limited(name, by: limits[name], after: .seconds(1))
        }
    }

    extension Problem {
        fileprivate static func limitedAtOnce(_ name: UserLimits.Name, by count: Int) -> Problem {
            Problem(413, .tooLarge, "You can send at most \(count) \(name.rawValue) at once.")
        }

        fileprivate static func limited(_ name: UserLimits.Name, by limit: Int, after wait: Duration) -> Problem {
            let seconds = max(1, Int((wait / .seconds(1)).rounded(.up)))
            let unit =
                switch name {
                case .streams, .follows: "\(name.rawValue) at once"
                case .queries: "milliseconds of queries in a second"
                default: "\(name.rawValue) in a second"
                }
            return Problem(429, .tooManyRequests, "You have used up your \(limit) \(unit).", retryAfter: seconds)
        }
    }
#endif
