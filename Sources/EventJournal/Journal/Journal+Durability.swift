internal import Locking

extension Journal {
    /// Blocks until the records up to `position` are durable under the journal's mode.
    ///
    /// The first caller leads a sync of everything appended so far. Callers that arrive during a
    /// sync share the next one.
    ///
    /// - Throws: `outOfRange` (beyond ``lastPosition``), `closed`, or the error that stopped the
    ///   journal. Does not throw if the position was already durable.
    public func waitUntilDurable(_ position: Position) throws(JournalError) {
        if position <= durablePosition { return }
        try wait(position, strictly: false)
    }

    /// Waits until the records up to `position` are durable, without blocking a thread of the
    /// cooperative pool.
    ///
    /// Durable means durable under the journal's mode. Cancelling the task does not end the wait:
    /// the records become durable, or the journal stops.
    ///
    /// - Throws: `outOfRange` (beyond ``lastPosition``), `closed`, or the error that stopped the
    ///   journal. Does not throw if the position was already durable.
    public func waitUntilDurable(_ position: Position) async throws(JournalError) {
        if position <= durablePosition { return }
        try await state.waitUntilDurable(position) { background.run { self.leadBackgroundSyncs() } }
    }

    /// Blocks until all appended records and the durable slot are synced, whatever the journal's
    /// mode.
    ///
    /// - Throws: `syncFailed`, the error that stopped the journal earlier, or `closed`.
    public func synchronize() throws(JournalError) {
        try wait(lastPosition, strictly: true)
        try syncState.withLock { (sync) throws(JournalError) in
            if sync.isSlotSynced { return }
            try state.withLock { (state) throws(JournalError) in try state.checkWritable() }
            try syncSlots(&sync)
        }
    }

    /// Waits until a position is durable; if `strictly`, until it is synced whatever the journal's
    /// mode.
    private func wait(_ position: Position, strictly: Bool) throws(JournalError) {
        let step = try state.withLock { (state) throws(JournalError) -> ThreadStep in
            if try strictly ? state.isSynced(position) : state.isDurable(position) { return .finished }
            // This may be the only thread of an injected executor, on which a scheduled leader
            // cannot start while this thread waits.
            return state.waiters.leadOrJoin(position, precedesScheduled: background.hasInjectedExecutor)
        }
        switch step {
        case .finished: return
        case .lead: if syncRound(then: .scheduled) { background.run { self.leadBackgroundSyncs() } }
        // The common case: the journal has not stopped, so the sync covered this thread's position.
        case .follow(let threads): if !threads.wait() { return }
        }
        let failure = state.withLock { position <= $0.syncedPosition ? nil : $0.failure }
        if let failure { throw failure }
    }

    /// Leads syncs in the background while tasks or threads wait.
    ///
    /// No thread of the cooperative pool blocks, and no waiting thread has to wake up to lead the
    /// next sync.
    func leadBackgroundSyncs() {
        if state.withLock({ $0.waiters.leadAsScheduled() }) { while syncRound(then: .active) {} }
    }

    /// Makes one sync, wakes the waiters that it covers, and returns whether others still wait.
    ///
    /// - Parameter next: The state of the lead if others still wait: `active` if the caller
    ///   continues to lead, `scheduled` if it hands over to a background leader.
    private func syncRound(then next: SyncQueue.Leader) -> Bool {
        makeSync()
        let (wakeups, isLed, isTreePageDue, failure) = updateState { state in
            let wakeups = state.waiters.end(synced: state.syncedPosition, failure: state.failure)
            state.waiters.endLead(then: state.waiters.hasUncoveredWaiters ? next : .none)
            // Without a leader, no later step writes the commits that callers appended without
            // waiting. A failure is stored for the next append or wait.
            if !state.waiters.hasLeader { do throws(JournalError) { try state.writePending() } catch {} }
            return (wakeups, state.waiters.hasLeader, state.takeTreePageIfDue(), state.takeUnreportedFailure())
        }
        wakeups.deliver()
        if isTreePageDue { scheduleTreePage(isBusy: true) }
        if let failure { report(failure) }
        return isLed
    }

    /// Reports a failure that stopped the journal to the log of the host program.
    func report(_ failure: JournalError) {
        log?(
            LogMessage(.error, failure.description, metadata: ["path": directory.path, "code": failure.code.rawValue]))
    }

