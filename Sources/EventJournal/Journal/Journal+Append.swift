internal import Locking

extension Journal {
    /// Appends the draft's records as one commit: after a crash all of them are there, or none is.
    ///
    /// Does not wait: see ``waitUntilDurable(_:)-(Position)``. Under `.written` the commit is written, and so durable, when this returns; under `.synced` it is
    /// written at once or, while a sync is under way, together with others when that has ended.
    ///
    /// - Parameters:
    ///   - draft: At least one record. It is left as it is and can be emptied and used again.
    ///   - head: What the caller takes for ``lastPosition``; the commit is appended only if it is.
    /// - Returns: The positions of the records, in their order.
    /// - Throws: `conflict` (`head` is not the last position), `storageFull` (nothing was written; a later call is tried again), `tooLarge`
    ///   (an empty draft), `readOnly`, `closed`; or the error that stopped the journal.
    /// - Complexity: Linear in the commit's bytes; one write. At a segment's end also some syncs.
    public func append(_ draft: borrowing CommitDraft, expecting head: Position) throws(JournalError) -> ClosedRange<Position> {
        guard draft.recordCount > 0 else { throw JournalError(.tooLarge, "A commit needs at least one record.") }
        try checkMayWrite()
        let byteCount = UInt64(draft.encodedByteCount)
        while true {
            var syncs = false
            let positions = try change { (state) throws(JournalError) -> ClosedRange<Position>? in
                try state.checkWritable()
                guard state.lastPosition == head else {
                    throw JournalError(
                        .conflict, "The journal's last position is \(state.lastPosition), not \(head) as expected.", path: directory.path)
                }
                guard state.hasRoom(byteCount, segmentSize) else { return nil }
                try state.allocate(byteCount, segmentSize)
                let positions = try state.append(draft)
                syncs = state.announceBackgroundSync()
                return positions
            }
            // Who waits keeps the journal; nobody else needs it to go on.
            if syncs { background.run { [weak self] in self?.leadOthers() } }
            if let positions { return positions }
            try rotate(for: byteCount)
        }
    }

    /// Makes sure that the next commits of together at most `byteCount` bytes (``CommitDraft/encodedByteCount``) will not run out of space.
    ///
    /// Reservations do not add up: a later one replaces an earlier one. Call it before deciding, so that nothing decided has to be undone.
    ///
    /// - Throws: `storageFull` (tried again at the next call), `tooLarge` (more than ``JournalLimits/commitBytes``), `readOnly`, `closed`; or
    ///   the error that stopped the journal.
    /// - Complexity: Constant while space is left from an earlier step.
    public func reserve(_ byteCount: Int) throws(JournalError) {
        guard byteCount <= JournalLimits.commitBytes else {
            throw JournalError(.tooLarge, "A commit has at most \(JournalLimits.commitBytes) bytes.")
        }
        try checkMayWrite()
        let count = UInt64(max(0, byteCount))
        let hasRoom = try state.withLock { (state) throws(JournalError) -> Bool in
            try state.checkWritable()
            guard state.hasRoom(count, segmentSize) else { return false }
            try state.allocate(count, segmentSize)
            return true
        }
        if !hasRoom { try rotate(for: count) }
    }

    func checkMayWrite() throws(JournalError) {
        if isReadOnly { throw JournalError(.readOnly, "The journal is open for reading only.", path: directory.path) }
    }
}

/// How many bytes of the buffer are commits that are not written yet, how many those are, and what the journal was before them.
struct PendingCommits {
    var byteCount = 0
    var count = 0
    var base: Position = 0
    var baseChain: UInt64 = 0

    /// Of more it does not pay to make one write.
    static let most = 1 << 20

    init() {}

    init(after base: Position, chain: UInt64) { (self.base, baseChain) = (base, chain) }
}

extension JournalState {
    /// Whether a commit of so many bytes belongs into the last segment: it fits, or the segment is empty and the commit too long for any.
    func hasRoom(_ count: UInt64, _ segmentSize: UInt64) -> Bool {
        active.isEmpty || active.end + count <= segmentSize
    }

    /// Makes sure that the last segment has space for so many more bytes.
    mutating func allocate(_ count: UInt64, _ segmentSize: UInt64) throws(JournalError) {
        guard active.end + count > allocated else { return }
        do throws(JournalError) {
            allocated = try Self.allocate(active.file, used: active.end, needed: active.end + count, segmentSize)
        } catch {
            metrics.refused(error)
            throw error
        }
    }

