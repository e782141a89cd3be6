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
    /// One writer has a log open at a time. Opening raises the *epoch* of the log, which each append
    /// compares: a former writer can never append again, and stops with `superseded`.
    public final class PostgresLog: CommitLog {
        /// The log's identity: that of the journal from which it was copied, or a new one.
        public let id: JournalID
        /// Whether the log rejects appends while it is open.
        public let isReadOnly: Bool
        /// The address with which the log was opened.
        public let address: PostgresAddress
        let database: Database
        /// The row of the log.
        let number: Int32
        /// The count of writers; 0 for a log that is open for reading.
        let epoch: Int64
        let state: Lock<LogState>
        /// Nil for a log that is open for reading.
        let writer: Lock<CommitWriter?>
        /// Changes with the content that is hidden.
        let contentVersion = Atomic<UInt64>(0)
        /// Runs the writer.
        private let queue = DispatchQueue(label: "JournalPostgres.writer", qos: .userInitiated)
        /// The position that was last announced to readers, and whether a job will announce a later
        /// one.
        private let announcement: Lock<(position: Position, isDue: Bool)>
        package let tree = RecordTree()
        let executor = ReadExecutor()
        /// The thread that follows another writer; none until a reader waits.
        let watch = Lock(false)

        /// The pause after the last commit until readers hear that it is safe.
        ///
        /// During it, a next commit can carry the announcement.
        private static let announcementDelay = DispatchTimeInterval.milliseconds(1)

        init(_ opened: OpenedLog, _ database: Database) {
            (id, number, epoch, address) = (opened.head.journal, opened.number, opened.epoch, database.address)
            isReadOnly = opened.connection == nil
            self.database = database
            state = Lock(LogState(opened.head, address: "\(database.address)", database.options.entropy))
            announcement = Lock((opened.head.position, false))
            writer = Lock(
                opened.connection.map {
                    CommitWriter(database: database, number: opened.number, id: opened.head.journal, epoch: opened.epoch, connection: $0)
                })
        }

        // MARK: The end of the log

        /// The last position appended; 0 when the log is empty.
        public var lastPosition: Position { state.withLock { $0.last.position } }

        /// The last position that the database has confirmed; 0 when the log is empty.
        public var durablePosition: Position { state.withLock { $0.durable.position } }

        /// The head of the confirmed history.
        public var head: JournalHead { state.withLock { $0.durable } }

        // MARK: Appending

        /// Does nothing but check that the log accepts appends: the database tells of a full disk with
        /// the commit, which is then tried again until ``PostgresOptions/outageTimeout``.
        public func reserve(_ byteCount: Int) throws(JournalError) {
            if isReadOnly { throw readOnly }
            guard byteCount <= JournalLimits.commitBytes else {
                throw JournalError(.tooLarge, "At most \(JournalLimits.commitBytes) bytes can be reserved.", path: "\(address)")
            }
            try state.withLock { (state) throws(JournalError) in try state.checkWritable() }
        }

        /// Appends the draft's records as one commit, and begins to send it.
        ///
        /// - Throws: As `CommitLog` says; `storageFull` while 128 MiB wait for the database.
        public func append(_ draft: borrowing CommitDraft, expecting head: Position) throws(JournalError) -> ClosedRange<Position> {
            if isReadOnly { throw readOnly }
            let (positions, begins) = try state.withLock { (state) throws(JournalError) in
                (try state.append(draft, expecting: head), state.beginSending())
            }
            if begins { queue.async { self.send() } }
            return positions
        }

        private var readOnly: JournalError { JournalError(.readOnly, "The log is open for reading only.", path: "\(address)") }

        /// Sends what waits, one transaction after another.
        private func send() {
            while let work = state.withLock({ $0.takeCommits() }) {
                guard let outcome = writer.withLock({ $0?.write(work.commits, after: work.head) }) else { return }
                announcement.withLock { $0.position = max($0.position, work.head.position) }
                let (wakeups, failure) = state.withLock { ($0.finish(outcome), $0.takeUnreportedFailure()) }
                wakeups.deliver()
                if let failure { database.report(.error, failure.description) }
            }
            announceWhenIdle()
        }

        /// Announces the last safe commit to readers if no other commit follows soon.
        private func announceWhenIdle() {
            let begins = announcement.withLock { announcement in
                defer { announcement.isDue = true }
                return !announcement.isDue
            }
            guard begins else { return }
            let position = durablePosition
            queue.asyncAfter(deadline: .now() + Self.announcementDelay) { [weak self] in self?.announce(ifStillAt: position) }
        }

        private func announce(ifStillAt position: Position) {
            announcement.withLock { $0.isDue = false }
            let (end, isSending, isOver) = state.withLock { ($0.durable.position, $0.isSending, $0.isClosed || $0.failure != nil) }
            // The job that sends announces it, or calls this again.
            if isOver || isSending { return }
            if end != position { return announceWhenIdle() }
            let isNew = announcement.withLock { announcement in
                defer { announcement.position = end }
                return end > announcement.position
            }
            if isNew { writer.withLock { $0?.acknowledge(end) } }
        }

        // MARK: Waiting

        /// Blocks until the database has confirmed the records up to `position`.
        public func waitUntilDurable(_ position: Position) throws(JournalError) {
            while true {
                let group = try state.withLock { (state) throws(JournalError) -> WaitingThreads? in
                    try state.isDurable(position) ? nil : state.waiters.joinThread(position)
                }
                guard let group else { return }
                _ = group.wait()
            }
        }

        /// Waits until the database has confirmed the records up to `position`, without blocking a
        /// thread.
        public func waitUntilDurable(_ position: Position) async throws(JournalError) {
            if position <= durablePosition { return }
            let result = await withCheckedContinuation { (task: WaitQueue.Continuation) in
                let result = state.withLock { state -> Result<Position, JournalError>? in
                    do throws(JournalError) {
                        if try state.isDurable(position) { return .success(position) }
                    } catch {
                        return .failure(error)
                    }
                    state.waiters.join(position, task)
                    return nil
                }
                if let result { task.resume(returning: result) }
            }
            _ = try result.get()
        }

        // MARK: Closing

        /// Waits until the database has confirmed everything, and gives up the log.
        public func close() throws(JournalError) {
            let failure: JournalError?
            do throws(JournalError) {
                try waitUntilDurable(lastPosition)
                failure = state.withLock { $0.failure }
            } catch {
                failure = error.code == .closed ? nil : error
            }
            if !isReadOnly, state.withLock({ !$0.isClosed }) {
                queue.sync {
                    writer.withLock { writer in
                        // The last announcement; readers could not see the last commit otherwise.
                        if failure == nil { writer?.acknowledge(durablePosition) }
                        writer?.close()
                    }
                }
            }
            state.withLock { $0.close() }.deliver()
            database.close()
            if let failure { throw failure }
        }
    }
#endif
