internal import Locking

extension Journal {
    /// Appends the draft's records as one commit: after a crash either all of them exist or none.
    ///
    /// Does not wait for a sync: see `waitUntilDurable(_:)`. Under `.written`, the
    /// commit is written, and so durable, when the call returns. Under `.synced`, it is written at
    /// once, or after a sync in progress together with other commits.
    ///
    /// - Parameters:
    ///   - draft: At least one record. The draft is unchanged and can be cleared and reused.
    ///   - expected: The ``lastPosition`` that the caller expects; the commit is appended only if
    ///     it matches.
    /// - Returns: The positions of the records, in their order.
    /// - Throws: `conflict` (`expected` is not the last position), `storageFull` (nothing was
    ///   written; the caller may retry), `tooLarge` (the draft is empty), `readOnly`, `closed`, or
    ///   the error that stopped the journal.
    /// - Complexity: Linear in the commit's bytes, with one write. A rotation adds syncs.
    public func append(_ draft: borrowing CommitDraft, expecting expected: Position) throws(JournalError)
        -> ClosedRange<Position>
    {
        guard draft.recordCount > 0 else { throw JournalError(.tooLarge, "A commit needs at least one record.") }
        try checkNotReadOnly()
        let byteCount = UInt64(draft.encodedByteCount)
        while true {
            var syncs = false
            let positions = try updateState { (state) throws(JournalError) -> ClosedRange<Position>? in
                try state.checkWritable()
                guard state.lastPosition == expected else {
                    throw JournalError(
                        .conflict, "The journal's last position is \(state.lastPosition), not \(expected) as expected.",
                        path: directory.path)
                }
                guard state.hasRoom(byteCount, segmentSize) else { return nil }
                try state.allocate(byteCount, segmentSize)
                // The commit is durable when it is written.
                if durability == .written { try state.checkFiles(in: directory) }
                let positions = try state.append(draft)
                syncs = state.scheduleBackgroundSyncIfDue()
                return positions
            }
            // Weak: a waiting caller keeps the journal alive, and without one no sync is needed.
            if syncs { background.run { [weak self] in self?.leadBackgroundSyncs() } }
            if let positions { return positions }
            try rotate(for: byteCount)
        }
    }

    /// Ensures that the next commits of at most `byteCount` bytes in total do not run out of space.
    ///
    /// The unit is that of ``CommitDraft/encodedByteCount``. Reservations do not add up: a later
    /// one replaces an earlier one. Call it before a decision, so that no decision has to be
    /// undone.
    ///
    /// - Throws: `storageFull` (the caller may retry), `tooLarge` (more than
    ///   ``JournalLimits/commitBytes``), `readOnly`, `closed`, or the error that stopped the
    ///   journal.
    /// - Complexity: Constant while earlier reservations leave space.
    public func reserve(_ byteCount: Int) throws(JournalError) {
        guard byteCount <= JournalLimits.commitBytes else {
            throw JournalError(.tooLarge, "A commit is limited to \(JournalLimits.commitBytes) bytes.")
        }
        try checkNotReadOnly()
        let count = UInt64(max(0, byteCount))
        let hasRoom = try state.withLock { (state) throws(JournalError) -> Bool in
            try state.checkWritable()
            guard state.hasRoom(count, segmentSize) else { return false }
            try state.allocate(count, segmentSize)
            return true
        }
        if !hasRoom { try rotate(for: count) }
    }

    func checkNotReadOnly() throws(JournalError) {
        if isReadOnly { throw JournalError(.readOnly, "The journal is open for reading only.", path: directory.path) }
    }
}

extension Journal {
    /// Seals the last segment and starts a new one with space for `count` bytes, unless space
    /// exists now.
    ///
    /// The order: create the new segment under a temporary name; sync the old one, write its footer
    /// and sync again; write and sync the slot; rename the new segment, whose header attests
    /// everything before it. A full disk is detected before anything else changes: the old segment
    /// stays the last one, and a later call retries.
    ///
    /// - Parameter always: Whether to start a new segment even if there is space; an empty one
    ///   stays.
    func rotate(for count: UInt64, always: Bool = false) throws(JournalError) {
        try syncState.withLock { (sync) throws(JournalError) in
            try updateState { (state) throws(JournalError) in
                try state.checkWritable()
                if always ? state.active.isEmpty : state.hasRoom(count, segmentSize) { return }
                try state.writePending()
                let active = state.active
                let new: (segment: TemporarySegment, allocated: UInt64)
                do throws(JournalError) {
                    let end = active.end + UInt64(active.footer(state.lastChain).count)
                    if end > state.allocatedSize { try convertingErrors(of: active.file.allocate(to: end)) }
                    new = try make(&state, count)
                } catch {
                    if error.code != .storageFull { state.stop(error) }
                    state.metrics.recordRejection(error)
                    throw state.failure ?? error
                }
                let start = ContinuousClock.now
                do throws(JournalError) {
                    try convertingStorageErrors { () throws(StorageError) in
                        try active.file.sync()
                        try active.seal(state.lastChain)
                    }
                    try attest(&state, &sync, isClean: false, since: start)
                    let next = try new.segment.publish()
                    // Once more: from here on, nothing compares the sealed segment with its name.
                    try directory.checkName(active.name, of: active.file)
                    state.rotate(in: next, allocated: new.allocated)
                    state.metrics.recordRotation()
                } catch {
                    new.segment.file.abandon()
                    state.stop(error)
                    throw state.failure ?? error
                }
            }
        }
    }

    /// Writes and syncs a slot for all appended records, which have been synced.
    func attest(
        _ state: inout JournalState, _ sync: inout SyncState, isClean: Bool, since start: ContinuousClock.Instant
    ) throws(JournalError) {
        try state.checkFiles(in: directory, at: start, always: true)
        try sync.write(slot(state.lastPosition, state.lastChain, isClean: isClean))
        try sync.syncSlots()
        (state.syncedPosition, state.syncedChain) = (state.lastPosition, state.lastChain)
        state.metrics.recordSync(commits: state.metrics.commitCount, since: start)
    }

    private func make(_ state: inout JournalState, _ count: UInt64) throws(JournalError) -> (
        TemporarySegment, allocated: UInt64
    ) {
        var allocated: UInt64 = 0
        let segment = try TemporarySegment(
            in: directory, journal: id, first: state.lastPosition + 1, chain: state.lastChain, &state.entropy,
            prepare: { (file) throws(JournalError) in
                let start = UInt64(SegmentHeader.size)
                allocated = try JournalState.allocate(file, used: start, needed: start + count, segmentSize)
            })
        return (segment, allocated)
    }
}
