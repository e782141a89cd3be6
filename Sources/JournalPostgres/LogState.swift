#if Postgres
    import EventJournal
    import Primitives

    /// The state of a log in memory: its end, the commits that are not durable yet, and who waits.
    struct LogState: LogWriterState, LogReaderState {
        let address: String
        /// The last commit that was appended, and the last durable one.
        private(set) var last: JournalHead
        private(set) var durable: JournalHead
        /// The commits after the durable ones, in order; the first ones may be in transit.
        private(set) var commits: [Commit] = []
        private var unconfirmedByteCount = 0
        /// The last announced position.
        private var announced: Position
        /// The earliest time of the next announcement.
        private var announcementTime = ContinuousClock.now
        /// Whether ``PostgresLog`` has scheduled to send, and to announce.
        private var isSendScheduled = false
        private var isAnnouncementScheduled = false
        var entropy = EntropyPool(SystemEntropy())
        var waiters = SyncQueue()
        var followers = WaitQueue()
        /// Why no later record will come to a log that is open for reading; nil if one may.
        private var end: JournalError?
        var hiddenContent = PositionSet()
        private(set) var failure: JournalError?
        private(set) var isClosed = false
        /// Whether the log is closing: it accepts no appends, and waits for those that it has
        /// accepted.
        private var rejectsAppends = false
        var isFailureReported = false

        /// The bytes of commits that may wait for the database.
        static let maximumUnconfirmedByteCount = 128 << 20
        /// The bytes of commits at which a transaction ends.
        static let transactionByteCount = 8 << 20
        /// The pause between two announcements: at most twenty a second, because a server makes
        /// those of all its logs one after another.
        static let announcementPause = Duration.milliseconds(50)
        /// The pause before the first announcement after a quiet time, which more commits may
        /// share.
        private static let firstAnnouncementPause = Duration.milliseconds(1)
        /// The pause after an announcement that the database did not get.
        private static let announcementRetryPause = Duration.seconds(1)

        init(_ head: JournalHead, address: String) {
            (last, durable, announced, self.address) = (head, head, head.position, address)
        }

        /// Throws `closed` after the log was closed.
        func checkOpen() throws(JournalError) {
            if isClosed { throw closed }
        }

        private var closed: JournalError { JournalError(.closed, "The log has been closed.", path: address) }

        /// Throws the error that has ended the log.
        func checkRunning() throws(JournalError) {
            try checkOpen()
            if let failure { throw failure }
        }

        mutating func append(_ draft: borrowing CommitDraft, expecting expected: Position) throws(JournalError)
            -> ClosedRange<Position>
        {
            try checkRunning()
            if rejectsAppends { throw closed }
            guard draft.recordCount > 0 else {
                throw JournalError(.tooLarge, "The commit has no records.", path: address)
            }
            guard expected == last.position else {
                throw JournalError(
                    .conflict, "The log's last position is \(last.position), not \(expected).", path: address)
            }
            try checkRoom(draft.encodedByteCount)
            let commit = Commit(first: expected + 1, stored: StoredCommit(draft, after: last.chain, &entropy))
            commits.append(commit)
            unconfirmedByteCount += commit.stored.bytes.count
            (last.position, last.chain) = (commit.last, commit.chain)
            return commit.first...commit.last
        }

        /// Throws `storageFull` if a commit of this size may not wait for the database.
        func checkRoom(_ byteCount: Int) throws(JournalError) {
            guard unconfirmedByteCount == 0 || unconfirmedByteCount + byteCount <= Self.maximumUnconfirmedByteCount
            else { throw JournalError(.storageFull, "Too many commits wait for the database.", path: address) }
        }

        /// Returns the commits of the next transaction; nil when there are none, and the lead ends.
        mutating func takeCommits() -> [Commit]? {
            guard failure == nil, !isClosed, !commits.isEmpty else {
                waiters.endLead()
                return nil
            }
            var byteCount = 0
            let end = commits.firstIndex { commit in
                byteCount += commit.stored.bytes.count
                return byteCount > Self.transactionByteCount && byteCount > commit.stored.bytes.count
            }
            let sent = Array(commits[..<(end ?? commits.count)])
            waiters.begin(through: sent[sent.count - 1].last)
            return sent
        }

        /// Records what became of the commits in transit.
        ///
        /// - Parameter head: The last durable commit.
        /// - Returns: Whom to wake outside the lock, and whether commits are left, for which the
        ///   caller keeps the lead.
        mutating func finish(_ head: JournalHead, _ failure: JournalError?) -> (wakeups: Wakeups, isLeading: Bool) {
            durable = head
            let count = commits.firstIndex { $0.last > durable.position } ?? commits.count
            unconfirmedByteCount -= commits[..<count].reduce(0) { $0 + $1.stored.bytes.count }
            commits.removeFirst(count)
            if let failure { stop(failure) }
            let isLeading = !commits.isEmpty && failure == nil
            if !isLeading { waiters.endLead() }
            return (wakeups(), isLeading)
        }

        // MARK: Scheduled work

        /// Marks that commits are sent soon even if no caller waits for them; false if they are
        /// already.
        mutating func scheduleSend() -> Bool {
            defer { isSendScheduled = true }
            return !isSendScheduled
        }

        /// Makes the caller the leader of commits for which no caller waits; false if there are
        /// none.
        mutating func leadAsScheduledSend() -> Bool {
            isSendScheduled = false
            if isClosed || failure != nil || commits.isEmpty || !waiters.scheduleLeader() { return false }
            return waiters.leadAsScheduled()
        }

        /// Marks that the durable end is announced, and returns the pause before it; nil if it was
        /// announced, or is scheduled already.
        mutating func scheduleAnnouncement(at now: ContinuousClock.Instant) -> Duration? {
            if isAnnouncementScheduled || isClosed || failure != nil || durable.position <= announced { return nil }
            isAnnouncementScheduled = true
            return max(Self.firstAnnouncementPause, announcementTime - now)
        }

        /// The scheduled announcement is made now, or scheduled again.
        mutating func endAnnouncementSchedule() { isAnnouncementScheduled = false }

        /// Whether the durable end is to be announced now.
        func isAnnouncementDue(at now: ContinuousClock.Instant) -> Bool {
            !isClosed && failure == nil && durable.position > announced && now >= announcementTime
        }

        /// Notes the announced position, or that the database did not get one.
        mutating func didAnnounce(_ position: Position?, at now: ContinuousClock.Instant) {
            announcementTime = now + (position == nil ? Self.announcementRetryPause : Self.announcementPause)
            announced = max(announced, position ?? 0)
        }

        /// Shows a later end to readers of a log that another process writes.
        mutating func advance(to head: JournalHead) -> Wakeups? {
            guard head.position > durable.position else { return nil }
            (last, durable) = (head, head)
            return wakeups()
        }

        /// Ends the waits for records that will not come.
        mutating func endWaits(_ reason: JournalError) -> Wakeups {
            end = reason
            return wakeups()
        }

        /// Stops the log at the first failure.
        mutating func stop(_ error: JournalError) {
            guard failure == nil else { return }
            var error = error
            error.message += " The log has stopped until it is reopened."
            failure = error
        }

        /// Ends appending; returns the last position.
        mutating func rejectAppends() -> Position {
            rejectsAppends = true
            return last.position
        }

        /// Ends appending and reading; nil if the log was closed before.
        mutating func close() -> Wakeups? {
            if isClosed { return nil }
            isClosed = true
            return wakeups()
        }

        /// Removes the threads and tasks whose wait is over, to be woken outside the lock.
        mutating func wakeups() -> Wakeups {
            let end = isClosed ? closed : failure ?? end
            return Wakeups(
                waiters: waiters.end(synced: durable.position, failure: failure),
                followers: followers.isEmpty ? nil : followers.removeReady(durable: durable.position, failure: end))
        }

        struct Wakeups {
            fileprivate let waiters: SyncQueue.Wakeups
            fileprivate let followers: WaitQueue.Wakeups?

            func deliver() {
                waiters.deliver()
                followers?.deliver()
            }
        }

        func isDurable(_ position: Position) throws(JournalError) -> Bool {
            if position <= durable.position { return true }
            try checkRunning()
            guard position <= last.position else { throw outOfRange(position...position) }
            return false
        }

        func durablePosition(after position: Position) throws(JournalError) -> Position? {
            if durable.position > position { return durable.position }
            if isClosed { throw closed }
            if let error = failure ?? end { throw error }
            if position > last.position { throw outOfRange(position...position) }
            return nil
        }

        /// Throws unless the positions can be read.
        func checkReadable(_ positions: ClosedRange<Position>) throws(JournalError) {
            try checkOpen()
            guard positions.lowerBound >= 1, positions.upperBound <= last.position else { throw outOfRange(positions) }
        }

        func outOfRange(_ positions: ClosedRange<Position>) -> JournalError {
            JournalError(
                .outOfRange, "The log holds the positions from 1 to \(last.position).", path: address,
                positions: positions)
        }
    }
#endif
