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

extension Journal {
    /// Seals the last segment and begins a new one with space for a commit of `count` bytes, unless there is room by now.
    ///
    /// The order: the new segment is made aside; the old one is synced, then gets its footer and is synced again, then the slot; only then the
    /// new segment gets its name, whose header attests all before it. A disk that is full shows before anything else has changed: the old
    /// segment stays the last one, and a later call tries again.
    func rotate(for count: UInt64) throws(JournalError) {
        try sync.withLock { (sync) throws(JournalError) in
            try change { (state) throws(JournalError) in
                try state.checkWritable()
                if state.hasRoom(count, segmentSize) { return }
                try state.writePending()
                let active = state.active
                let new: (segment: NewSegment, allocated: UInt64)
                do throws(JournalError) {
                    let end = active.end + UInt64(active.footer(state.lastChain).count)
                    if end > state.allocated { try storage { () throws(StorageError) in try active.file.allocate(to: end) } }
                    new = try make(&state, count)
                } catch {
                    if error.code != .storageFull { state.stop(error) }
                    state.metrics.refused(error)
                    throw state.failure ?? error
                }
                let start = ContinuousClock.now
                do throws(JournalError) {
                    try storage { () throws(StorageError) in
                        try active.file.sync()
                        try active.seal(state.lastChain)
                    }
                    try attest(&state, &sync, isClean: false, since: start)
                    state.goOn(in: try new.segment.take(), allocated: new.allocated)
                    state.metrics.rotated()
                } catch {
                    new.segment.file.abandon()
                    state.stop(error)
                    throw state.failure ?? error
                }
            }
        }
    }

    /// Writes and syncs a slot for everything appended, which has been synced.
    func attest(
        _ state: inout JournalState, _ sync: inout SyncState, isClean: Bool, since start: ContinuousClock.Instant
    ) throws(JournalError) {
        try sync.write(slot(state.lastPosition, state.lastChain, isClean: isClean))
        try sync.syncSlots()
        (state.syncedPosition, state.syncedChain) = (state.lastPosition, state.lastChain)
        state.metrics.synced(commits: state.metrics.commits, since: start)
    }

    private func make(_ state: inout JournalState, _ count: UInt64) throws(JournalError) -> (NewSegment, allocated: UInt64) {
        var allocated: UInt64 = 0
        let segment = try NewSegment(
            in: directory, journal: id, first: state.lastPosition + 1, chain: state.lastChain, &state.entropy,
            prepare: { (file) throws(JournalError) in
                let start = UInt64(SegmentHeader.size)
                allocated = try JournalState.allocate(file, used: start, needed: start + count, segmentSize)
            })
        return (segment, allocated)
    }
}
