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
        let id = published.withLock { $0.followers.makeID() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (task: CheckedContinuation<Result<Position, JournalError>, Never>) in
                let result = published.withLock { published -> Result<Position, JournalError>? in
                    if let result = published.more(after: position, in: directory) { return result }
                    // Asked under the lock: a cancellation that comes later takes the follower out again.
                    if Task.isCancelled { return .failure(.cancelledWait) }
                    published.followers.add(id, position, task)
                    return nil
                }
                if let result { task.resume(returning: result) }
            }
        } onCancel: {
            published.withLock { $0.followers.remove(id) }?.resume(returning: .failure(.cancelledWait))
        }
        return try result.get()
    }

    private func lookForMore(after position: Position) async throws(JournalError) -> Position {
        var pause = 2
        while true {
            if let result = published.withLock({ $0.more(after: position, in: directory) }) { return try result.get() }
            do {
                try await Task.sleep(for: .milliseconds(pause))
            } catch {
                throw .cancelledWait
            }
            pause = min(2 * pause, 50)
            if published.withLock({ !$0.isClosed }) { _ = try refresh() }
        }
    }
}

extension JournalError {
    static let cancelledWait = JournalError(.cancelled, "The task that waited has been cancelled.")
    static let closedLog = JournalError(.closed, "The journal has been closed.")
}
