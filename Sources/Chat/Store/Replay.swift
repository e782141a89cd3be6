public import ChatDomain
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

extension ChatStore {
    /// Applies what another process has made durable since a store was opened for reading, or since the last time.
    ///
    /// Queries see all of it at once when it returns: never a part of a commit. A store that is open for writing, or on another log than a journal, knows everything: it
    /// does nothing.
    ///
    /// - Returns: The last position that is shown.
    /// - Throws: ``ChatError/journal(_:)`` if what is new is damaged or cannot be read, ``ChatError/undecodable(position:_:)`` if a record is no
    ///   event; the views then end with the last commit before it.
    /// - Complexity: O(*n*) in the new events.
    @discardableResult
    public func refresh() throws(ChatError) -> Position {
        guard let journal, journal.isReadOnly else { return readSide.position }
        let last = try wrapping { () throws(JournalError) in try journal.refresh() }
        // The decider keeps the order in which events reach the read models.
        let result: Result<Void, ChatError> = decider.withLock { decider in
            do throws(ChatError) { return .success(try apply(journal, through: last, to: &decider.rules)) } catch { return .failure(error) }
        }
        try result.get()
        return last
    }

    private func apply(_ journal: Journal, through last: Position, to rules: inout RuleState) throws(ChatError) {
        let head = rules.head
        guard head < last else { return }
        try readSide.catchUp(&rules) { apply in
            var end: Position = 0
            var decoder = BatchDecoder(from: head + 1)
            defer { decoder.finish(apply) }
            do throws(JournalError) {
                try journal.forEachCommittedRecord(in: head + 1...last) { position, commitEnd, state, kept, erasable in
                    guard decoder.add(position, state, kept, erasable, apply) else { return false }
                    if position == commitEnd { end = position }
                    return true
                }
            } catch {
                return (end, .journal(error))
            }
            return (end, decoder.failure)
        }
    }
}

extension ChatStore {
    /// Builds the read models and the state of the rules once more from the first event, beside those in use, and puts them in their place.
    ///
    /// For an audit of a store that is open: whatever has become of the former ones in memory or came from a checkpoint, afterwards every answer follows from the journal
    /// as it is now.
    ///
    /// - Returns: Whether the former ones were the same.
    /// - Throws: ``ChatError/journal(_:)`` if the store is closed, or the journal cannot be read; ``ChatError/undecodable(position:_:)``. The former ones then stay.
    /// - Complexity: O(*n*) in the events of the journal, and their memory a second time until it returns. Queries do not wait; commands wait until what has come meanwhile is
    ///   durable and applied.
    @discardableResult
    public func rebuild() throws(ChatError) -> Bool {
        var rebuilt = StoreModels()
        let shown = readSide.position
        if shown > 0 { try Self.replay(log, 1...shown, into: &rebuilt) }
        // Nothing is decided while the rest is applied, so that the two end with the same event.
        let result: Result<StoreModels, ChatError> = decider.withLock { decider in
            do throws(ChatError) {
                try applyEverything(decider)
                let last = readSide.position
                if last > rebuilt.position { try Self.decode(log, rebuilt.position + 1...last) { rebuilt.apply(&$0) } }
            } catch {
                return .failure(error)
            }
            let former = StoreModels(decider.rules, readSide.exchange(rebuilt.models))
            decider.rules = rebuilt.rules
            return .success(former)
        }
        return try result.get() == rebuilt
    }
}
