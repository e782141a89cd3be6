internal import Locking

extension Journal: CommitLog {
    /// Waits until more than `position` is durable under the journal's mode, without holding a thread, and returns the durable position.
    ///
    /// A journal open for reading only looks for what its writer has added, 2 ms after the last look at first and 50 ms while nothing comes.
    ///
    /// - Throws: `outOfRange` (`position` is beyond ``lastPosition``); when nothing more is durable: `closed` once the journal is closed, the
    ///   error that stopped it once it has stopped, and `cancelled` once the task is cancelled; read-only also what looking for more throws.
    /// - Complexity: Constant, and a few words of memory while it waits; read-only that of looking for more, each time.
    public func waitForMore(after position: Position) async throws(JournalError) -> Position {
        isReadOnly ? try await lookForMore(after: position) : try await followWriter(after: position)
    }

    private func followWriter(after position: Position) async throws(JournalError) -> Position {
        let id = state.withLock { $0.waiters.followers.makeID() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (task: CheckedContinuation<Result<Position, JournalError>, Never>) in
                let result = state.withLock { state -> Result<Position, JournalError>? in
                    if let result = more(after: position, state) { return result }
                    // Asked under the lock: a cancellation that comes later takes the follower out again.
                    if Task.isCancelled { return .failure(.cancelledWait) }
                    state.waiters.followers.add(id, position, task)
                    return nil
                }
                if let result { task.resume(returning: result) }
            }
        } onCancel: {
            state.withLock { $0.waiters.followers.remove(id) }?.resume(returning: .failure(.cancelledWait))
        }
        return try result.get()
    }

    private func lookForMore(after position: Position) async throws(JournalError) -> Position {
        var pause = 2
        while true {
            if let result = state.withLock({ more(after: position, $0) }) { return try result.get() }
            do {
                try await Task.sleep(for: .milliseconds(pause))
            } catch {
                throw .cancelledWait
            }
            pause = min(2 * pause, 50)
            if state.withLock({ !$0.isClosed }) { _ = try refresh() }
        }
    }

    /// What a wait after a position has come to; nil when it has to wait.
    private func more(after position: Position, _ state: borrowing JournalState) -> Result<Position, JournalError>? {
        if state.durablePosition > position { return .success(state.durablePosition) }
        do throws(JournalError) {
            try state.checkWritable()
        } catch {
            return .failure(error)
        }
        guard position <= state.lastPosition else {
            return .failure(
                JournalError(
                    .outOfRange, "The journal's last position is \(state.lastPosition).", path: directory.path,
                    positions: position...position))
        }
        return nil
    }

    /// Wakes those who follow the journal, after something else than a sync round may have made more durable or ended it.
    func wakeFollowers() {
        state.withLock { $0.takeFollowers() }?.deliver()
    }
}

extension JournalState {
    /// Takes out the followers who have something to be told, for delivery outside the lock.
    mutating func takeFollowers() -> FollowerWakeups? {
        // The way of nearly every append: nobody follows, and that is all there is to find out.
        if waiters.followers.isEmpty { return nil }
        return waiters.followers.take(durable: durablePosition, failure: isClosed ? .closedLog : failure)
    }
}

extension JournalError {
    static let cancelledWait = JournalError(.cancelled, "The task that waited has been cancelled.")
    static let closedLog = JournalError(.closed, "The journal has been closed.")
}
