internal import Dispatch
internal import Synchronization

extension Journal {
    /// Blocks until everything up to `position` is durable under the journal's mode.
    ///
    /// Whoever comes first leads a sync, which covers everything appended by then; those who come meanwhile share the next one.
    ///
    /// - Throws: `outOfRange` (beyond ``lastPosition``), `closed`; or the error that stopped the journal, unless the position was durable
    ///   before.
    public func waitUntilDurable(_ position: Position) throws(JournalError) {
        try wait(position, strictly: false)
    }

    /// Waits until everything up to `position` is durable under the journal's mode, without blocking a thread of the cooperative pool.
    ///
    /// Cancelling the task does not end the wait: what was appended will be durable or the journal stops.
    ///
    /// - Throws: `outOfRange` (beyond ``lastPosition``), `closed`; or the error that stopped the journal, unless the position was durable
    ///   before.
    public func waitUntilDurable(_ position: Position) async throws(JournalError) {
        if try isDurable(position, strictly: false) { return }
        let result: Result<Void, JournalError> = await withCheckedContinuation { task in
            let step = state.withLock { state -> TaskStep in
                if position <= state.syncedPosition { return .finished(.success(())) }
                if let failure = state.failure { return .finished(.failure(failure)) }
                state.waiters.tasks.append((position, task))
                if state.waiters.isLed { return .waiting }
                state.waiters.isLed = true
                return .queueLeads
            }
            switch step {
            case .finished(let result): task.resume(returning: result)
            case .waiting: break
            case .queueLeads: queue.async { self.leadForTasks() }
            }
        }
        try result.get()
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
        case finished(Result<Void, JournalError>)
        case waiting
        case queueLeads
    }

    private enum ThreadStep {
        case finished
        case lead
        case follow(ThreadWaiter)
    }

    /// Whether there is nothing to wait for; `strictly`, only a sync counts.
    private func isDurable(_ position: Position, strictly: Bool) throws(JournalError) -> Bool {
        try state.withLock { (state) throws(JournalError) in
            guard position <= state.lastPosition else {
                throw JournalError(
                    .outOfRange, "The journal's last position is \(state.lastPosition).", path: directory.path,
                    positions: position...position)
            }
            if position <= (strictly ? state.syncedPosition : state.durablePosition) { return true }
            try state.checkWritable()
            return false
        }
    }

    private func wait(_ position: Position, strictly: Bool) throws(JournalError) {
        if try isDurable(position, strictly: strictly) { return }
        let step = try state.withLock { (state) throws(JournalError) -> ThreadStep in
            if position <= state.syncedPosition { return .finished }
            if let failure = state.failure { throw failure }
            if !state.waiters.isLed {
                state.waiters.isLed = true
                return .lead
            }
            let waiter = state.waiters.idle.popLast() ?? ThreadWaiter()
            state.waiters.threads.append((position, waiter))
            return .follow(waiter)
        }
        switch step {
        case .finished: return
        case .lead: try lead(position)
        case .follow(let waiter):
            let outcome = waiter.wait()
            // A few hundred threads at most wait at once; beyond that they are not worth keeping.
            state.withLock { if $0.waiters.idle.count < 256 { $0.waiters.idle.append(waiter) } }
            switch outcome {
            case .durable: return
            case .lead: try lead(position)
            case .failed(let failure): throw failure
            }
        }
    }

    /// Leads one sync, which covers this thread's position, and hands on the lead.
    private func lead(_ position: Position) throws(JournalError) {
        syncRound()
        let failure = state.withLock { position <= $0.syncedPosition ? nil : $0.failure }
        finishRound()
        if let failure { throw failure }
    }

    /// Leads syncs on the queue while only tasks wait.
    private func leadForTasks() {
        syncRound()
        finishRound()
    }

    private func finishRound() {
        let wakeups = state.withLock { $0.waiters.settle(synced: $0.syncedPosition, failure: $0.failure) }
        wakeups.deliver()
        if wakeups.queueLeads { queue.async { self.leadForTasks() } }
    }

    /// Syncs everything appended by now, outside the journal's lock, so that appends go on; then writes the slot.
    ///
    /// A failure stops the journal.
    private func syncRound() {
        sync.withLock { sync in
            let work = state.withLock { state -> (file: any StorageFile, position: Position, chain: UInt64, commits: UInt64)? in
                guard state.failure == nil, state.lastPosition > state.syncedPosition else { return nil }
                return (state.active.file, state.lastPosition, state.lastChain, state.metrics.commits)
            }
            guard let work else { return }
            let start = ContinuousClock.now
            do throws(JournalError) {
                try storage { () throws(StorageError) in try work.file.sync() }
                try sync.write(slot(work.position, work.chain, isClean: false))
                if durability == .written { try sync.syncSlots() } else { syncSlotsWhenIdle(&sync) }
                state.withLock {
                    ($0.syncedPosition, $0.syncedChain) = (work.position, work.chain)
                    $0.metrics.synced(commits: work.commits, since: start)
                }
            } catch {
                state.withLock { $0.stop(error) }
            }
        }
    }
}

extension JournalState {
    /// Stops the journal for the first failure; later ones follow from it.
    mutating func stop(_ error: JournalError) {
        guard failure == nil else { return }
        var error = error
        // `storageFull` promises that a later call is tried again; this one will not be.
        if error.code == .storageFull { error.code = .ioFailed }
        error.message += " The journal has stopped until it is reopened."
        failure = error
    }
}
