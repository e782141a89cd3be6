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
        /// Whether the log has another history than the reader has seen; false on a standby that is
        /// behind.
        var isSetBack = false
        /// Whether the history goes on elsewhere, and where.
        var hasMoved = false
        var movedTo: String?

        /// Reads the end; nil if the log's row or record is not there or not valid.
        ///
        /// - Parameters:
        ///   - confirms: Whether to make durable what a server that accepts writes shows, so that
        ///     the end of the log is readable after its writer has ended without an announcement.
        ///   - known: The end that the reader has seen.
        init?(
            _ connection: DatabaseConnection, _ logNumber: Int32, confirms: Bool = true, after known: JournalHead? = nil
        ) throws(DatabaseError) {
            var found: (head: JournalHead, last: JournalHead)?
            var chainAtKnown: UInt64?
            var (status, place) = (LogStatus?.none, String?.none)
            try connection.execute(.readableEnd, Parameters(logNumber, known?.position ?? 0)) { row in
                chainAtKnown = row.isNull(5) ? nil : row.chain(5)
                guard let id = row.bytes(0).flatMap(JournalID.init(bytes:)), let position = row.position(1),
                    let last = row.position(3),
                    let lastChain = row.chain(4)
                else { return false }
                (status, place) = (row.text(6).flatMap(LogStatus.init), row.text(7))
                let end = JournalHead(journal: id, position: last, chain: lastChain)
                // An announcement beyond the end is of a log that was set back under an earlier
                // version.
                if position >= last {
                    found = (end, end)
                } else if position == 0 {
                    found = (JournalHead(journal: id, position: 0, chain: StoredRecord.chain(before: id)), end)
                } else if let chain = row.chain(2) {
                    found = (JournalHead(journal: id, position: position, chain: chain), end)
                }
                return true
            }
            guard let found else { return nil }
            (head, last, hasMoved, movedTo) = (found.head, found.last, status == .moved, place)
            if let known, known.position > 0, chainAtKnown != known.chain {
                if chainAtKnown == nil, connection.isStandby { return }
                try connection.requireLeader()
                isSetBack = true
                return
            }
            if confirms, head != last, !connection.isStandby {
                // If the standbys are away, the announced end remains readable.
                do throws(DatabaseError) {
                    try connection.execute(.barrier)
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
        /// - Throws: `closed`, `damaged`, `notFound`, `unreachable`, `accessDenied` (a missing
        ///   right), `ioFailed`.
        @discardableResult
        public func refresh() throws(JournalError) -> Position {
            if isReadOnly { try readEnd(confirms: true) }
            return durablePosition
        }

        /// Reads the end, and shows it.
        ///
        /// A log that was removed, replaced or set back stops.
        @discardableResult
        private func readEnd(confirms: Bool) throws(JournalError) -> ReadableEnd {
            let known = try state.withLock { (state) throws(JournalError) in
                try state.checkRunning()
                return state.durable
            }
            let end = try database.reading { (connection) throws(DatabaseError) in
                let end = try ReadableEnd(connection, logNumber, confirms: confirms, after: known)
                // Only the leader can tell that the log was removed or replaced.
                if end?.head.journal != id { try connection.requireLeader() }
                return end
            }
            if let end, end.head.journal == id, !end.isSetBack {
                state.withLock { $0.advance(to: end.head) }?.deliver()
                database.contact.noteAnswer()
                return end
            }
            let error: JournalError
            if end?.isSetBack == true {
                error = setBack(from: known)
            } else if let other = end?.head.journal {
                error = JournalError(.damaged, "The log has been replaced by the log \(other).", path: "\(address)")
            } else {
                error = JournalError(.notFound, "The log has been removed.", path: "\(address)")
            }
            stop(error)
            throw error
        }

        /// Waits until a position after `position` is durable, without blocking a thread, and
        /// returns the last durable position.
        ///
        /// A log that is open for reading has one thread that listens to the database once a task
        /// has waited. A notification is a hint; what can be read is asked for, at least every half
        /// second. What a writer has not announced for another half second, because it has ended,
        /// is made durable and shown. Behind the last record of a log that has moved, the wait ends
        /// with `moved`.
        public func waitForRecords(after position: Position) async throws(JournalError) -> Position {
            if isReadOnly { watchDatabase() }
            return try await state.waitForRecords(after: position)
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
                var (listener, last) = (DatabaseConnection?.none, Position(0))
                while let log = self, log.followOnce(&listener, &last, logNumber) {}
            }
        }

        /// Waits for a hint and refreshes; false when the log is closed or has failed, or has
        /// moved.
        ///
        /// - Parameter last: The end of the log at the last look, announced or not.
        private func followOnce(_ listener: inout DatabaseConnection?, _ last: inout Position, _ logNumber: Int32)
            -> Bool
        {
            var isQuiet = false
            if state.withLock({ $0.isClosed || $0.failure != nil }) { return false }
            do throws(DatabaseError) {
                if listener == nil {
                    let connection = try database.connectForReading()
                    // A standby cannot listen.
                    if !connection.isStandby { try connection.run("LISTEN chat_journal_\(logNumber)") }
                    listener = connection
                } else if let connection = listener {
                    let pause = connection.isStandby ? Duration.milliseconds(20) : .milliseconds(500)
                    isQuiet = try !connection.waitForNotification(timeout: pause) && !connection.isStandby
                    if connection.shouldRetryLeader { listener = nil }
                }
            } catch {
                listener = nil
                var pause = Backoff()
                pause.wait()
                return true
            }
            do throws(JournalError) {
                let end = try readEnd(confirms: isQuiet && last > durablePosition)
                last = end.last.position
                guard end.hasMoved, end.head == end.last else { return true }
                state.withLock { $0.endWaits(.moved(to: end.movedTo, path: "\(address)")) }.deliver()
                return false
            } catch {
                // An outage: readers wait on.
                if ![.unreachable, .closed].contains(error.code) { stop(error) }
                return true
            }
        }
    }

    extension PostgresLog: HistoryLog {}
#endif
