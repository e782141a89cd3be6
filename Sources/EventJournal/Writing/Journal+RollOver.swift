internal import Synchronization

extension Journal {
    /// Seals the last segment and begins a new one with space for a commit of `count` bytes, unless there is room by now.
    ///
    /// The order: the old segment is synced, then the slot; the space not used is given back; only then the new segment gets its name, whose
    /// header attests all before it. A disk that is full leaves the old segment the last one, and a later call tries again.
    func rollOver(for count: UInt64) throws(JournalError) {
        defer { wakeFollowers() }
        try sync.withLock { (sync) throws(JournalError) in
            try state.withLock { (state) throws(JournalError) in
                try state.checkWritable()
                if state.hasRoom(count, segmentSize) { return }
                try seal(&state, &sync, isClean: false)
                do throws(JournalError) {
                    try begin(&state, count)
                } catch {
                    if error.code != .storageFull { state.stop(error) }
                    throw state.failure ?? error
                }
            }
        }
    }

    /// Makes everything appended durable, the slot with it, and gives back the space that the last segment does not use.
    func seal(_ state: inout JournalState, _ sync: inout SyncState, isClean: Bool) throws(JournalError) {
        guard let active = state.segments.last else { return }
        do throws(JournalError) {
            try storage { () throws(StorageError) in
                try active.file.sync()
                // Truncated after the sync, and at a close synced again: a clean mark says that the file ends where the commits do.
                try active.file.truncate(to: active.end)
                if isClean { try active.file.sync() }
            }
            state.allocated = active.end
            try sync.write(slot(state.lastPosition, state.lastChain, isClean: isClean))
            try sync.syncSlots()
            (state.syncedPosition, state.syncedChain) = (state.lastPosition, state.lastChain)
        } catch {
            state.stop(error)
            throw state.failure ?? error
        }
    }

    private func begin(_ state: inout JournalState, _ count: UInt64) throws(JournalError) {
        var allocated: UInt64 = 0
        let first = state.lastPosition + 1
        let segment = try Self.makeSegment(
            in: directory, journal: id, first: first, chain: state.lastChain, &state.entropy,
            prepare: { (file) throws(JournalError) in
                let start = UInt64(SegmentHeader.size)
                allocated = try JournalState.allocate(file, used: start, needed: start + count, segmentSize)
            })
        state.seal(sealed, directory)
        state.segments.append(segment)
        state.allocated = allocated
    }

    /// Makes everything durable, marks the journal closed in good order, gives back unused space and releases the lock.
    ///
    /// The second time it does nothing. Without it, as after a crash, the next opening recovers. Reads end with `closed` afterwards.
    ///
    /// - Throws: The error that stopped the journal, now or earlier; it is closed and unlocked all the same.
    public func close() throws(JournalError) {
        defer { wakeFollowers() }
        try sync.withLock { (sync) throws(JournalError) in
            defer { sync.lock?.unlock() }
            try state.withLock { (state) throws(JournalError) in
                if state.isClosed { return }
                state.isClosed = true
                if isReadOnly { return }
                if let failure = state.failure { throw failure }
                try seal(&state, &sync, isClean: true)
            }
        }
    }
}