    /// Reserves space in steps: as much again as is used, within bounds, up to the segment's size; when there is less, half of that, and so
    /// on down to what is needed.
    ///
    /// Returns the size reserved.
    static func allocate(
        _ file: any StorageFile, used: UInt64, needed: UInt64, _ segmentSize: UInt64
    ) throws(JournalError) -> UInt64 {
        var step = min(max(used, 1 << 20), 64 << 20)
        while true {
            let target = max(needed, min(segmentSize, needed + step))
            do throws(StorageError) {
                try file.allocate(to: target)
                return target
            } catch {
                guard error.kind == .full, target > needed else { throw JournalError(error) }
                step = step > 65_536 ? step / 2 : 0
            }
        }
    }

    /// Puts the draft's bytes behind the commits of the last segment, which has space for them; and writes them, unless a sync is under way.
    ///
    /// While somebody syncs, commits gather in memory: a write would wait for the sync, or make it wait, and the next round writes all of them at once. A
    /// process that is killed may take them with it, as a power cut may; nobody has been told of them.
    mutating func append(_ draft: borrowing CommitDraft) throws(JournalError) -> ClosedRange<Position> {
        let first = lastPosition + 1
        let offset = active.end
        let (byteCount, recordCount) = (draft.encodedByteCount, UInt32(draft.recordCount))
        if pending.byteCount == 0 { pending = PendingCommits(after: lastPosition, chain: lastChain) }
        let start = pending.byteCount
        if buffer.count < start + byteCount {
            buffer += [UInt8](repeating: 0, count: max(start + byteCount - buffer.count, min(buffer.count, 1 << 20)))
        }
        let (chain, recordsCRC) = Self.complete(draft, in: &buffer, at: start, &entropy, after: lastChain)

        let relative = first - active.header.firstPosition
        active.index.note(relative, at: offset, recordsLeft: 0)
        var recordOffset = offset + UInt64(CommitHeader.size)
        for index in 0..<recordCount {
            active.index.note(relative + UInt64(index), at: recordOffset, recordsLeft: recordCount - index)
            recordOffset += UInt64(draft.records[Int(index)].length)
        }
        let header = CommitHeader(
            length: UInt32(byteCount), recordCount: recordCount, firstPosition: first, syncedPosition: syncedPosition, chain: chain,
            recordsCRC: recordsCRC)
        header.encode(into: &buffer, at: start, seed: active.framingSeed)

        pending.byteCount += byteCount
        pending.count += 1
        active.end = offset + UInt64(byteCount)
        active.lastPosition = header.lastPosition
        lastPosition = header.lastPosition
        lastChain = chain
        if durability == .written || !waiters.isLed || pending.byteCount > PendingCommits.most { try writePending() }
        metrics.appended(records: recordCount, bytes: byteCount)
        return first...lastPosition
    }

    /// Writes the commits that are only in memory, all at once; a failure stops the journal.
    mutating func writePending() throws(JournalError) {
        if pending.byteCount == 0 { return }
        let offset = active.end - UInt64(pending.byteCount)
        do throws(StorageError) {
            try buffer.withBytes(0..<pending.byteCount) { [file = active.file] (bytes) throws(StorageError) in
                try file.write(bytes, at: offset)
            }
            pending = PendingCommits()
        } catch {
            dropPending()
            throw stop(after: error, in: active, at: offset)
        }
    }

    /// Whether a sync in the background is due: where callers wait for none, much would be left for the roll-over, and everybody would wait for that.
    mutating func announceBackgroundSync() -> Bool {
        guard durability == .written, active.end >= backgroundSyncEnd + Self.backgroundSyncStep, !waiters.isLed else { return false }
        backgroundSyncEnd = active.end
        waiters.lead = .announced
        return true
    }

    /// So many bytes that a sync takes milliseconds.
    ///
    /// The one at the end of a segment finds as much, and what was written during the last one ahead.
    static let backgroundSyncStep: UInt64 = 8 << 20

    /// Forgets the commits that are only in memory, because nothing is written any more: the last position is again the one before them, and
    /// all up to it can be read.
    mutating func dropPending() {
        if pending.byteCount == 0 { return }
        active.index.remove(from: pending.base + 1 - active.header.firstPosition)
        active.end -= UInt64(pending.byteCount)
        (active.lastPosition, lastPosition, lastChain) = (pending.base, pending.base, pending.baseChain)
        pending = PendingCommits()
    }

