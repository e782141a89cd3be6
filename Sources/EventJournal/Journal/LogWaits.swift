package import Locking
package import Primitives

/// The state of a log's writer, whose callers wait until positions are durable.
package protocol LogWriterState {
    var waiters: SyncQueue { get set }
    /// The error that stopped the log.
    var failure: JournalError? { get }
    /// Whether the failure was reported to the log of the host program.
    var isFailureReported: Bool { get set }
    /// Whether a position is durable.
    ///
    /// - Throws: `outOfRange`, `closed`, or the error that stopped the log.
    func isDurable(_ position: Position) throws(JournalError) -> Bool
}

extension LogWriterState {
    /// Returns the failure that stopped the log, once.
    package mutating func takeUnreportedFailure() -> JournalError? {
        defer { isFailureReported = failure != nil }
        return isFailureReported ? nil : failure
    }
}

extension Lock where Value: LogWriterState {
    /// Waits until a position is durable, without blocking a thread.
    ///
    /// - Parameter startLeader: Schedules a background job that leads as
    ///   ``SyncQueue/leadAsScheduled()`` says.
    package borrowing func waitUntilDurable(_ position: Position, startLeader: () -> Void) async throws(JournalError) {
        let result = await withCheckedContinuation { (task: WaitQueue.Continuation) in
            do throws(JournalError) {
                let (isDurable, isScheduled) = try withLock { (state) throws(JournalError) in
                    if try state.isDurable(position) { return (true, false) }
                    state.waiters.join(position, task)
                    return (false, state.waiters.scheduleLeader())
                }
                if isDurable { task.resume(returning: .success(position)) }
                if isScheduled { startLeader() }
            } catch {
                task.resume(returning: .failure(error))
            }
        }
        _ = try result.get()
    }
}

/// The state of a log that readers see, in which followers wait for later records.
package protocol LogReaderState: SendableMetatype {
    var followers: WaitQueue { get set }
    /// Returns the durable position if it is after another one; nil if a follower must wait.
    ///
    /// - Throws: Why no later record will come, and `outOfRange`.
    func durablePosition(after position: Position) throws(JournalError) -> Position?
}

extension Lock where Value: LogReaderState {
    /// Waits until a position after another one is durable, without blocking a thread.
    package borrowing func waitForRecords(after position: Position) async throws(JournalError) -> Position {
        let id = withLock { $0.followers.makeID() }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (task: WaitQueue.Continuation) in
                do throws(JournalError) {
                    let durable = try withLock { (state) throws(JournalError) -> Position? in
                        if let durable = try state.durablePosition(after: position) { return durable }
                        // Checked under the lock: a later cancellation finds the follower in the
                        // queue and removes it.
                        if Task.isCancelled { throw .cancelledWait }
                        state.followers.add(id, position + 1, task)
                        return nil
                    }
                    if let durable { task.resume(returning: .success(durable)) }
                } catch {
                    task.resume(returning: .failure(error))
                }
            }
        } onCancel: {
            withLock { $0.followers.remove(id) }?.resume(returning: .failure(.cancelledWait))
        }
        return try result.get()
    }
}

extension JournalError {
    static var cancelledWait: JournalError { JournalError(.cancelled, "The waiting task was cancelled.") }
}
