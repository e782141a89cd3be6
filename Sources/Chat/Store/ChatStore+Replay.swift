import ChatDomain
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
    static func replay(_ log: any CommitLog, _ positions: ClosedRange<Position>, into models: inout StoreModels)
        throws(ChatError)
    {
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
        // The loop does not wait for a thread to start: `submit` also works on the stages, so a
        // late thread costs no progress.
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
        try log.readRecords(in: positions) { position, state, kept, erasable in
            decoder.add(position, state, kept, erasable, body)
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
        _ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan,
        _ body: (inout EventBatch) -> Void
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
