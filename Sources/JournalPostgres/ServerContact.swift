#if Postgres
    package import EventJournal
    import Locking

    /// When the servers of a log have answered, and which callers wait for them.
    ///
    /// Behind a lock of its own, which no call of a server holds, so that a program can tell how it
    /// is while they do not answer.
    final class ServerContact: Sendable {
        private struct State {
            var answeredAt = ContinuousClock.now
            /// Since when the caller of each wait has got nothing.
            var waits: [UInt64: ContinuousClock.Instant] = [:]
            var lastWait: UInt64 = 0
        }

        private let state = Lock(State())

        /// Notes that the end of the log was confirmed.
        func noteAnswer() { state.withLock { $0.answeredAt = .now } }

        /// Notes that a caller waits, and returns the number of the wait.
        func beginWait() -> UInt64 {
            state.withLock { state in
                state.lastWait += 1
                state.waits[state.lastWait] = .now
                return state.lastWait
            }
        }

        /// Notes that the caller of a wait got something, and waits for more.
        func continueWait(_ wait: UInt64) { state.withLock { $0.waits[wait] = .now } }

        func endWait(_ wait: UInt64) { state.withLock { $0.waits[wait] = nil } }

        /// Returns when the servers last answered, and since when the oldest wait lasts.
        var times: (answeredAt: ContinuousClock.Instant, waitingSince: ContinuousClock.Instant?) {
            state.withLock { ($0.answeredAt, $0.waits.values.min()) }
        }
    }

    extension PostgresLog {
        /// What the log knows of its servers.
        package var contact: LogContact {
            let (answeredAt, oldest) = database.contact.times
            let commit = state.withLock { $0.commits.first?.appendedAt }
            let waitingSince = if let oldest, let commit { min(oldest, commit) } else { oldest ?? commit }
            return LogContact(
                answeredAt: answeredAt, waitingSince: waitingSince,
                longestSilence: isReadOnly ? LogContact.longestWait : database.options.heartbeatInterval + .seconds(4))
        }
    }
#endif
