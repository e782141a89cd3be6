#if Postgres
    public import EventJournal
    import Locking
    import Primitives
    import Synchronization

    extension PostgresLog: ErasableLog {
        /// The records whose content reads deliver as erased although the database may still have
        /// it.
        public var hiddenContent: PositionSet { state.withLock { $0.hiddenContent } }

        /// Delivers the content of these records as erased from now on, and that of no others.
        ///
        /// The setting ends with the log object.
        public func setHiddenContent(_ positions: PositionSet) {
            state.withLock { $0.hiddenContent = positions }
            contentVersion.add(1, ordering: .acquiringAndReleasing)
        }

        /// Removes the content of records from the rows of the log, and has the server clean its
        /// tables and renew its statistics.
        ///
        /// When the call returns, no statement returns the content any more. The server's files may
        /// have its bytes until they are used again: see <doc:OperatingACluster>.
        ///
        /// - Throws: `outOfRange`, `readOnly`, `closed`, `superseded`, `unreachable`,
        ///   `accessDenied`, `ioFailed`.
        /// - Complexity: Reads and rewrites these records, 500 in a transaction.
        public func eraseContent(of positions: PositionSet, orderedThrough order: Position) throws(JournalError) {
            try checkWritable()
            let last = lastPosition
            if let range = positions.ranges.first(where: { $0.lowerBound < 1 || $0.upperBound > last }) {
                throw state.withLock { $0.outOfRange(range) }
            }
            try waitUntilDurable(last)
            var page: [Position] = []
            for range in positions.ranges {
                for position in range {
                    page.append(position)
                    if page.count < Self.erasedTogether { continue }
                    try eraseContent(at: page)
                    page = []
                }
            }
            try eraseContent(at: page)
            try execute(.setErasedThrough) { $0.add(order) }
            do throws(JournalError) { try cleanTables() } catch {
                database.report(.warning, "The tables were not cleaned after an erasure: \(error)")
            }
        }

        /// Has the server clean the tables and renew its statistics.
        ///
        /// The columns of content have no statistics, unless somebody has asked for some.
        private func cleanTables() throws(JournalError) {
            let (isSkipped, sampleCount) = try database.converting { () throws(DatabaseError) in
                let connection = try database.connectForWriting()
                return (
                    try connection.run(
                        "VACUUM (ANALYZE) chat_journal.record, chat_journal.ledger", timeout: .seconds(3_600)),
                    try connection.row(.contentSamples, Parameters()) { $0.integer(0) }
                )
            }
            if isSkipped {
                database.report(
                    .warning, "The tables were not cleaned after an erasure: only their owner can do that.")
            }
            if sampleCount != 0 {
                database.report(
                    .warning,
                    "The statistics of the server have samples of content, which outlast erasures. "
                        + "Remove extended statistics of the tables, and set the statistics of the columns to 0.")
            }
        }

        /// The number of records in one transaction.
        private static let erasedTogether = 500

        private func eraseContent(at positions: [Position]) throws(JournalError) {
            var stubs: [(position: Position, bytes: [UInt8])] = []
            _ = try readPage(positions, head, .recordsAtPositions, { $0.add(positions.map { Int64(clamping: $0) }) }) {
                place, record, bytes in
                if record.hasErasableContent { stubs.append((place.position, record.stub(of: bytes))) }
                return true
            }
            if stubs.isEmpty { return }
            try execute(.erase) { parameters in
                parameters.add(stubs.map { Int64(clamping: $0.position) })
                parameters.add(arrayOf: stubs.map { ($0.bytes, 0..<$0.bytes.count) })
            }
        }

        /// The position up to which all orders have been carried out; nil if it is not known.
        public var erasedThrough: Position? {
            do throws(JournalError) {
                return try database.reading { (connection) throws(DatabaseError) in
                    try connection.row(.erasedThrough, Parameters(logNumber)) { $0.isNull(0) ? nil : $0.position(0) }
                }
            } catch {
                // Unknown, so the store looks for itself, and its reads report the reason.
                return nil
            }
        }

        /// Reads the ledger of erasures; nil if there is none.
        ///
        /// - Throws: `closed`, `unreachable`, `accessDenied`, `ioFailed`.
        public func readLedger() throws(JournalError) -> [UInt8]? {
            try checkOpen()
            return try database.reading { (connection) throws(DatabaseError) in
                try connection.row(.readLedger, Parameters(logNumber)) { $0.bytes(0) }
            }
        }

        /// Replaces the ledger of erasures.
        ///
        /// - Throws: `tooLarge`, `readOnly`, `closed`, `superseded`, `unreachable`, `accessDenied`,
        ///   `ioFailed`.
        public func writeLedger(_ bytes: [UInt8]) throws(JournalError) {
            try checkWritable()
            guard bytes.count <= JournalLimits.ledgerBytes else {
                throw JournalError(
                    .tooLarge, "The ledger has more than \(JournalLimits.ledgerBytes) bytes.", path: "\(address)")
            }
            try execute(.writeLedger) { $0.add(bytes) }
        }
    }
#endif
