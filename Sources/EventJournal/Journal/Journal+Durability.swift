internal import Locking

extension Journal {
    /// Blocks until everything up to `position` is durable under the journal's mode.
    ///
    /// Whoever comes first leads a sync, which covers everything appended by then; those who come meanwhile share the next one.
    ///
    /// - Throws: `outOfRange` (beyond ``lastPosition``), `closed`; or the error that stopped the journal, unless the position was durable
    ///   before.
    public func waitUntilDurable(_ position: Position) throws(JournalError) {
        if position <= durablePosition { return }
        try wait(position, strictly: false)
    }

    /// Waits until everything up to `position` is durable under the journal's mode, without blocking a thread of the cooperative pool.
    ///
    /// Cancelling the task does not end the wait: what was appended will be durable or the journal stops.
    ///
    /// - Throws: `outOfRange` (beyond ``lastPosition``), `closed`; or the error that stopped the journal, unless the position was durable
    ///   before.
    public func waitUntilDurable(_ position: Position) async throws(JournalError) {
        if position <= durablePosition { return }
        let result = await withCheckedContinuation { (task: WaitQueue.Continuation) in
            let step = state.withLock { state -> TaskStep in
                do throws(JournalError) {
                    if try state.isDurable(position, directory) { return .finished(.success(position)) }
                } catch {
                    return .finished(.failure(error))
                }
                state.waiters.join(position, task)
                if state.waiters.isLed { return .waiting }
                state.waiters.lead = .announced
                return .othersLead
            }
            switch step {
            case .finished(let result): task.resume(returning: result)
            case .waiting: break
            case .othersLead: background.run { self.leadOthers() }
            }
        }
        _ = try result.get()
    }

    /// Blocks until everything appended is on the device, whatever the journal's mode, and the note that says so as well.
    ///
    /// - Throws: `syncFailed` or the error that stopped the journal earlier; `closed`.
    public func synchronize() throws(JournalError) {
        try wait(lastPosition, strictly: true)
        try sync.withLock { (sync) throws(JournalError) in
            if sync.isSlotSynced { return }
            try state.withLock { (state) throws(JournalError) in try state.checkWritable() }
            try syncSlots(&sync)
        }
    }

    private enum TaskStep {
        case finished(Result<Position, JournalError>)
        case waiting
        case othersLead
    }

    private enum ThreadStep {
        case finished
        case lead
        case follow(WaitingThreads)
    }

    /// Waits until a position is durable under the journal's mode; `strictly`, only a sync counts.
    private func wait(_ position: Position, strictly: Bool) throws(JournalError) {
        let step = try state.withLock { (state) throws(JournalError) -> ThreadStep in
            if try state.isDurable(position, strictly: strictly, directory) { return .finished }
            // On an executor of one thread, which this may be, what was announced could not begin while it waits.
            let mayLead = state.waiters.lead == .announced && background.isInjected
            if state.waiters.isLed, !mayLead { return .follow(state.waiters.joinThread(position)) }
            state.waiters.lead = .begun
            return .lead
        }
        switch step {
        case .finished: return
        case .lead: if syncRound(then: .announced) { background.run { self.leadOthers() } }
        // The way of nearly every wait: the journal has not stopped, so whoever was woken has been covered.
        case .follow(let threads): if !threads.wait() { return }
        }
        let failure = state.withLock { position <= $0.syncedPosition ? nil : $0.failure }
        if let failure { throw failure }
    }

    /// Leads syncs in the background as long as anybody waits: no thread of the cooperative pool blocks, and nobody who leads has to be woken first.
    func leadOthers() {
        let isOurs = state.withLock { state in
            // A thread that blocks may have taken the lead meanwhile.
            guard state.waiters.lead == .announced else { return false }
            state.waiters.lead = .begun
            return true
        }
        if isOurs { while syncRound(then: .begun) {} }
    }

    /// Makes one sync, wakes those whom it covers, and tells whether others wait; the lead is then still the caller's, to go on with or to hand on.
    private func syncRound(then next: SyncQueue.Lead) -> Bool {
        makeSync()
        let (wakeups, isLed) = change { state in
            let wakeups = state.waiters.end(synced: state.syncedPosition, failure: state.failure)
            state.waiters.lead = state.waiters.hasNext ? next : .none
            // Nobody comes to write what others have appended and do not wait for; a failure is kept for whoever appends or waits next.
            if !state.waiters.isLed { do throws(JournalError) { try state.writePending() } catch {} }
            return (wakeups, state.waiters.isLed)
        }
        wakeups.deliver()
        return isLed
    }

