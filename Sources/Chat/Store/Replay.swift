import ChatDomain
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
    /// Applies the events of a log at some positions to models to which everything before them has been applied.
    ///
    /// The caller's thread reads, checks and decodes, a batch of events at a time; identities, rules and views apply a batch one after the other, on whichever thread is
    /// free. Each sees the events in their order, so the result is that of one batch after another.
    ///
    /// - Throws: ``ChatError`` if a record cannot be read or is no event; the models then end before it.
    static func replay(_ log: any CommitLog, _ positions: ClosedRange<Position>, into models: inout StoreModels) throws(ChatError) {
        // Only an empty table makes room.
        if models.position == 0 {
            let estimate = ReplayEstimate(log, positions)
            models.models.identities.reserve(messages: estimate.messages, memberships: estimate.memberships)
        }
        let parts = ReplayParts()
        parts.exchange(with: &models)
        defer { parts.exchange(with: &models) }
        let stages: [Pipeline<EventBatch>.Stage] = [
            { batch in parts.identities.withLock { $0.resolve(&batch) } },
            { batch in parts.rules.withLock { $0.apply(batch, 0..<batch.count) } },
            { batch in parts.views.withLock { $0.apply(batch, 0..<batch.count) } },
        ]
        let pipeline = Pipeline(stages, room: ReplayBatch.room)
        // A thread that comes late, because the system has none to spare, is not waited for: the one that puts batches in works as well.
        for _ in 1..<max(2, min(ProcessInfo.processInfo.activeProcessorCount, stages.count)) {
            DispatchQueue.global(qos: .userInitiated).async { pipeline.work() }
        }
        defer { pipeline.finish() }
        try decode(log, positions) { batch in pipeline.put(batch) }
    }

    /// Reads and decodes events, and gives them to a closure a batch at a time.
    ///
    /// - Throws: ``ChatError`` if a record cannot be read or is no event; the closure has been given all before it.
    static func decode(
        _ log: any CommitLog, _ positions: ClosedRange<Position>, _ body: (inout EventBatch) -> Void
    ) throws(ChatError) {
        var decoder = BatchDecoder(from: positions.lowerBound)
        defer { decoder.finish(body) }
        try wrapping { () throws(JournalError) in
            try log.forEachRecord(in: positions) { position, state, kept, erasable in
                decoder.add(position, state, kept, erasable, body)
            }
        }
        if let failure = decoder.failure { throw failure }
    }
}

/// Decodes consecutive records into batches.
struct BatchDecoder {
    private var batch: EventBatch
    /// The record that is no event, if there was one.
    private(set) var failure: ChatError?

    /// Makes a decoder for the records from a position on.
    init(from first: Position) { batch = EventBatch(from: first, capacity: ReplayBatch.count) }

    /// Decodes the next record, and gives a batch that is full to a closure; returns whether the record is an event.
    mutating func add(
        _ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan, _ body: (inout EventBatch) -> Void
    ) -> Bool {
        do throws(EventDecodingError) {
            try batch.append(kept: kept, erasable: state == .whole ? erasable : nil)
        } catch {
            failure = .undecodable(position: position, error)
            return false
        }
        if batch.count == ReplayBatch.count {
            body(&batch)
            batch = EventBatch(from: position + 1, capacity: ReplayBatch.count)
        }
        return true
    }

    /// Gives the last events to a closure.
    mutating func finish(_ body: (inout EventBatch) -> Void) {
        if batch.count > 0 { body(&batch) }
    }
}

/// Consecutive events that a replay hands on together.
private enum ReplayBatch {
    /// Amortises handing over, and fits in the cache.
    static let count = 256
    /// The batches under way at once, so that no thread waits for one that takes longer.
    static let room = 8
}

/// The parts of the models while several threads apply events to them; no other reference exists, so that nothing is copied.
private final class ReplayParts: Sendable {
    let identities = Lock(Identities())
    let rules = Lock(RuleState())
    let views = Lock(Views())

    func exchange(with models: inout StoreModels) {
        identities.withLock { swap(&$0, &models.models.identities) }
        rules.withLock { swap(&$0, &models.rules) }
        views.withLock { swap(&$0, &models.models.views) }
    }
}
