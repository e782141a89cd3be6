#if Postgres
    import Dispatch
    public import EventJournal
    import Locking
    import Primitives
    import Synchronization

    /// A log on PostgreSQL, with the same records, chain values and proofs as a journal on files.
    ///
    /// ```swift
    /// let log = try PostgresLog.open("postgres://chat@db1,db2,db3/community#main")
    /// let store = try ChatStore.open(log: log)
    /// ```
    ///
    /// Positions are assigned in memory. One connection writes what was appended, all commits that
    /// wait in one transaction, so that many callers share one wait for the disks. A commit is
    /// durable once the server has confirmed it: with `synchronous_standby_names` (Patroni's quorum
    /// commit), once the standbys have it too.
    ///
    /// A lost connection is no lost commit. The log connects again, to whichever server accepts
    /// writes, asks which commits the database has, and writes the others again under the same
    /// positions. Only after ``PostgresOptions/outageTimeout`` it stops, with `unreachable`.
    ///
    /// One writer has a log open at a time. Opening raises the *epoch* of the log, which each
    /// append compares: a former writer can never append again, and stops with `superseded`.
    public final class PostgresLog: CommitLog {
        /// The log's identity: that of the journal from which it was copied, or a new one.
        public let id: JournalID
        /// Whether the log rejects appends while it is open.
        public let isReadOnly: Bool
        /// The address with which the log was opened.
        public let address: PostgresAddress
        let database: Database
        /// The key of the log in the tables.
        let logNumber: Int32
        /// The count of writers; 0 for a log that is open for reading.
        let epoch: Int64
        let state: Lock<LogState>
        /// Nil for a log that is open for reading.
        let writer: Lock<CommitWriter?>
        /// Changes with the content that is hidden.
        let contentVersion = Atomic<UInt64>(0)
        /// Sends commits for which no thread waits, and announces the durable end to readers.
        private let queue = DispatchQueue(label: "JournalPostgres.writer", qos: .userInitiated)
        package let tree = RecordTree()
        let executor = ReadExecutor()
        /// Whether the thread that follows another writer runs.
        let isWatching = Lock(false)

        /// The pause until a commit is sent for which no caller waits; during it one may begin to
        /// wait.
        private static let sendPause = DispatchTimeInterval.milliseconds(1)

        init(_ opened: OpenedLog, _ database: Database) {
            (id, logNumber, epoch, address) = (opened.head.journal, opened.logNumber, opened.epoch, database.address)
            isReadOnly = opened.connection == nil
            self.database = database
            state = Lock(LogState(opened.head, address: "\(database.address)"))
            writer = Lock(opened.connection.map { CommitWriter(database, opened, $0, .open) })
        }

        // MARK: The end of the log

        /// The last position appended; 0 when the log is empty.
        public var lastPosition: Position { state.withLock { $0.last.position } }

        /// The last position that the database has confirmed; 0 when the log is empty.
        public var durablePosition: Position { state.withLock { $0.durable.position } }

        /// The head of the confirmed history.
        public var head: JournalHead { state.withLock { $0.durable } }

        /// The error that stopped the log; nil while it runs.
        public var failure: JournalError? { state.withLock { $0.failure } }

        // MARK: Appending

        /// Checks that the log accepts appends, and that the commits that wait for the database leave
        /// room: the database tells of a full disk with the commit, which is then tried again until
        /// ``PostgresOptions/outageTimeout``.
        public func reserve(_ byteCount: Int) throws(JournalError) {
            try checkWritable()
            guard byteCount <= JournalLimits.commitBytes else {
                throw JournalError(
                    .tooLarge, "At most \(JournalLimits.commitBytes) bytes can be reserved.", path: "\(address)")
            }
            try state.withLock { (state) throws(JournalError) in try state.checkRoom(byteCount) }
        }

        /// Appends the draft's records as one commit.
        ///
        /// It is sent with the commits that were appended before, once a caller waits for it, and
        /// after a millisecond otherwise.
        ///
        /// - Throws: As `CommitLog` says; `storageFull` while 128 MiB wait for the database.
        public func append(_ draft: borrowing CommitDraft, expecting expected: Position) throws(JournalError)
            -> ClosedRange<Position>
        {
            if isReadOnly { throw readOnly }
            let (positions, isFirst) = try state.withLock { (state) throws(JournalError) in
                (try state.append(draft, expecting: expected), state.scheduleSend())
            }
            if isFirst {
                queue.asyncAfter(deadline: .now() + Self.sendPause) { [weak self] in
                    guard let self else { return }
                    if self.state.withLock({ $0.leadAsScheduledSend() }) { self.sendAll() }
                }
            }
            return positions
        }

        /// Sends one transaction with what waits; the caller leads.
        ///
        /// - Returns: Whether commits are left, and the caller still leads.
        private func sendOnce() -> Bool {
            guard let commits = state.withLock({ $0.takeCommits() }) else { return false }
            let result = writer.withLock { writer -> (JournalHead, JournalError?)? in
                let error = writer?.write(commits)
                return writer.map { ($0.head, error) }
            }
            guard let (head, error) = result else { return false }
            let (step, failure) = state.withLock { ($0.finish(head, error), $0.takeUnreportedFailure()) }
            step.wakeups.deliver()
            if let failure { database.report(.error, failure.description) }
            scheduleAnnouncement()
            return step.isLeading
        }

        /// Sends until nothing waits; the caller leads.
        private func sendAll() { while sendOnce() { announceIfDue() } }

        // MARK: Announcing

        private func scheduleAnnouncement() {
            guard let pause = state.withLock({ $0.scheduleAnnouncement(at: .now) }) else { return }
            queue.asyncAfter(deadline: .now() + pause.dispatchInterval) { [weak self] in
                guard let self else { return }
                self.state.withLock { $0.endAnnouncementSchedule() }
                self.announceIfDue()
                // The pause since the last one is not over, or the database did not get it.
                self.scheduleAnnouncement()
            }
        }

        /// Announces the durable end, if that was not done within the last 50 ms.
        private func announceIfDue() { if state.withLock({ $0.isAnnouncementDue(at: .now) }) { tend() } }

        /// Announces the durable end, and makes sure now and then that the log is still this
        /// writer's.
        private func tend() {
            let tending = writer.withLock { writer in
                // Under the lock of the writer, so that it does not connect again after a close.
                state.withLock { $0.isClosed || $0.failure != nil } ? nil : writer?.tend()
            }
            switch tending {
            case nil: break
            case .announced(let position): state.withLock { $0.didAnnounce(position, at: .now) }
            case .outage: state.withLock { $0.didAnnounce(nil, at: .now) }
            case .failed(let error): stop(error)
            }
        }

        /// Looks again and again whether the log is still this writer's, also while nothing is
        /// appended.
        ///
        /// Five times within an interval, so that a confirmation just before a look, or a lost
        /// connection, does not double the time until the writer knows.
        func scheduleHeartbeat() {
            let isOver = state.withLock { $0.isClosed || $0.failure != nil }
            if isReadOnly || isOver { return }
            queue.asyncAfter(deadline: .now() + (database.options.heartbeatInterval / 5).dispatchInterval) {
                [weak self] in
                self?.tend()
                self?.scheduleHeartbeat()
            }
        }

        /// Stops the log, wakes whoever waits, and reports the failure.
        func stop(_ error: JournalError) {
            let (wakeups, failure) = state.withLock { state in
                state.stop(error)
                return (state.wakeups(), state.takeUnreportedFailure())
            }
            wakeups.deliver()
            if let failure { database.report(.error, failure.description) }
        }

        // MARK: Waiting

        /// Blocks until the database has confirmed the records up to `position`.
        ///
        /// The first thread that waits sends what was appended, so that no other thread has to wake
        /// up. Threads that come meanwhile wait for the next transaction, which a background job
        /// sends.
        public func waitUntilDurable(_ position: Position) throws(JournalError) {
            while true {
                let step = try state.withLock { (state) throws(JournalError) -> ThreadStep in
                    try state.isDurable(position)
                        ? .finished : state.waiters.leadOrJoin(position, precedesScheduled: true)
                }
                switch step {
                case .finished: return
                case .lead: if sendOnce() { queue.async { self.sendAll() } }
                case .follow(let group): _ = group.wait()
                }
            }
        }

        /// Waits until the database has confirmed the records up to `position`, without blocking a
        /// thread.
        public func waitUntilDurable(_ position: Position) async throws(JournalError) {
            if position <= durablePosition { return }
            try await state.waitUntilDurable(position) {
                queue.async { if self.state.withLock({ $0.waiters.leadAsScheduled() }) { self.sendAll() } }
            }
        }

        // MARK: Closing

        /// Waits until the database has confirmed everything, and gives up the log.
        ///
        /// - Throws: On a log that is open for writing, the error that stopped it; the log is
        ///   closed in any case.
        public func close() throws(JournalError) {
            // First, so that no append comes after the last commit.
            let last = state.withLock { $0.rejectAppends() }
            let failure: JournalError?
            do throws(JournalError) {
                try waitUntilDurable(last)
                failure = state.withLock { $0.failure }
            } catch {
                failure = error.code == .closed ? nil : error
            }
            guard let wakeups = state.withLock({ $0.close() }) else { return }
            wakeups.deliver()
            writer.withLock { writer in
                // The last announcement: readers would see the last commit late otherwise.
                if failure == nil { writer?.announceEnd() }
                writer?.close()
            }
            database.close()
            // A reader has nothing to lose: its reads have thrown the error.
            if let failure, !isReadOnly { throw failure }
        }
    }
#endif