    /// Syncs everything appended by now, outside the journal's lock, so that appends go on; then writes the slot.
    ///
    /// A failure stops the journal.
    private func makeSync() {
        sync.withLock { sync in
            let work = change { state -> (file: any StorageFile, position: Position, chain: UInt64, commits: UInt64)? in
                state.waiters.begin(through: state.lastPosition)
                // A failure is kept: whoever waits is told.
                do throws(JournalError) {
                    let (commitCount, byteCount) = (state.pending.commitCount, state.pending.byteCount)
                    try state.writePending()
                    state.fillAhead(after: commitCount, of: byteCount)
                } catch {
                    return nil
                }
                guard state.failure == nil, state.lastPosition > state.syncedPosition else { return nil }
                return (state.active.file, state.lastPosition, state.lastChain, state.metrics.commits)
            }
            guard let work else { return }
            let start = ContinuousClock.now
            do throws(JournalError) {
                try storage { () throws(StorageError) in try work.file.sync() }
                // A write that failed meanwhile has synced what it cut off: the system may have told it, and not us, that what was to be synced is lost.
                if state.withLock({ $0.failure != nil }) { return }
                try sync.write(slot(work.position, work.chain, isClean: false))
                if durability == .written { try sync.syncSlots() } else { syncSlotsWhenIdle(&sync) }
                change {
                    ($0.syncedPosition, $0.syncedChain) = (work.position, work.chain)
                    $0.metrics.synced(commits: work.commits, since: start)
                }
            } catch {
                change { $0.stop(error) }
            }
        }
    }
}

extension JournalState {
    /// Whether there is nothing to wait for; `strictly`, only a sync counts.
    ///
    /// - Throws: `outOfRange`, `closed`; or the error that stopped the journal, where only a sync that will not be could make the position durable.
    func isDurable(_ position: Position, strictly: Bool = false, _ directory: JournalDirectory) throws(JournalError) -> Bool {
        if position <= (strictly ? syncedPosition : durablePosition) { return true }
        // Before the range: what could not be written has no position any more.
        try checkWritable()
        guard position <= lastPosition else {
            throw JournalError(
                .outOfRange, "The journal's last position is \(lastPosition).", path: directory.path, positions: position...position)
        }
        return false
    }

    /// Stops the journal for the first failure; later ones follow from it.
    mutating func stop(_ error: JournalError) {
        guard failure == nil else { return }
        var error = error
        // `storageFull` promises that a later call is tried again; this one will not be.
        if error.code == .storageFull { error.code = .ioFailed }
        error.message += " The journal has stopped until it is reopened."
        failure = error
        dropPending()
    }
}

extension Journal {
    /// Sees to it that the slot is synced once the journal has had nothing to sync for a while.
    ///
    /// Until then a power cut may take the slot, and with it the knowledge that the latest commits were synced, though not the commits.
    func syncSlotsWhenIdle(_ sync: inout SyncState) {
        guard let idleDelay, !sync.isIdleSyncDue else { return }
        sync.isIdleSyncDue = true
        let sequence = sync.sequence
        background.run(after: idleDelay) { [weak self] in self?.idle(since: sequence) }
    }

    /// Syncs the slot if it is still the one with this sequence number; else there was no rest, and it looks again later.
    private func idle(since sequence: UInt64) {
        sync.withLock { sync in
            sync.isIdleSyncDue = false
            let isOver = state.withLock { $0.isClosed || $0.failure != nil }
            if isOver || sync.isSlotSynced { return }
            if sync.sequence != sequence { return syncSlotsWhenIdle(&sync) }
            // The error is kept: everybody who appends from now on is told.
            do { try syncSlots(&sync) } catch {}
        }
    }

    /// Syncs the slots; a failure stops the journal.
    func syncSlots(_ sync: inout SyncState) throws(JournalError) {
        do throws(JournalError) {
            try sync.syncSlots()
        } catch {
            throw change { state in
                state.stop(error)
                return state.failure ?? error
            }
        }
    }
}
