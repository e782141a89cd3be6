public import ChatDomain
import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Executes a command and suspends until its answer is durable.
    ///
    /// Cancellation takes effect until the command is decided; afterwards the receipt is delivered.
    ///
    /// - Parameters:
    ///   - command: The command to decide.
    ///   - correlation: The caller's id for the operation, 1 to 256 bytes. The events store it,
    ///     except the joins of other people in direct threads.
    /// - Returns: The receipt, once its events are durable under the store's durability mode.
    /// - Throws: ``ChatError/rejected(_:)`` if a rule rejects the command, once every event that
    ///   the rejection depends on is durable; ``ChatError/cancelled`` if the task is cancelled
    ///   before the decision; ``ChatError/newerEvents``; ``ChatError/journal(_:)`` if the store is
    ///   closed or open for reading only, or if the journal has failed. After a failure the command
    ///   may or may not have taken effect: send it again with the same id after reopening. For a
    ///   duplicate also ``ChatError/undecodable(position:_:)`` if an event of the original command
    ///   does not decode.
    @discardableResult
    public func execute(_ command: ChatCommand, correlation: String? = nil) async throws(ChatError) -> Receipt {
        try await execute([CommandRequest(command, correlation: correlation)])[0].receipt()
    }

    /// Executes a command and blocks the thread until its answer is durable.
    ///
    /// For programs without tasks, such as a command-line tool: a task that blocks holds a thread
    /// that others wait for. Otherwise the same as ``execute(_:correlation:)``; not cancelled with
    /// the task.
    @discardableResult
    public func executeBlocking(_ command: ChatCommand, correlation: String? = nil) throws(ChatError) -> Receipt {
        try executeBlocking([CommandRequest(command, correlation: correlation)])[0].receipt()
    }

    /// Executes the commands in order as one atomic commit and suspends until their answers are
    /// durable.
    ///
    /// Each command sees the effects of the previous ones. A rejected command appends nothing and
    /// does not stop the others. After a crash, either all events of the batch exist or none.
    ///
    /// - Parameter batch: At most 65,536 commands, with events of at most 32 MiB in total.
    /// - Returns: One answer per command, in order.
    /// - Throws: ``ChatError/batchTooLarge``, ``ChatError/newerEvents`` and ``ChatError/cancelled``
    ///   before any command is decided; ``ChatError/journal(_:)`` for the whole batch if the store
    ///   is closed or open for reading only, or if the commit failed;
    ///   ``ChatError/undecodable(position:_:)`` if an event of the original command of a duplicate
    ///   does not decode.
    public func execute(_ batch: [CommandRequest]) async throws(ChatError) -> [Result<Receipt, Rejection>] {
        if Task.isCancelled { throw .cancelled }
        // A command and its answer may have to read earlier events.
        if readExecutor == nil { return try await executeInPlace(batch) }
        return try await onReadExecutor { () async throws(ChatError) in try await executeConcurrently(batch) }
    }

    @concurrent private func executeConcurrently(_ batch: [CommandRequest]) async throws(ChatError) -> [Result<
        Receipt, Rejection
    >] {
        try await executeInPlace(batch)
    }

    private func executeInPlace(_ batch: [CommandRequest]) async throws(ChatError) -> [Result<Receipt, Rejection>] {
        let decided = try decide(batch)
        do { try await log.waitUntilDurable(decided.requiredPosition) } catch { throw stopping(after: error) }
        readSide.apply(log, through: decided.requiredPosition)
        return try answers(to: decided)
    }

    /// Executes the commands in order as one atomic commit and blocks the thread until their
    /// answers are durable.
    ///
    /// Otherwise the same as ``execute(_:)``; not cancelled with the task.
    public func executeBlocking(_ batch: [CommandRequest]) throws(ChatError) -> [Result<Receipt, Rejection>] {
        try durableAnswers(to: try decide(batch))
    }

    /// Executes commands built from the state on which they are decided, as one commit; blocks the
    /// thread.
    ///
    /// Holds the decider's lock while it makes earlier events durable and applies them, so that the
    /// read models match the decider's rules.
    ///
    /// - Parameter makeBatch: Builds the commands from the read models.
    func executeBlocking(making makeBatch: (borrowing ReadModels) -> [CommandRequest]) throws(ChatError) -> [Result<
        Receipt, Rejection
    >] {
        let decided = try decider.withLock { (decider) throws(ChatError) in
            try applyDecidedEvents(decider)
            var batch = readSide.withShared { makeBatch($0.models) }
            let byteCount = try Self.checkedByteCount(of: &batch)
            return try decide(&batch, byteCount, [:], &decider)
        }
        return try durableAnswers(to: decided)
    }

    /// Waits until every decided event is durable, and applies it to the read models.
    func applyDecidedEvents(_ decider: borrowing Decider) throws(ChatError) {
        try requireRunning()
        let head = decider.rules.head
        do throws(JournalError) { try log.waitUntilDurable(head) } catch { throw stopping(after: error) }
        readSide.apply(log, through: head)
    }

    private func durableAnswers(to decided: consuming DecidedBatch) throws(ChatError) -> [Result<Receipt, Rejection>] {
        let through = decided.requiredPosition
        do throws(JournalError) { try log.waitUntilDurable(through) } catch { throw stopping(after: error) }
        readSide.apply(log, through: through)
        return try answers(to: decided)
    }
}

