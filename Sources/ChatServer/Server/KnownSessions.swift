#if Server
    internal import ChatDomain

    /// The sessions that the server that writes has confirmed.
    struct KnownSessions {
        /// A session is looked up again after this time.
        static let freshness = Duration.seconds(5)
        /// While the writer cannot be reached, a session that it has confirmed remains valid for
        /// this time.
        static let grace = Duration.seconds(300)
        /// The number of sessions that are remembered.
        static let maximumCount = 16_384

        private struct Session {
            let user: UserID
            let confirmed: ContinuousClock.Instant
        }

        private var sessions: [String: Session] = [:]
        /// Counts what was forgotten: the answer to an earlier question may be out of date.
        private(set) var generation = 0

        /// Returns the user of a session that was confirmed less than an age ago; nil if none is
        /// known.
        func user(ofToken token: String, confirmedWithin age: Duration, of now: ContinuousClock.Instant) -> UserID? {
            guard let session = sessions[token], now - session.confirmed < age else { return nil }
            return session.user
        }

        /// Notes the writer's answer: the user of a token, or nil for no session.
        ///
        /// - Parameters:
        ///   - generation: The ``generation`` when the writer was asked. Nothing is noted if
        ///     sessions were forgotten since: this one may have ended after the answer.
        ///   - now: The time at which the writer was asked.
        mutating func note(_ user: UserID?, ofToken token: String, generation: Int, at now: ContinuousClock.Instant) {
            guard let user else {
                sessions[token] = nil
                return
            }
            guard generation == self.generation else { return }
            if sessions.count >= Self.maximumCount, sessions[token] == nil {
                sessions = sessions.filter { now - $0.value.confirmed < Self.freshness }
                if sessions.count >= Self.maximumCount { sessions = [:] }
            }
            sessions[token] = Session(user: user, confirmed: now)
        }

        /// Forgets the sessions of a user, which may have ended.
        mutating func forget(of user: UserID) {
            generation += 1
            sessions = sessions.filter { $0.value.user != user }
        }

        /// Forgets all sessions.
        mutating func forgetAll() {
            generation += 1
            sessions = [:]
        }
    }
#endif
