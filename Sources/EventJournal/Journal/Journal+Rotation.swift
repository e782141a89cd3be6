internal import Locking

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
    private func attest(
        _ state: inout JournalState, _ sync: inout SyncState, isClean: Bool, since start: ContinuousClock.Instant
    ) throws(JournalError) {
        try sync.write(slot(state.lastPosition, state.lastChain, isClean: isClean))
        try sync.syncSlots()
        (state.syncedPosition, state.syncedChain) = (state.lastPosition, state.lastChain)
        state.metrics.synced(commits: state.metrics.commits, since: start)
    }

    private func make(_ state: inout JournalState, _ count: UInt64) throws(JournalError) -> (NewSegment, allocated: UInt64) {
        var allocated: UInt64 = 0
        let segment = try Self.makeSegment(
            in: directory, journal: id, first: state.lastPosition + 1, chain: state.lastChain, &state.entropy,
            prepare: { (file) throws(JournalError) in
                let start = UInt64(SegmentHeader.size)
                allocated = try JournalState.allocate(file, used: start, needed: start + count, segmentSize)
            })
        return (segment, allocated)
    }

    /// Makes everything durable, marks the journal closed in good order, gives back unused space and releases the lock.
    ///
    /// The second time it does nothing. Without it, as after a crash, the next opening recovers. Reads end with `closed` afterwards.
    ///
    /// - Throws: The error that stopped the journal, now or earlier; it is closed and unlocked all the same.
    public func close() throws(JournalError) {
        // After the lock has been released, which a follower may ask for at once.
        defer { published.withLock { $0.close() }?.deliver() }
        try sync.withLock { (sync) throws(JournalError) in
            defer { sync.lock?.unlock() }
            try change { (state) throws(JournalError) in
                if state.isClosed { return }
                state.isClosed = true
                if isReadOnly { return }
                if let failure = state.failure { throw failure }
                try state.writePending()
                let active = state.active
                let start = ContinuousClock.now
                do throws(JournalError) {
                    try storage { () throws(StorageError) in
                        try active.file.sync()
                        // Truncated after the sync, and synced again: a clean mark says that the file ends where the commits do.
                        try active.file.truncate(to: active.end)
                        try active.file.sync()
                    }
                    state.allocated = active.end
                    try attest(&state, &sync, isClean: true, since: start)
                } catch {
                    state.stop(error)
                    throw state.failure ?? error
                }
            }
        }
    }
}
