#if Server
    internal import Chat
    internal import ChatWire
    internal import EventJournal
    internal import Locking

    /// The answer of `/healthz`: how the server is, from what is known without waiting.
    struct Health: Encodable {
        /// What only a look at the store tells.
        ///
        /// A look can wait, so it is made beside requests.
        struct Look: Sendable {
            var scrub: ScrubProgress?
            var unattendedReportCount = 0
            var at = ContinuousClock.now

            init() {}

            init(_ store: ChatStore) {
                (scrub, unattendedReportCount) = (store.scrubProgress, store.unattendedReportCount)
            }
        }

        /// Two weeks in milliseconds: `serve` scrubs each week.
        private static let longestScrubAge: UInt64 = 14 * 86_400_000
        /// The longest time between two looks while all is well; each second there is one.
        private static let longestLookAge = Duration.seconds(5)

        /// `ok`, or `degraded` while answers wait or show what may not be true any more.
        private(set) var status = "ok"
        /// What an operator should look into while the server goes on; absent if there is nothing.
        private(set) var warnings: [String]?
        /// The number of posts with open reports that reach no user; absent if there are none.
        private(set) var unattendedReports: Int?
        /// The whole seconds since all of this was known for certain; absent if it is certain now.
        private(set) var age: Int?

        init(_ look: Look, _ clock: ClockStatus, _ contact: LogContact?, at now: ContinuousClock.Instant) {
            if look.unattendedReportCount > 0 { unattendedReports = look.unattendedReportCount }
            var warnings: [String] = []
            if clock.rejection != nil { warnings.append("clockStepped") }
            if clock.isAhead { warnings.append("clockAhead") }
            if look.scrub?.hasFindings == true { warnings.append("scrubFindings") }
            if let pass = look.scrub?.lastPass, pass.age > Self.longestScrubAge { warnings.append("scrubOverdue") }
            if !warnings.isEmpty { self.warnings = warnings }
            let isLookLate = now - look.at >= Self.longestLookAge
            if isLookLate || contact?.isLate(at: now) == true { status = "degraded" }
            let ages = [isLookLate ? now - look.at : nil, contact.map { now - $0.answeredAt }].compactMap(\.self)
            age = ages.max().map { Int(clamping: $0.components.seconds) }
        }
    }

    extension ServerCore {
        /// Looks at what `/healthz` tells of the store; called once a second.
        func lookAtStore() {
            let found = Health.Look(store)
            look.withLock { $0 = found }
        }

        /// The response of `/healthz`.
        ///
        /// Made on the thread of the connections: it needs no lock that is held while a disk or
        /// another machine is waited for, and no thread of those that wait.
        func healthResponse(_ method: String) throws -> HTTPResponse {
            guard method == "GET" || method == "HEAD" else { return HTTPResponse(WireResponse(allowing: ["GET"])) }
            let health = Health(look.withLock { $0 }, store.clockStatus, store.logContact, at: .now)
            return HTTPResponse(try WireResponse(json: health))
        }
    }
#endif
