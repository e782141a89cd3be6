#if Postgres
    public import EventJournal
    import Foundation
    import Locking
    import Primitives

    /// The end of a log that a reader may show.
    struct ReadableEnd {
        var head: JournalHead
        /// The end of the log on this server, which may not be durable.
        var last: JournalHead
        /// Whether the log has another history than the reader has seen; false on a standby that is behind.
        var isSetBack = false

        /// Reads the end; nil if the log's row or record is not there or not valid.
        ///
        /// - Parameters:
        ///   - confirms: Whether to make durable what a server that accepts writes shows, so that the
        ///     end of the log is readable after its writer has ended without an announcement.
        ///   - known: The end that the reader has seen.
        init?(
            _ connection: DatabaseConnection, _ logNumber: Int32, _ timeout: Duration, confirms: Bool = true,
            after known: JournalHead? = nil
        ) throws(DatabaseError) {
            var found: (head: JournalHead, last: JournalHead)?
            var chainAtKnown: UInt64?
            var parameters = Parameters(logNumber)
            parameters.add(known?.position ?? 0)
            try connection.execute(.readableEnd, parameters, timeout: timeout) { row in
                chainAtKnown = row.isNull(5) ? nil : row.integer(5).map(UInt64.init(bitPattern:))
                guard let id = row.bytes(0).flatMap(JournalID.init(bytes:)), let position = row.position(1), let last = row.position(3),
                    let lastChain = row.integer(4)
                else { return false }
                let end = JournalHead(journal: id, position: last, chain: UInt64(bitPattern: lastChain))
                if position == last {
                    found = (end, end)
                } else if position == 0 {
                    found = (JournalHead(journal: id, position: 0, chain: StoredRecord.chain(before: id)), end)
                } else if let chain = row.integer(2) {
                    found = (JournalHead(journal: id, position: position, chain: UInt64(bitPattern: chain)), end)
                }
                return true
            }
            guard let found else { return nil }
            (head, last) = found
            if let known, known.position > 0, chainAtKnown != known.chain {
                if chainAtKnown == nil, connection.isStandby { return }
                try connection.requireLeader(timeout)
                isSetBack = true
                return
            }
            if confirms, head != last, !connection.isStandby {
                // If the standbys are away, the announced end remains readable.
                do throws(DatabaseError) {
                    try connection.execute(.barrier, timeout: timeout)
                    head = last
                } catch {
                    if !error.isTransient { throw error }
                }
            }
            connection.knownThrough = max(connection.knownThrough, head.position)
        }
    }

    extension PostgresLog: RefreshableLog {
        /// Reads what has become durable since the log was opened for reading or last refreshed.
        ///
        /// Does nothing on a log that is open for writing.
        ///
        /// - Throws: `closed`, `damaged`, `notFound`, `unreachable`, `accessDenied` (a missing right),
        ///   `ioFailed`.
        @discardableResult
        public func refresh() throws(JournalError) -> Position { try refresh(confirms: true) }

        private func refresh(confirms: Bool) throws(JournalError) -> Position {
            guard isReadOnly else { return durablePosition }
            let known = try state.withLock { (state) throws(JournalError) in
                try state.checkOpen()
                return state.durable
            }
            let end = try database.reading { (connection) throws(DatabaseError) in
                let end = try ReadableEnd(connection, logNumber, database.answerTimeout, confirms: confirms, after: known)
                if end == nil, connection.isStandby { throw .standbyLacksLog }
                return end
            }
            guard let end else { throw JournalError(.notFound, "The log has been removed.", path: "\(address)") }
            guard end.head.journal == id else {
                throw JournalError(.damaged, "The log has been replaced by the log \(end.head.journal).", path: "\(address)")
            }
            if end.isSetBack { throw setBack(from: known) }
            state.withLock { $0.advance(to: end.head) }?.deliver()
            return durablePosition
        }

        /// Waits until a position after `position` is durable, without blocking a thread, and
        /// returns the last durable position.
        ///
        /// A log that is open for reading has one thread that listens to the database once a task has
        /// waited. A notification is a hint; what can be read is asked for, at least every half second.
        public func waitForRecords(after position: Position) async throws(JournalError) -> Position {
            if isReadOnly { watchDatabase() }
            let id = state.withLock { $0.followers.makeID() }
            let cancelled = JournalError(.cancelled, "The waiting task was cancelled.")
            let result = await withTaskCancellationHandler {
                await withCheckedContinuation { (task: WaitQueue.Continuation) in
                    let result = state.withLock { state -> Result<Position, JournalError>? in
                        if let result = state.waitResult(after: position) { return result }
                        // Under the lock: a later cancellation finds the follower in the queue.
                        if Task.isCancelled { return .failure(cancelled) }
                        state.followers.add(id, position + 1, task)
                        return nil
                    }
                    if let result { task.resume(returning: result) }
                }
            } onCancel: {
                state.withLock { $0.followers.remove(id) }?.resume(returning: .failure(cancelled))
            }
            return try result.get()
        }

        /// Starts the thread that follows the writer, unless it runs.
        private func watchDatabase() {
            let begins = isWatching.withLock { isRunning in
                defer { isRunning = true }
                return !isRunning
            }
            guard begins else { return }
            let logNumber = logNumber
            Thread.detachNewThread { [weak self] in
                var listener: DatabaseConnection?
                while let log = self, log.followOnce(&listener, logNumber) {}
            }
        }

        /// Waits for a hint and refreshes; false when the log is closed or has failed.
        private func followOnce(_ listener: inout DatabaseConnection?, _ logNumber: Int32) -> Bool {
            if state.withLock({ $0.isClosed || $0.failure != nil }) { return false }
            do throws(DatabaseError) {
                if listener == nil {
                    let connection = try database.connectForReading()
                    // A standby cannot listen.
                    if !connection.isStandby { try connection.run("LISTEN chat_journal_\(logNumber)", timeout: database.answerTimeout) }
                    listener = connection
                } else if let connection = listener {
                    let pause = connection.isStandby ? Duration.milliseconds(20) : .milliseconds(500)
                    _ = try connection.waitForNotification(timeout: pause)
                    if connection.shouldRetryLeader { listener = nil }
                }
            } catch {
                listener = nil
                var pause = Backoff()
                pause.wait()
                return true
            }
            do throws(JournalError) {
                _ = try refresh(confirms: false)
            } catch {
                // An outage: readers wait on.
                if error.code == .unreachable { return true }
                state.withLock { state in
                    state.stop(error)
                    return state.wakeups()
                }.deliver()
            }
            return true
        }
    }

    extension PostgresLog: HistoryLog {}
#endif
