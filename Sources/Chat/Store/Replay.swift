public import ChatDomain
import Columns
import Dispatch
import EventJournal
import Locking
import Projections

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

extension ChatStore {
    /// Applies the events in a range of positions to models that contain every earlier event.
    ///
    /// The calling thread reads, checks and decodes the events in batches. Identities, rules and
    /// views apply each batch in pipeline stages on any free thread. Each stage applies the batches
    /// in order, so the result equals a sequential replay.
    ///
    /// - Throws: ``ChatError`` if a record cannot be read or decoded; the models then end before
    ///   it.
    static func replay(_ log: any CommitLog, _ positions: ClosedRange<Position>, into models: inout StoreModels) throws(ChatError) {
        // Capacity can only be reserved in empty tables.
        if models.position == 0 {
            let estimate = ReplayEstimate(log, positions)
            models.readModels.identities.reserve(messages: estimate.messages, memberships: estimate.memberships)
        }
        let parts = ReplayParts()
        parts.exchange(with: &models)
        defer { parts.exchange(with: &models) }
        let stages: [Pipeline<EventBatch>.Stage] = [
            { batch in parts.identities.withLock { $0.resolve(&batch) } },
            { batch in parts.rules.withLock { $0.apply(batch, 0..<batch.count) } },
            { batch in parts.views.withLock { $0.apply(batch, 0..<batch.count) } },
        ]
        let pipeline = Pipeline(stages, room: ReplayLimits.batchesInFlight)
        // The loop does not wait for a thread to start: `submit` also works on the stages, so a late
        // thread costs no progress.
        for _ in 1..<max(2, min(ProcessInfo.processInfo.activeProcessorCount, stages.count)) {
            DispatchQueue.global(qos: .userInitiated).async { pipeline.work() }
        }
        defer { pipeline.finish() }
        try forEachDecodedBatch(log, positions) { batch in pipeline.submit(batch) }
    }

    /// Reads and decodes events, and passes them to the closure in batches.
    ///
    /// - Throws: ``ChatError`` if a record cannot be read or decoded; the closure has then received
    ///   every event before it.
    static func forEachDecodedBatch(
        _ log: any CommitLog, _ positions: ClosedRange<Position>, _ body: (inout EventBatch) -> Void
    ) throws(ChatError) {
        var decoder = BatchDecoder(from: positions.lowerBound)
        defer { decoder.finish(body) }
        try wrappingJournalErrors { () throws(JournalError) in
            try log.forEachRecord(in: positions) { position, state, kept, erasable in
                decoder.add(position, state, kept, erasable, body)
            }
        }
        if let failure = decoder.failure { throw failure }
    }
}

/// A decoder of consecutive records into batches.
struct BatchDecoder {
    private var batch: EventBatch
    /// The error of the record that does not decode; nil if none.
    private(set) var failure: ChatError?

    /// Creates a decoder for the records from this position on.
    init(from first: Position) { batch = EventBatch(from: first, capacity: ReplayLimits.eventsPerBatch) }

    /// Decodes the next record and passes a full batch to the closure; false if it does not decode.
    mutating func add(
        _ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan, _ body: (inout EventBatch) -> Void
    ) -> Bool {
        do throws(EventDecodingError) {
            try batch.append(kept: kept, erasable: state == .whole ? erasable : nil)
        } catch {
            failure = .undecodable(position: position, error)
            return false
        }
        if batch.count == ReplayLimits.eventsPerBatch {
            body(&batch)
            batch = EventBatch(from: position + 1, capacity: ReplayLimits.eventsPerBatch)
        }
        return true
    }

    /// Passes the remaining events to the closure.
    mutating func finish(_ body: (inout EventBatch) -> Void) {
        if batch.count > 0 { body(&batch) }
    }
}

/// The batch sizes of a replay.
private enum ReplayLimits {
    /// Amortises the handover between threads, and fits in the processor's cache.
    static let eventsPerBatch = 256
    /// Batches in flight; lets the other stages proceed while one batch is slow.
    static let batchesInFlight = 8
}

/// The parts of the models while several threads apply events to them.
///
/// They are swapped out of the models, so that each is uniquely referenced and never copied.
private final class ReplayParts: Sendable {
    let identities = Lock(Identities())
    let rules = Lock(RuleState())
    let views = Lock(Views())

    func exchange(with models: inout StoreModels) {
        identities.withLock { swap(&$0, &models.readModels.identities) }
        rules.withLock { swap(&$0, &models.rules) }
        views.withLock { swap(&$0, &models.readModels.views) }
    }
}

