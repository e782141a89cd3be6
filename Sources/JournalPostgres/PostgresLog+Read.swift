#if Postgres
    public import EventJournal
    import Locking
    import Primitives
    import Synchronization

    extension PostgresLog {
        /// Calls a closure with each record in a range of positions, in order.
        ///
        /// Reads in pages of at most 4,096 records, each record as it arrives. A record whose
        /// checksum is wrong, and an error of the server over its own checksums, end the read with
        /// `damaged`. A lost connection is made again, to any server that has the records.
        ///
        /// - Throws: `outOfRange`, `closed`, `damaged`, `unreachable`, `accessDenied`, `ioFailed`.
        /// - Complexity: Linear in the bytes of the records, and a round trip for each page. Memory
        ///   holds one record.
        public func forEachRecord(in positions: ClosedRange<Position>, _ body: RecordHandler) throws(JournalError) {
            var filter = ContentFilter(self)
            try read(positions, .recordsInRange) { place, record, bytes in
                let shown = filter.shownPart(of: record, at: place.position)
                return body(
                    place.position, shown.state, bytes.extracting(record.kept), bytes.extracting(shown.erasable))
            }
        }

        /// Calls a closure with the record at each of the given positions, in ascending order.
        ///
        /// - Throws: `outOfRange`, `closed`, `damaged`, `unreachable`, `accessDenied`, `ioFailed`.
        /// - Complexity: One round trip for every 1,024 positions.
        public func forEachRecord(at positions: [Position], _ body: RecordHandler) throws(JournalError) {
            guard let first = positions.first, let last = positions.last else { return }
            for (position, next) in zip(positions, positions.dropFirst()) where position > next {
                throw JournalError(
                    .outOfRange, "Position \(next) comes after position \(position).", positions: next...position)
            }
            let memory = try memory(of: first...last)
            var filter = ContentFilter(self)
            var index = 0
            // Delivers a record as often as the list names it.
            func deliver(_ place: RecordPlace, _ record: StoredRecord, _ bytes: RawSpan) -> Bool {
                let shown = filter.shownPart(of: record, at: place.position)
                repeat {
                    index += 1
                    let goesOn = body(
                        place.position, shown.state, bytes.extracting(record.kept), bytes.extracting(shown.erasable))
                    if !goesOn { return false }
                } while index < positions.count && positions[index] == place.position
                return true
            }
            while index < positions.count {
                var page: [Position] = []
                for position in positions[index...] where position != page.last && position <= memory.durable {
                    if page.count == 1_024 { break }
                    page.append(position)
                }
                if page.isEmpty { break }
                let goesOn = try readPage(
                    page, memory.head, .recordsAtPositions, { $0.add(page.map { Int64(clamping: $0) }) }, deliver)
                if !goesOn { return }
            }
            while index < positions.count {
                let position = positions[index]
                guard memory.visit(position...position, deliver) else { return }
            }
        }

        /// Returns the head at the end of the commit that contains a position.
        ///
        /// - Throws: `outOfRange`, `closed`, `damaged`, `unreachable`, `accessDenied`, `ioFailed`.
        public func head(at position: Position) throws(JournalError) -> JournalHead {
            if position == 0 {
                try checkOpen()
                return JournalHead(journal: id, position: 0, chain: StoredRecord.chain(before: id))
            }
            let memory = try memory(of: position...position)
            if let commit = memory.commits.first(where: { $0.first...$0.last ~= position }) {
                return JournalHead(journal: id, position: commit.last, chain: commit.chain)
            }
            let found = try reading(of: memory.head, through: position) { (connection) throws(DatabaseError) in
                try connection.row(.commitEnd, Parameters(logNumber, position)) { $0.head(of: id) }
            }
            guard let found else { throw damaged("The end of a commit is missing.", position...position) }
            return found
        }

        /// Whether the log contains the history that a head names.
        ///
        /// - Throws: `closed`, `damaged`, `unreachable`, `accessDenied`, `ioFailed`.
        public func contains(_ head: JournalHead) throws(JournalError) -> Bool {
            guard head.journal == id, head.position <= lastPosition else { return false }
            return try self.head(at: head.position) == head
        }

        /// Calls a closure with each record in a range of positions and the head at the end of its
        /// commit.
        ///
        /// Otherwise the same as ``forEachRecord(in:_:)``.
        public func forEachCommittedRecord(in positions: ClosedRange<Position>, _ body: CommittedRecordHandler)
            throws(JournalError)
        {
            var filter = ContentFilter(self)
            try read(positions, .recordsInRange, withCommitEnds: true) { place, record, bytes in
                let shown = filter.shownPart(of: record, at: place.position)
                guard let chain = place.commitChain else {
                    preconditionFailure("a read of commits has their chain values")
                }
                let head = JournalHead(
                    journal: id, position: place.position + Position(place.recordsLeft) - 1, chain: chain)
                return body(
                    place.position, head, shown.state, bytes.extracting(record.kept), bytes.extracting(shown.erasable))
            }
        }

        /// Calls a closure with the parts of each record that its leaf in the tree covers, hidden
        /// content included.
        package func forEachRecordContent(in positions: ClosedRange<Position>, _ body: RecordContentHandler)
            throws(JournalError)
        {
            try read(positions, .recordsInRange) { place, record, bytes in
                body(place.position, record.state, bytes.extracting(record.kept), bytes.extracting(record.content))
            }
        }

        /// Calls a closure with each record in its stored form, hidden content included.
        package func forEachStoredRecord(in positions: ClosedRange<Position>, _ body: StoredRecordHandler)
            throws(JournalError)
        {
            try read(positions, .recordsInRange) { place, _, bytes in body(place.position, place.recordsLeft, bytes) }
        }

        // MARK: Pages

        /// Reads a range of positions with a statement that takes its bounds.
        ///
        /// - Parameters:
        ///   - withCommitEnds: Whether to pass the chain value after each record's commit.
        ///   - checksChain: Whether to compare the chain values, so that a valid record from
        ///     another position ends the read with `damaged`.
        func read(
            _ positions: ClosedRange<Position>, _ statement: Statement, withCommitEnds: Bool = false,
            checksChain: Bool = true,
            _ body: RecordBody
        ) throws(JournalError) {
            let memory = try memory(of: positions)
            var next = positions.lowerBound
            let end = min(positions.upperBound, memory.durable)
            var chain = next == 1 ? StoredRecord.chain(before: id) : nil
            var broken: Position?
            func checked(_ place: RecordPlace, _ record: StoredRecord, _ bytes: RawSpan) -> Bool {
                if let chain, place.chain != StoredRecord.chain(after: chain, originalCRC: record.originalCRC) {
                    broken = place.position
                    return false
                }
                chain = place.chain
                return body(place, record, bytes)
            }
            while next <= end {
                let page = next...min(end, next + 4_095)
                func add(to parameters: inout Parameters) {
                    parameters.add(page.lowerBound)
                    parameters.add(page.upperBound)
                }
                let goesOn =
                    try checksChain
                    ? readPage(page, memory.head, statement, withCommitEnds: withCommitEnds, add, checked)
                    : readPage(page, memory.head, statement, withCommitEnds: withCommitEnds, add, body)
                if let broken {
                    throw damaged("The record does not belong here: its chain value differs.", broken...broken)
                }
                if !goesOn { return }
                next = page.upperBound + 1
            }
            if next <= positions.upperBound { _ = memory.visit(next...positions.upperBound, body) }
        }

        /// Reads durable records, and checks that all of them come, in order and undamaged.
        ///
        /// - Parameters:
        ///   - head: The durable end.
        ///   - withCommitEnds: For consecutive positions, whether to pass the chain value after
        ///     each record's commit.
        ///   - addPositions: Adds the parameters of the statement after the log's number. They
        ///     stay the same when the statement is repeated; records already delivered are skipped.
        /// - Returns: False if the closure ended the read.
        func readPage<Expected: RandomAccessCollection<Position>>(
            _ expected: Expected, _ head: JournalHead, _ statement: Statement, withCommitEnds: Bool = false,
            _ addPositions: (inout Parameters) -> Void, _ body: RecordBody
        ) throws(JournalError) -> Bool {
            var parameters = Parameters(logNumber)
            addPositions(&parameters)
            guard let first = expected.first, let last = expected.last else { return true }
            var (next, goesOn) = (expected.startIndex, true)
            var failure: JournalError?
            try reading(of: head, through: last) { (connection) throws(DatabaseError) in
                var index = expected.startIndex
                var ends = withCommitEnds ? try commitEnds(in: first...last, connection) : nil
                try connection.execute(statement, parameters) { row in
                    guard index < expected.endIndex, row.position(0) == expected[index] else { return false }
                    let position = expected[index]
                    expected.formIndex(after: &index)
                    if index <= next { return true }
                    guard let left = row.integer(1), left >= 1, let chain = row.chain(2) else { return false }
                    let commitChain = ends?.chain(afterCommitEndingAt: position + Position(left) - 1)
                    if withCommitEnds, commitChain == nil { return false }
                    row.withBytes(3) { bytes in
                        guard let record = StoredRecord(bytes) else {
                            failure = damaged("The record is not as it was written.", position...position)
                            return
                        }
                        let place = RecordPlace(
                            position: position, recordsLeft: Int(left), chain: chain, commitChain: commitChain)
                        goesOn = body(place, record, bytes)
                    }
                    next = index
                    return goesOn && failure == nil
                }
                guard goesOn, failure == nil, next < expected.endIndex else { return }
                failure = damaged("The record is missing.", expected[next]...expected[next])
            }
            if let failure { throw failure }
            return goesOn
        }

        /// Reads the ends of the commits in a range, and of the one that goes on behind it.
        private func commitEnds(
            in positions: ClosedRange<Position>, _ connection: DatabaseConnection
        ) throws(DatabaseError) -> CommitEnds {
            var ends = CommitEnds()
            try connection.execute(
                .commitEndsInRange, Parameters(logNumber, positions.lowerBound, positions.upperBound)
            ) { ends.add($0) }
            if ends.last == positions.upperBound { return ends }
            try connection.execute(.commitEnd, Parameters(logNumber, positions.upperBound)) { ends.add($0) }
            return ends
        }

        /// Returns the commits that only memory has, after a check of the positions.
        private func memory(of positions: ClosedRange<Position>) throws(JournalError) -> UnconfirmedCommits {
            try state.withLock { (state) throws(JournalError) in
                try state.checkReadable(positions)
                return UnconfirmedCommits(
                    head: state.durable, commits: positions.upperBound > state.durable.position ? state.commits : [])
            }
        }
    }

    /// The place of a record of a read.
    struct RecordPlace {
        var position: Position
        /// The records of the commit from this one on.
        var recordsLeft: Int
        /// The chain value after the record.
        var chain: UInt64
        /// The chain value after its commit; nil if the statement does not return it.
        var commitChain: UInt64?
    }

    /// The ends of consecutive commits, which a read passes in order.
    private struct CommitEnds {
        private var ends: [(position: Position, chain: UInt64)] = []
        private var next = 0

        var last: Position? { ends.last?.position }

        /// Adds the end in a row; false if the row is not valid.
        mutating func add(_ row: DatabaseRow) -> Bool {
            guard let position = row.position(0), let chain = row.chain(1) else { return false }
            ends.append((position, chain))
            return true
        }

        /// Returns the chain value at an end that is not before the last one asked for; nil if no
        /// commit ends there.
        mutating func chain(afterCommitEndingAt position: Position) -> UInt64? {
            while next < ends.count, ends[next].position < position { next += 1 }
            return next < ends.count && ends[next].position == position ? ends[next].chain : nil
        }
    }

    /// Receives a record; returns whether to continue.
    typealias RecordBody = (_ place: RecordPlace, _ record: StoredRecord, _ bytes: RawSpan) -> Bool

    /// Commits that the database has not confirmed yet.
    private struct UnconfirmedCommits {
        /// The end of what the database has confirmed.
        let head: JournalHead
        let commits: [Commit]
        var durable: Position { head.position }

        /// Delivers the records in a range; false if the closure ended the read.
        func visit(_ positions: ClosedRange<Position>, _ body: RecordBody) -> Bool {
            for commit in commits where commit.last >= positions.lowerBound && commit.first <= positions.upperBound {
                let goesOn = commit.stored.bytes.withBytes { bytes in
                    for (index, stored) in commit.stored.records.enumerated() {
                        let position = commit.first + Position(index)
                        let part = bytes.extracting(stored.range)
                        guard positions ~= position, let record = StoredRecord(part) else { continue }
                        let place = RecordPlace(
                            position: position, recordsLeft: commit.stored.records.count - index, chain: stored.chain,
                            commitChain: commit.chain)
                        if !body(place, record, part) { return false }
                    }
                    return true
                }
                if !goesOn { return false }
            }
            return true
        }
    }

    /// Decides which part of a record a read shows.
    private struct ContentFilter {
        let log: PostgresLog
        private var version: UInt64
        private var hidden: PositionSet

        init(_ log: PostgresLog) {
            self.log = log
            version = log.contentVersion.load(ordering: .acquiring)
            hidden = log.hiddenContent
        }

        /// Returns the state to deliver and the range of the erasable part.
        mutating func shownPart(of record: StoredRecord, at position: Position) -> (
            state: RecordContentState, erasable: Range<Int>
        ) {
            let present = log.contentVersion.load(ordering: .acquiring)
            if present != version { (version, hidden) = (present, log.hiddenContent) }
            if hidden.isEmpty || !record.hasErasableContent || !hidden.contains(position) {
                return (record.state, record.erasable)
            }
            return (.erased, record.erasable.upperBound..<record.erasable.upperBound)
        }
    }
#endif