extension Result where Success == Receipt, Failure == Rejection {
    func receipt() throws(ChatError) -> Receipt {
        switch self {
        case .success(let receipt): return receipt
        case .failure(let rejection): throw .rejected(rejection)
        }
    }
}

/// The decisions on a batch; the answers may be returned once ``requiredPosition`` is durable.
private struct DecidedBatch {
    var answers: [Result<Receipt, Rejection>] = []
    /// Answers whose original events must be read from the log.
    var duplicates: [(answer: Int, positions: ClosedRange<Position>, request: CommandRequest)] = []
    /// Answers to reports, whose receipts say if no user reads them.
    var reports: [(answer: Int, post: PostID)] = []
    var requiredPosition: Position = 0
    /// The commands by outcome, which are counted once their commit is appended.
    var outcomes = CommandStatistics()

    /// Adds the answer to the next command and encodes its events into the commit.
    mutating func append(_ outcome: Decider.Outcome, of request: inout CommandRequest, _ decider: inout Decider)
        throws(JournalError)
    {
        switch outcome {
        case .appended(let rows):
            outcomes.appended &+= 1
            try decider.encode(rows, of: &request)
            answers.append(.success(Receipt(rows, of: decider.batch, request)))
        case .unchanged(let position):
            outcomes.unchanged &+= 1
            answers.append(.success(Receipt(from: position)))
        case .duplicate(let positions):
            outcomes.duplicates &+= 1
            duplicates.append((answers.count, positions, request))
            // A placeholder; `answers(to:)` replaces it.
            answers.append(.success(Receipt()))
        case .rejected(let rejection):
            outcomes.rejected[rejection.code, default: 0] &+= 1
            answers.append(.failure(rejection))
        }
        if request.command.kind == .report { reports.append((answers.count - 1, request.command.postID)) }
    }
}

extension ChatStore {
    private func decide(_ batch: [CommandRequest]) throws(ChatError) -> DecidedBatch {
        let faults = customEventFaults(of: batch)
        // Each request is lent in place from here on, as `inout`: as a value it would be copied, with
        // its texts, for each step.
        var batch = batch
        try findMentions(in: &batch)
        let byteCount = try Self.checkedByteCount(of: &batch)
        return try decider.withLock { (decider) throws(ChatError) in try decide(&batch, byteCount, faults, &decider) }
    }

    /// Returns the rejections of custom events by the host program, by index.
    private func customEventFaults(of batch: [CommandRequest]) -> [Int: Rejection] {
        guard let customEventFault else { return [:] }
        var faults: [Int: Rejection] = [:]
        for (index, request) in batch.enumerated() {
            guard let event = ProposedCustomEvent(request.command) else { continue }
            faults[index] = customEventFault(event, self).map { Rejection(.invalidPayload, $0) }
        }
        return faults
    }

    private static func checkedByteCount(of batch: inout [CommandRequest]) throws(ChatError) -> Int {
        let byteCount = maximumByteCount(of: &batch, batch.indices)
        guard byteCount <= 32 << 20, batch.count <= 65_536 else { throw .batchTooLarge }
        return byteCount
    }

    /// Throws if no event may be appended any more.
    func requireWritable(_ decider: borrowing Decider) throws(ChatError) {
        try requireRunning()
        if decider.rules.hasUnknownEvents { throw .newerEvents }
    }

    private func decide(
        _ batch: inout [CommandRequest], _ byteCount: Int, _ faults: [Int: Rejection], _ decider: inout Decider
    ) throws(ChatError) -> DecidedBatch {
        try requireWritable(decider)
        let before = decider.rules.head
        let decided: DecidedBatch
        do throws(JournalError) {
            decided = try stage(&batch, byteCount, faults, &decider)
            if decided.requiredPosition > before {
                // Push before the append: readers expect every durable event to have been pushed.
                readSide.push(decider.batch)
                _ = try log.append(decider.draft, expecting: before)
            }
        } catch {
            // The rules are ahead of the failed commit. Stop deciding on them; the read models
            // never apply it.
            throw stopping(after: error)
        }
        published.withLock { state in
            state.commands += decided.outcomes
            state.note(decider.rules)
        }
        if decided.requiredPosition >= decider.nextCheckpoint { beginCheckpoint(&decider) }
        return decided
    }