extension ChatStore {
    /// Applies the events that another process has made durable since this store was opened or
    /// refreshed.
    ///
    /// Queries see all new events at once when the call returns, and never part of a commit. Does
    /// nothing on a store that is open for writing, whose read models are always current, and on a
    /// log that is not a `RefreshableLog`.
    ///
    /// - Returns: The last visible position.
    /// - Throws: ``ChatError/journal(_:)`` if a new record is damaged or cannot be read,
    ///   ``ChatError/undecodable(position:_:)`` if it does not decode. The views then end with the
    ///   last commit before it.
    /// - Complexity: O(*n*) in the number of new events.
    @discardableResult
    public func refresh() throws(ChatError) -> Position {
        guard log.isReadOnly, let log = log as? any RefreshableLog else { return readSide.position }
        let last = try wrappingJournalErrors { () throws(JournalError) in try log.refresh() }
        // The decider's lock preserves the order in which events reach the read models.
        let result: Result<Void, ChatError> = decider.withLock { decider in
            do throws(ChatError) { return .success(try apply(log, through: last, to: &decider.rules)) } catch { return .failure(error) }
        }
        try result.get()
        return last
    }

    private func apply(_ log: any RefreshableLog, through last: Position, to rules: inout RuleState) throws(ChatError) {
        let head = rules.head
        guard head < last else { return }
        var end: JournalHead?
        // An earlier refresh may have ended inside a commit that orders an erasure.
        var ordersErasure = rules.erasures.last ?? 0 > readSide.position
        let caughtUp = Result { () throws(ChatError) in
            try readSide.catchUp(&rules) { apply in
                func noting(_ batch: inout EventBatch) {
                    if batch.rows.contains(where: { $0.kind == .userErased || $0.kind == .contentErased }) { ordersErasure = true }
                    apply(&batch)
                }
                var decoder = BatchDecoder(from: head + 1)
                // The events are shown only once the content that they erase is hidden.
                func shown(_ failure: ChatError?) -> (Position, ChatError?) {
                    decoder.finish(noting)
                    return (ordersErasure ? 0 : end?.position ?? 0, failure)
                }
                do throws(JournalError) {
                    try log.forEachCommittedRecord(in: head + 1...last) { position, commit, state, kept, erasable in
                        guard decoder.add(position, state, kept, erasable, noting) else { return false }
                        if position == commit.position { end = commit }
                        return true
                    }
                } catch {
                    return shown(.journal(error))
                }
                return shown(decoder.failure)
            }
        }
        // Without a whole commit, nothing new is shown.
        if ordersErasure, let end { try applyNewErasures(through: end.position, &rules) }
        if let end, readSide.position >= end.position { appliedHead.withLock { $0 = end } }
        try caughtUp.get()
    }
}

extension ChatStore {
    /// Rebuilds the read models and the rules from the first event and replaces the current ones.
    ///
    /// Use it to audit an open store: afterwards every answer follows from the journal, not from
    /// earlier memory contents or a checkpoint.
    ///
    /// - Returns: Whether the replaced models were equal to the rebuilt ones.
    /// - Throws: ``ChatError/journal(_:)`` if the store is closed or the journal cannot be read;
    ///   ``ChatError/undecodable(position:_:)`` if a record does not decode. The current models
    ///   then stay.
    /// - Complexity: O(*n*) in the number of events. The models take twice their memory until the
    ///   call returns. Queries do not wait; commands wait while the events appended during the
    ///   rebuild are made durable and applied. Erasures wait until the call returns.
    @discardableResult
    public func rebuild() throws(ChatError) -> Bool {
        // An erasure hides content before its order is appended, and shows it again if that fails.
        let result: Result<Bool, ChatError> = erasing.withLock { _ in
            Result { () throws(ChatError) in
                while true { if let isEqual = try rebuildUnlessErased() { return isEqual } }
            }
        }
        return try result.get()
    }

    /// Rebuilds and replaces the models; nil if content was erased meanwhile.
    ///
    /// The caller holds the lock of erasures. A read-only store can still apply an erasure that
    /// another process ordered.
    private func rebuildUnlessErased() throws(ChatError) -> Bool? {
        let epoch = erasedPositions.epoch
        var rebuilt = StoreModels()
        let shown = readSide.position
        if shown > 0 { try Self.replay(log, 1...shown, into: &rebuilt) }
        // The lock prevents new decisions, so that the rules and the read models end with the same
        // event.
        let result: Result<StoreModels?, ChatError> = decider.withLock { decider in
            // The rebuilt models may have content that was erased meanwhile.
            if epoch != erasedPositions.epoch { return .success(nil) }
            do throws(ChatError) {
                try applyDecidedEvents(decider)
                let last = readSide.position
                if last > rebuilt.position { try Self.forEachDecodedBatch(log, rebuilt.position + 1...last) { rebuilt.apply(&$0) } }
            } catch {
                return .failure(error)
            }
            let former = StoreModels(decider.rules, readSide.replaceModels(rebuilt.readModels))
            decider.rules = rebuilt.rules
            return .success(former)
        }
        return try result.get().map { $0 == rebuilt }
    }
}
