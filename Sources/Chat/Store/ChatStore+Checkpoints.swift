public import ChatDomain
import EventJournal
import Locking
import Primitives
import Projections

extension ChatStore {
    /// Writes a checkpoint of the read models and waits until it is durable.
    ///
    /// Applications rarely need this call, because a store writes checkpoints by itself
    /// (``StoreOptions/checkpoints``). It blocks the calling thread but no command.
    ///
    /// - Returns: The position of the checkpoint.
    /// - Throws: ``ChatError/journal(_:)`` with `readOnly` if the store is open for reading only,
    ///   its checkpoints are disabled or its log is not a `CheckpointLog`; with `closed`; with
    ///   `conflict` if content was erased meanwhile; or if the checkpoint could not be written.
    ///   ``ChatError/newerEvents``.
    /// - Complexity: O(*n*) in the number of events in the journal.
    @discardableResult
    public func writeCheckpoint() throws(ChatError) -> Position {
        try requireRunning()
        guard let checkpointer, checkpointer.options != nil, !log.isReadOnly else {
            throw .journal(JournalError(.readOnly, "The store is read-only, or its checkpoints are disabled."))
        }
        let snapshot = Lock<StoreModels?>(nil)
        let epoch = checkpointer.epoch
        // The decider's lock is held until the decided events are appended, so the snapshot
        // ends at a commit.
        let position = try decider.withLock { decider throws(ChatError) in
            if let failure { throw .journal(failure) }
            if decider.rules.hasUnknownEvents { throw .newerEvents }
            readSide.requestSnapshot(decider.rules) { models in snapshot.withLock { $0 = models } }
            return decider.rules.head
        }
        try wrappingErrors(of: log.waitUntilDurable(position))
        readSide.applyDurable(log)
        guard let models = snapshot.withLock({ $0.take() }) else {
            preconditionFailure("A snapshot is delivered once its position is durable.")
        }
        try checkpointer.writeNow(models, of: epoch)
        return position
    }

    /// Starts a background checkpoint of the decided events once they are durable.
    ///
    /// Called by the thread that holds the decider's lock, after it has appended its events.
    func beginCheckpoint(_ decider: inout Decider) {
        guard let checkpointer, let options = checkpointer.options else { return }
        decider.nextCheckpoint = options.nextPosition(after: decider.rules.head)
        let epoch = checkpointer.epoch
        readSide.requestSnapshot(decider.rules) { [weak checkpointer] in checkpointer?.scheduleWrite($0, of: epoch) }
    }

    /// Stops the checkpoint in progress, and writes the last checkpoints of the read models and of
    /// the custom projections if enough events follow the previous ones.
    ///
    /// Called when no more commands are decided and every decided event is durable and applied.
    func writeFinalCheckpoint() {
        guard let checkpointer else { return }
        checkpointer.stop()
        if log.isReadOnly { return }
        writeLastCheckpoint(checkpointer)
        checkpointer.writeProjectionCheckpoints()
    }

    private func writeLastCheckpoint(_ checkpointer: Checkpointer) {
        guard let least = checkpointer.options?.atClose else { return }
        let epoch = checkpointer.epoch
        let snapshot = decider.withLock { decider -> StoreModels? in
            let position = readSide.position
            // The rules may be ahead of a failed commit.
            guard position == decider.rules.head, position == log.durablePosition,
                position >= checkpointer.lastPosition.addingClamped(max(least, 1))
            else { return nil }
            return readSide.withShared { StoreModels(decider.rules, $0.models) }
        }
        // The statistics count a failure; it must not prevent the close.
        if let snapshot { try? checkpointer.writeNow(snapshot, of: epoch, isLast: true) }
    }

    /// Loads the checkpoint of a journal, or returns empty models if none matches.
    ///
    /// - Parameter report: Receives a message about a checkpoint that is ignored.
    static func loadCheckpoint(
        _ log: (any CheckpointLog)?, _ options: CheckpointOptions?, _ report: LogHandler?
    ) -> (StoreModels, CheckpointStatistics) {
        var statistics = CheckpointStatistics()
        guard let log, options != nil else { return (StoreModels(), statistics) }
        let start = ContinuousClock.now
        do throws(CheckpointProblem) {
            let models = try StoreModels(checkpointOf: log)
            statistics.loadedPosition = models.position
            statistics.loadSeconds = (ContinuousClock.now - start) / .seconds(1)
            return (models, statistics)
        } catch {
            statistics.ignore(error)
            // A new journal has no checkpoint.
            if error.code != .absent {
                report?(
                    LogMessage(
                        .warning, "Ignored the checkpoint: \(error.message)", metadata: ["code": error.code.rawValue]))
            }
            return (StoreModels(), statistics)
        }
    }
}
