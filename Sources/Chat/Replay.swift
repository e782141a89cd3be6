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
    /// Takes the events of a log at some positions into read models that have taken in all before them.
    ///
    /// By as many threads as there are processors, at most one for each part of the read models: the caller's reads, checks and decodes, a portion of events at a time, and
    /// whoever is free takes a portion into the next part. Each part sees the events in their order, so what comes of it is the same as one event after another.
    ///
    /// - Throws: ``ChatError`` if a record cannot be read or is no event; the read models then end before it.
    static func replay(_ log: any CommitLog, _ positions: ClosedRange<Position>, into models: inout ReadModels) throws(ChatError) {
        // Room is made in empty tables alone.
        if models.position == 0 { models.reserve(ReplayEstimate(log, positions).sizes) }
        let parts = ReadModels.Part.allCases.map { PartBox($0) }
        for box in parts { box.exchange(with: &models) }
        defer { for box in parts { box.exchange(with: &models) } }
        let pipeline = Pipeline(parts.map { box in { events in box.apply(&events) } }, room: ReplayPortion.room)
        // One that comes late, because the system has no thread for it, is not waited for: who puts portions in works as well, and it then finds nothing to do.
        for _ in 1..<max(2, min(ProcessInfo.processInfo.activeProcessorCount, parts.count)) {
            DispatchQueue.global(qos: .userInitiated).async { pipeline.work() }
        }
        defer { pipeline.finish() }
        try decode(log, positions) { pipeline.put(NumberedEvents($0)) }
    }

    /// Takes the events of a log into read models that others ask meanwhile, a portion at a time.
    ///
    /// - Parameter lend: Lends the read models to a closure.
    /// - Throws: As ``replay(_:_:into:)``.
    static func catchUp(
        _ log: any CommitLog, _ positions: ClosedRange<Position>, lend: ((inout ReadModels) -> Void) -> Void
    ) throws(ChatError) {
        try decode(log, positions) { events in lend { $0.apply(events) } }
    }

    /// Reads and decodes events, and gives them to a closure a portion at a time.
    ///
    /// - Throws: ``ChatError`` if a record cannot be read or is no event; the closure has been given all before it.
    private static func decode(_ log: any CommitLog, _ positions: ClosedRange<Position>, _ body: (EventRows) -> Void) throws(ChatError) {
        var events = EventRows(from: positions.lowerBound, capacity: ReplayPortion.count)
        var failure: ChatError?
        defer { body(events) }
        try wrapping { () throws(JournalError) in
            try log.forEachRecord(in: positions) { position, state, kept, erasable in
                do throws(EventDecodingError) {
                    try events.append(kept: kept, erasable: state == .whole ? erasable : nil)
                } catch {
                    failure = .undecodable(position: position, error)
                    return false
                }
                if events.rows.count == ReplayPortion.count {
                    body(events)
                    events = EventRows(from: position + 1, capacity: ReplayPortion.count)
                }
                return true
            }
        }
        if let failure { throw failure }
    }
}

/// Consecutive events that are handed on together.
private enum ReplayPortion {
    /// So many events that handing over does not count, and few enough that they stay in the cache.
    static let count = 1_024
    /// How many portions are under way at once, so that nobody waits for one that takes longer.
    static let room = 8
}

/// A part of the read models while they are moved on by several threads; nobody else has it, so that nothing is copied.
private final class PartBox: Sendable {
    private let part: ReadModels.Part
    private let models = Lock(ReadModels())

    init(_ part: ReadModels.Part) { self.part = part }

    func exchange(with others: inout ReadModels) { models.withLock { others.exchange(part, with: &$0) } }

    func apply(_ events: inout NumberedEvents) { models.withLock { $0.apply(&events, to: part) } }
}