    /// Writes zeros ahead of the commits, into space that is reserved, where many callers share syncs that cover little: the file system then has nothing to note about
    /// the space when commits are written there, and a sync waits for its data alone.
    ///
    /// Where a sync covers much it would not pay, because everything is written twice; and a single caller gains nothing. Zeros that could not be written, or were
    /// in part, mean what zeros mean that were never written: it is then left alone in this segment.
    mutating func fillAhead(after gathered: PendingCommits) {
        guard gathered.count >= 4, gathered.byteCount <= Self.zeros.count / 4, filled < active.end + UInt64(gathered.byteCount) else {
            return
        }
        let start = max(filled, active.end)
        let count = min(Self.zeros.count, Int(clamping: allocated - min(allocated, start)))
        guard count > 0 else { return }
        do throws(StorageError) {
            try Self.zeros.withBytes(0..<count) { [file = active.file] (bytes) throws(StorageError) in try file.write(bytes, at: start) }
            filled = start + UInt64(count)
        } catch {
            filled = .max
        }
    }

    private static let zeros = [UInt8](repeating: 0, count: 262_144)

    /// Copies the draft's bytes to a place in the buffer and puts salt and checksums into its records; returns the chain value after them and the sum of their checksums.
    private static func complete(
        _ draft: borrowing CommitDraft, in buffer: inout [UInt8], at start: Int, _ entropy: inout EntropyPool, after chain: UInt64
    ) -> (chain: UInt64, recordsCRC: UInt32) {
        var sums: (chain: UInt64, recordsCRC: UInt32) = (chain, 0)
        buffer.withMutableBytes(start..<start + draft.encodedByteCount) { commit in
            draft.bytes.withBytes(0..<draft.encodedByteCount) { commit.copy($0, to: 0) }
            var cursor = CommitHeader.size
            for record in draft.records {
                let end = cursor + Int(record.length)
                let salt: RecordSalt = entropy.next()
                var original: UInt32?
                if record.isStub {
                    original = completeStub(record, in: &commit, at: cursor, salt)
                } else {
                    commit.storeBytes(of: salt.littleEndian, toByteOffset: cursor + Int(record.salt), as: RecordSalt.self)
                }
                let crc = CRC32C.checksum(of: commit.bytes.extracting(cursor + 4..<end))
                commit.storeBytes(of: crc.littleEndian, toByteOffset: cursor, as: UInt32.self)
                sums.recordsCRC = CRC32C.checksum(of: crc, continuing: sums.recordsCRC)
                sums.chain = Chain.step(sums.chain, record: original ?? crc)
                cursor = end
            }
        }
        return sums
    }

    /// Puts the digest and the original checksum into a stub, those of the whole record with this salt and an empty erasable part; returns the checksum.
    private static func completeStub(
        _ record: CommitDraft.Record, in commit: inout MutableRawSpan, at cursor: Int, _ salt: RecordSalt
    ) -> UInt32 {
        let saltBytes = (0..<JournalLimits.recordSalt).map { UInt8(truncatingIfNeeded: salt >> RecordSalt(8 * $0)) }
        var whole: [UInt8] = []
        commit.bytes.extracting(cursor + 4..<cursor + Int(record.salt)).append(to: &whole)
        // The byte before the kept part is the state, with no length.
        whole[Int(record.start) - 5] = RecordContentState.whole.rawValue
        whole += saltBytes
        let crc = CRC32C.checksum(of: whole)
        let digest = cursor + Int(record.salt)
        for (offset, byte) in SHA256.hash(saltBytes).enumerated() { commit.storeByte(byte, at: digest + offset) }
        commit.storeBytes(of: crc.littleEndian, toByteOffset: digest + RecordLayout.digest, as: UInt32.self)
        return crc
    }

    /// Stops the journal after a write that failed, perhaps half done, and cuts off what it left, so that reopening does not have to tell it
    /// from damage.
    private mutating func stop(after error: StorageError, in segment: Segment, at offset: UInt64) -> JournalError {
        var failure = JournalError(error).inSegment(segment.name)
        if failure.code == .storageFull { failure.code = .ioFailed }
        failure.message = "A write failed and the journal has stopped until it is reopened."
        do throws(StorageError) {
            try segment.file.truncate(to: offset)
            // Else a power cut could undo the truncation, and half a write inside a sector is not to be told from damage.
            try segment.file.sync()
        } catch {
            failure.message += " What it left could not be cut off either."
        }
        self.failure = failure
        return failure
    }
}
