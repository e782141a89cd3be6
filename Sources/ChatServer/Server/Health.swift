#if Server
    internal import Chat
    internal import ChatAccounts
    internal import ChatWire
    internal import EventJournal
    internal import Locking

    /// What keeps a server from a part of its work: a warning of `/healthz`.
    enum ServerFault: String {
        /// Commands are rejected, because the log has no room.
        case storageFull
        /// What changes accounts and sessions is refused: the disk of their file is full.
        case accountsFull
        /// The same, because the file was removed, renamed or replaced, or cannot be written.
        case accountsFailed
        /// Mails are not delivered.
        case mailFailed
        /// There are as many connections as there may be.
        case connectionsFull

        /// Whether the server refuses what users have a right to.
        ///
        /// A mail can fail for its address alone, and connections become too many by those who
        /// open them.
        var isDegrading: Bool {
            switch self {
            case .storageFull, .accountsFull, .accountsFailed: true
            case .mailFailed, .connectionsFull: false
            }
        }
    }

    /// The answer of `/healthz`: how the server is, from what is known without waiting.
    struct Health: Encodable {
        /// What only a look at the store, the accounts and the connections tells.
        ///
        /// A look can wait, so it is made beside requests.
        struct Look: Sendable {
            var scrub: ScrubProgress?
            var unattendedReportCount = 0
            var faults: [ServerFault] = []
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

        /// `ok`, or `degraded` while answers wait or show what may not be true any more, and while
        /// writes are refused.
        private(set) var status = "ok"
        /// What an operator should look into while the server goes on; absent if there is nothing.
        private(set) var warnings: [String]?
        /// The number of posts with open reports that reach no user; absent if there are none.
        private(set) var unattendedReports: Int?
        /// The whole seconds since all of this was known for certain; absent if it is certain now.
        private(set) var age: Int?

        init(_ look: Look, _ clock: ClockStatus, _ contact: LogContact?, at now: ContinuousClock.Instant) {
            if look.unattendedReportCount > 0 { unattendedReports = look.unattendedReportCount }
            var warnings = look.faults.map(\.rawValue)
            if clock.rejection != nil { warnings.append("clockStepped") }
            if clock.isAhead { warnings.append("clockAhead") }
            if look.scrub?.hasFindings == true { warnings.append("scrubFindings") }
            if let pass = look.scrub?.lastPass, pass.age > Self.longestScrubAge { warnings.append("scrubOverdue") }
            if !warnings.isEmpty { self.warnings = warnings }
            let isLookLate = now - look.at >= Self.longestLookAge
            if isLookLate || contact?.isLate(at: now) == true || look.faults.contains(where: \.isDegrading) {
                status = "degraded"
            }
            let ages = [isLookLate ? now - look.at : nil, contact.map { now - $0.answeredAt }].compactMap(\.self)
            age = ages.max().map { Int(clamping: $0.components.seconds) }
        }
    }

    extension ServerCore {
        /// Looks at what `/healthz` tells; called once a second.
        ///
        /// The log has a line for each change of the status and the warnings.
        ///
        /// - Parameter areConnectionsFull: Whether there are as many as there may be.
        func lookAtHealth(areConnectionsFull: Bool) async {
            var found = Health.Look(store)
            if !store.hasRoom() { found.faults.append(.storageFull) }
            if case .writer(let accounts) = role { found.faults += await accounts.findFaults() }
            if areConnectionsFull { found.faults.append(.connectionsFull) }
            let isNewest = look.withLock { look in
                if found.at < look.at { return false }
                look = found
                return true
            }
            guard isNewest else { return }
            let health = health(found)
            let state = [health.status] + (health.warnings ?? [])
            let hasChanged = loggedHealth.withLock { logged in
                defer { logged = state }
                return logged != state
            }
            guard hasChanged else { return }
            log.write("health", ("status", state[0]), ("warnings", state.dropFirst().joined(separator: " ")))
        }

        private func health(_ look: Health.Look) -> Health {
            Health(look, store.clockStatus, store.logContact, at: .now)
        }

        /// The response of `/healthz`.
        ///
        /// Made on the thread of the connections: it needs no lock that is held while a disk or
        /// another machine is waited for, and no thread of those that wait.
        func healthResponse(_ method: String) throws -> HTTPResponse {
            guard method == "GET" || method == "HEAD" else { return HTTPResponse(WireResponse(allowing: ["GET"])) }
            return HTTPResponse(try WireResponse(json: health(look.withLock { $0 })))
        }
    }
#endif
