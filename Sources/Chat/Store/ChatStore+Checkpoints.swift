public import ChatDomain
import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Writes a checkpoint of the read models now, and waits until it is durable.
    ///
    /// There is hardly a reason to: a store writes its checkpoints by itself, as ``StoreOptions/checkpoints`` says.
    ///
    /// - Returns: The position of the checkpoint.
    /// - Throws: ``ChatError/journal(_:)`` if it could not be written, the store is closed or open for reading only, or its checkpoints are switched off
    ///   (`readOnly`); ``ChatError/newerEvents``.
    /// - Complexity: Linear in what the journal holds. Blocks the calling thread, and no command.
    @discardableResult
    public func writeCheckpoint() throws(ChatError) -> Position {
        guard let checkpointer, checkpointer.options != nil, !log.isReadOnly else {
            throw .journal(JournalError(.readOnly, "The store is open for reading only, or without checkpoints."))
        }
        let copy = Lock<StoreModels?>(nil)
        // The decider is held until what is decided has been appended: the copy ends where a commit does.
        let result: Result<Position, ChatError> = decider.withLock { decider in
            if let failure = decider.failure { return .failure(.journal(failure)) }
            if decider.rules.hasUnknownEvents { return .failure(.newerEvents) }
            readSide.capture(decider.rules) { models in copy.withLock { $0 = models } }
            return .success(decider.rules.head)
        }
        let position = try result.get()
        try wrapping { () throws(JournalError) in try log.waitUntilDurable(position) }
        readSide.applyDurable(log)
        guard let models = copy.withLock({ $0.take() }) else { preconditionFailure("a copy is made once its position is durable") }
        try checkpointer.finish(models)
        return position
    }

    /// Begins to write a checkpoint in the background, once what was decided is durable; called by the thread that holds the decider, after what it decided has been
    /// appended.
    func beginCheckpoint(_ decider: inout Decider) {
        guard let checkpointer, let options = checkpointer.options else { return }
        decider.nextCheckpoint = options.next(after: decider.rules.head)
        readSide.capture(decider.rules) { [weak checkpointer] in checkpointer?.begin($0) }
    }

    /// Ends what is under way, and writes the last checkpoint if it is worth it; called when nothing more is decided and everything that was is durable and applied.
    func endCheckpoints() {
        guard let checkpointer else { return }
        checkpointer.stop()
        guard let least = checkpointer.options?.atClose, !log.isReadOnly else { return }
        let copy = decider.withLock { decider -> StoreModels? in
            let position = readSide.position
            // The rules may have run ahead of a commit that failed.
            guard position == decider.rules.head, position == log.durablePosition,
                position >= checkpointer.lastPosition.addingClamped(max(least, 1))
            else { return nil }
            return readSide.withShared { StoreModels(decider.rules, $0.models) }
        }
        // What fails has been counted, and is no reason not to close.
        if let copy { try? checkpointer.finish(copy, isLast: true) }
    }

    /// Reads the checkpoint of a journal, if there is one that fits; else the read models before the first event.
    static func loadCheckpoint(_ journal: Journal?, _ options: CheckpointOptions?) -> (StoreModels, CheckpointStatistics) {
        var statistics = CheckpointStatistics()
        guard let journal, options != nil else { return (StoreModels(), statistics) }
        let start = ContinuousClock.now
        do throws(CheckpointProblem) {
            let models = try StoreModels(checkpointOf: journal)
            statistics.loaded = models.position
            statistics.loadSeconds = (ContinuousClock.now - start) / .seconds(1)
            return (models, statistics)
        } catch {
            statistics.ignore(error)
            return (StoreModels(), statistics)
        }
    }
}

extension Position {
    fileprivate func addingClamped(_ other: Position) -> Position {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? .max : sum
    }
}
