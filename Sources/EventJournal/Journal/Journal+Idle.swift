internal import Dispatch
internal import Locking

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

extension Duration {
    /// The same time as Dispatch counts it, to the nanosecond; the longest that it can count for what is longer.
    var dispatchInterval: DispatchTimeInterval {
        let (seconds, attoseconds) = components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowOfSum) = whole.addingReportingOverflow(attoseconds / 1_000_000_000)
        if overflow || overflowOfSum { return .nanoseconds(seconds < 0 ? .min : .max) }
        return .nanoseconds(Int(clamping: sum))
    }
}
