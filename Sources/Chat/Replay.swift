import ChatDomain
import Dispatch
import EventJournal
import Locking
import Projections

extension ChatStore {
    /// Takes the events of a log at some positions into read models that have taken in all before them.
    ///
    /// Two threads, so that a replay uses the processors that there are: one reads, checks and decodes a portion of events and gives it the numbers of users, threads
    /// and messages; the caller's gives it the others, and moves the state and what is only for reading on by it. Each sees the events in their order, so what comes
    /// of it is the same as one event after another.
    ///
    /// - Throws: ``ChatError`` if a record cannot be read or is no event; the read models then end before it.
    static func replay(_ log: any CommitLog, _ positions: ClosedRange<Position>, into models: inout ReadModels) throws(ChatError) {
        let belt = Belt<(NumberedEvents, ReplayPortion)>()
        // Room is made in empty tables alone.
        if models.position == 0 { models.reserve(ReplayEstimate(log, positions).sizes) }
        let numbering = NumberingBox()
        numbering.value.withLock { models.exchangeNumbering(&$0) }
        let worker = DispatchGroup()
        DispatchQueue.global(qos: .userInitiated).async(group: worker) {
            numbering.value.withLock { numbering in
                decode(log, positions) { portion in belt.put((numbering.resolve(portion.events), portion)) }
            }
        }
        var failure: ChatError?
        var isLast = false
        while !isLast {
            let (events, portion) = belt.take()
            models.apply(events)
            (failure, isLast) = (portion.failure, portion.isLast)
        }
        worker.wait()
        numbering.value.withLock { models.exchangeNumbering(&$0) }
        if let failure { throw failure }
    }

    /// Takes the events of a log into read models that others ask meanwhile, a portion at a time.
    ///
    /// - Parameter lend: Lends the read models to a closure.
    /// - Throws: As ``replay(_:_:into:)``.
    static func catchUp(
        _ log: any CommitLog, _ positions: ClosedRange<Position>, lend: ((inout ReadModels) -> Void) -> Void
    ) throws(ChatError) {
        var failure: ChatError?
        decode(log, positions) { portion in
            lend { $0.apply(portion.events) }
            failure = portion.failure
        }
        if let failure { throw failure }
    }

    /// Reads and decodes events, one portion after another, of which the last one says so.
    private static func decode(_ log: any CommitLog, _ positions: ClosedRange<Position>, _ body: (ReplayPortion) -> Void) {
        var events = EventRows(from: positions.lowerBound, capacity: ReplayPortion.count)
        var failure: ChatError?
        do throws(ChatError) {
            try wrapping { () throws(JournalError) in
                try log.forEachRecord(in: positions) { position, state, kept, erasable in
                    do throws(EventDecodingError) {
                        try events.append(kept: kept, erasable: state == .whole ? erasable : nil)
                    } catch {
                        failure = .undecodable(position: position, error)
                        return false
                    }
                    if events.rows.count == ReplayPortion.count {
                        body(ReplayPortion(events: events))
                        events = EventRows(from: position + 1, capacity: ReplayPortion.count)
                    }
                    return true
                }
            }
        } catch {
            failure = error
        }
        body(ReplayPortion(events: events, failure: failure, isLast: true))
    }
}

/// Some consecutive events that are handed on together.
private struct ReplayPortion: Sendable {
    var events: EventRows
    /// Why there is no further one.
    var failure: ChatError?
    var isLast = false

    /// So many events that handing over does not count, and few enough that they stay in the cache.
    static let count = 1_024
}

/// The numbering while another thread gives numbers; nobody else has it, so that nothing is copied.
private final class NumberingBox: Sendable {
    let value = Lock(Numbering())
}

/// Hands portions from one thread to another, a few at a time, so that neither waits for each and memory does not grow.
private final class Belt<Element: Sendable>: Sendable {
    private let portions = Lock<[Element]>([])
    private let room = DispatchSemaphore(value: 4)
    private let filled = DispatchSemaphore(value: 0)

    func put(_ element: Element) {
        room.wait()
        portions.withLock { $0.append(element) }
        filled.signal()
    }

    func take() -> Element {
        filled.wait()
        defer { room.signal() }
        return portions.withLock { $0.removeFirst() }
    }
}