    /// Decides the commands in order, applies their events to the rules, and encodes them into the
    /// draft.
    ///
    /// Reserves space before deciding, because reserving may wait for a sync: for the maximum size
    /// of the batch or, if that is not available, for one command at a time. The identities are
    /// locked for one prefetch group at most; the decider's lock preserves the order.
    private func stage(
        _ requests: inout [CommandRequest], _ byteCount: Int, _ faults: [Int: Rejection], _ decider: inout Decider
    ) throws(JournalError) -> DecidedBatch {
        decider.begin()
        let hasRoomForAll = try decider.reserve(byteCount, in: log)
        var decided = DecidedBatch()
        decided.answers.reserveCapacity(requests.count)
        var start = 0
        while start < requests.count {
            let part = start..<min(requests.count, start + (hasRoomForAll ? Self.prefetchGroupSize : 1))
            // With a single command, the space reserved above is for this command alone.
            let hasRoom =
                if hasRoomForAll || requests.count == 1 { hasRoomForAll } else {
                    try decider.reserve(Self.maximumByteCount(of: &requests, part), in: log)
                }
            if !hasRoom {
                let byteCount = decider.draft.encodedByteCount + Self.maximumByteCount(of: &requests, part)
                published.withLock { $0.refusedByteCount = byteCount }
            }
            // The section ends early if another thread waits for the read models, so that a query
            // waits for one command and not for a group.
            var next = start
            while next < part.upperBound {
                readSide.withIdentities { identities in
                    if next == start, part.count > 1 { identities.prefetch(requests.span.extracting(part)) }
                    repeat {
                        let (now, wrongClock) = readTime(&decider)
                        let obstacle = wrongClock ?? (hasRoom ? faults[next] : .storageFull)
                        decider.decide(&requests[next], &identities, ids, at: now, unless: obstacle)
                        next += 1
                    } while next < part.upperBound && !readSide.isAwaited
                }
            }
            for index in part { try decided.append(decider.outcomes[index], of: &requests[index], &decider) }
            start = part.upperBound
        }
        decided.requiredPosition = decider.rules.head
        return decided
    }

    /// Returns false while the log has no room for commands, which are rejected with `storageFull`.
    ///
    /// If it had none, asks it again, so that the answer is true without a further command.
    package func hasRoom() -> Bool {
        guard let byteCount = published.withLock({ $0.refusedByteCount }) else { return true }
        let hasRoom = decider.withLock { _ in
            // Another error is reported by the next command.
            do throws(JournalError) { try log.reserve(byteCount) } catch { return error.code != .storageFull }
            return true
        }
        if hasRoom { published.withLock { $0.refusedByteCount = nil } }
        return hasRoom
    }

    private static func maximumByteCount(of requests: inout [CommandRequest], _ part: Range<Int>) -> Int {
        var sum = 0
        for index in part { sum += maximumByteCount(of: &requests[index]) }
        return sum
    }

    private static func maximumByteCount(of request: inout CommandRequest) -> Int { request.maximumByteCount }

    /// The maximum number of commands decided per lock acquisition.
    ///
    /// Their keys are looked up together.
    private static let prefetchGroupSize = 64

    /// Returns the answers once every event that they depend on is durable.
    private func answers(to decided: consuming DecidedBatch) throws(ChatError) -> [Result<Receipt, Rejection>] {
        for (answer, positions, request) in decided.duplicates {
            // If the last event opens a thread, its creator's join may be missing.
            let positions = positions.clamped(to: 1...decided.requiredPosition)
            let first = zip(positions, try events(at: positions)).map { RecordedEvent(position: $0, event: $1) }
            let shown = withCurrentModels { models, _ in models.shown(first, toCallerOf: request) }
            decided.answers[answer] = .success(Receipt(duplicateOf: shown))
        }
        // A section for each report, so that none is long.
        for (answer, post) in decided.reports {
            guard case .success(var receipt) = decided.answers[answer],
                !readSide.withShared({ $0.models.hasReportRecipient(post) })
            else { continue }
            receipt.moderatorCount = 0
            decided.answers[answer] = .success(receipt)
        }
        return decided.answers
    }
}