    /// Syncs everything appended so far, then writes the durable slot.
    ///
    /// The sync runs outside the writer's lock, so that appends continue. A failure stops the
    /// journal.
    private func makeSync() {
        syncState.withLock { sync in
            let work = updateState {
                state -> (file: any StorageFile, position: Position, chain: UInt64, commits: UInt64)? in
                state.waiters.begin(through: state.lastPosition)
                // A failure is stored in the state and reported to the waiters.
                do throws(JournalError) {
                    let (commitCount, byteCount) = (state.pending.commitCount, state.pending.byteCount)
                    try state.writePending()
                    state.zeroFillIfUseful(commitCount: commitCount, byteCount: byteCount)
                } catch {
                    return nil
                }
                guard state.failure == nil, state.lastPosition > state.syncedPosition else { return nil }
                return (state.active.file, state.lastPosition, state.lastChain, state.metrics.commitCount)
            }
            guard let work else { return }
            let start = ContinuousClock.now
            do throws(JournalError) {
                try convertingErrors(of: work.file.sync())
                // A write that failed in the meantime has synced the truncated file. The system may
                // have reported the loss of this sync's data to that call only.
                if state.withLock({ $0.failure != nil }) { return }
                try sync.write(slot(work.position, work.chain, isClean: false))
                if durability == .written { try sync.syncSlots() } else { syncSlotsWhenIdle(&sync) }
                try updateState { (state) throws(JournalError) in
                    // After the sync, which may have taken long.
                    try state.checkFiles(in: directory)
                    (state.syncedPosition, state.syncedChain) = (work.position, work.chain)
                    state.metrics.recordSync(commits: work.commits, since: start)
                }
            } catch {
                updateState { $0.stop(error) }
            }
        }
    }
}

extension JournalState: LogWriterState {
    func isDurable(_ position: Position) throws(JournalError) -> Bool {
        if position <= durablePosition { return true }
        try checkAppended(position)
        return false
    }

    /// Whether a position is synced, whatever the journal's mode.
    ///
    /// - Throws: `outOfRange`, `closed`, or the error that stopped the journal.
    func isSynced(_ position: Position) throws(JournalError) -> Bool {
        if position <= syncedPosition { return true }
        try checkAppended(position)
        return false
    }

    private func checkAppended(_ position: Position) throws(JournalError) {
        // Before the range check: commits that could not be written no longer have positions.
        try checkWritable()
        if position > lastPosition { throw .position(position, after: lastPosition, path: path) }
    }

    /// Stops the journal at the first failure; later failures are consequences of it.
    mutating func stop(_ error: JournalError) {
        guard failure == nil else { return }
        var error = error
        // `storageFull` means that the caller may retry, but a stopped journal must be reopened.
        if error.code == .storageFull { error.code = .ioFailed }
        error.message += " The journal has stopped until it is reopened."
        failure = error
        dropPending()
    }
}

extension Journal {
    /// Schedules a sync of the durable slot for when the journal is idle.
    ///
    /// Until then a power failure may lose the slot. The commits remain, but recovery does not know
    /// that the latest ones were synced.
    func syncSlotsWhenIdle(_ sync: inout SyncState) {
        guard let slotSyncDelay, !sync.isIdleSyncDue else { return }
        sync.isIdleSyncDue = true
        let sequence = sync.sequence
        background.run(after: slotSyncDelay) { [weak self] in self?.syncSlotsIfIdle(since: sequence) }
    }

    /// Syncs the slot if none was written since the given sequence number; otherwise schedules
    /// another check.
    private func syncSlotsIfIdle(since sequence: UInt64) {
        let hasFailed = syncState.withLock { sync in
            sync.isIdleSyncDue = false
            let isOver = state.withLock { $0.isClosed || $0.failure != nil }
            if isOver || sync.isSlotSynced { return false }
            if sync.sequence != sequence {
                syncSlotsWhenIdle(&sync)
                return false
            }
            // The error is stored and reported to every later append.
            do { try syncSlots(&sync) } catch { return true }
            return false
        }
        if hasFailed, let failure = state.withLock({ $0.takeUnreportedFailure() }) { report(failure) }
    }

    /// Syncs the slots; a failure stops the journal.
    func syncSlots(_ sync: inout SyncState) throws(JournalError) {
        do throws(JournalError) {
            try sync.syncSlots()
        } catch {
            throw updateState { state in
                state.stop(error)
                return state.failure ?? error
            }
        }
    }
}
