import ChatDomain
import Dispatch
import EventJournal
import Projections
import Synchronization

/// Some consecutive events, decoded as far as the read models need them.
private struct Portion: Sendable {
    /// The position of the last event.
    var end: Position = 0
    var rows: [EventRow] = []
    /// The contents of those that have one which is indexed, by the index of the row.
    var contents: [(index: Int, content: Content)] = []
    /// Why there is no further one.
    var failure: ChatError?
    var isLast = false

    /// So many events that handing over does not count, and few enough that they stay in the cache.
    static let count = 1_024
}

extension ReadModels {
    fileprivate mutating func apply(_ portion: Portion) {
        var position = portion.end - Position(portion.rows.count)
        var contents = portion.contents[...]
        for index in portion.rows.indices {
            position += 1
            if let next = contents.first, next.index == index {
                apply(portion.rows[index], next.content, at: position)
                contents.removeFirst()
            } else {
                apply(portion.rows[index], .none, at: position)
            }
        }
    }
}

extension ChatStore {
    /// Takes the events of a log at some positions into read models that have taken in all before them.
    ///
    /// Reading, checking and decoding go on ahead on a second thread, one portion after another, so that a replay uses two processors; what comes of it is the same.
    ///
    /// - Parameter lend: Lends the read models to a closure, once for each portion.
    /// - Throws: ``ChatError`` if a record cannot be read or is no event; the read models then end before it.
    static func replay(
        _ log: any CommitLog, _ positions: ClosedRange<Position>, into lend: ((inout ReadModels) -> Void) -> Void
    ) throws(ChatError) {
        // A thread costs more than what it would take over here.
        if positions.count <= 4 * Portion.count {
            var failure: ChatError?
            decode(log, positions) { portion in
                lend { $0.apply(portion) }
                failure = portion.failure
                return true
            }
            if let failure { throw failure }
            return
        }
        let belt = Belt()
        DispatchQueue.global(qos: .userInitiated).async { decode(log, positions, belt.put) }
        while true {
            let portion = belt.take()
            lend { $0.apply(portion) }
            if let failure = portion.failure { throw failure }
            if portion.isLast { return }
        }
    }

    /// Reads and decodes events, one portion after another, of which the last one says so.
    private static func decode(_ log: any CommitLog, _ positions: ClosedRange<Position>, _ body: (Portion) -> Bool) {
        var portion = Portion()
        portion.rows.reserveCapacity(Portion.count)
        portion.end = positions.lowerBound - 1
        do throws(ChatError) {
            var undecodable: ChatError?
            try wrapping { () throws(JournalError) in
                try log.forEachRecord(in: positions) { position, state, kept, erasable in
                    do throws(EventDecodingError) {
                        let row = try EventRow(kept: kept)
                        if let kind = row.kind, kind.isIndexed {
                            let content = try Content(indexedOf: row, erasable: state == .whole ? erasable : nil)
                            portion.contents.append((portion.rows.count, content))
                        }
                        portion.rows.append(row)
                        portion.end = position
                    } catch {
                        undecodable = .undecodable(position: position, error)
                        return false
                    }
                    guard portion.rows.count == Portion.count else { return true }
                    guard body(portion) else { return false }
                    portion.rows.removeAll(keepingCapacity: true)
                    portion.contents.removeAll(keepingCapacity: true)
                    return true
                }
            }
            portion.failure = undecodable
        } catch {
            portion.failure = error
        }
        portion.isLast = true
        _ = body(portion)
    }
}

/// Hands portions from one thread to another, a few at a time, so that neither waits for each and memory does not grow.
private final class Belt: Sendable {
    private let portions = Mutex<[Portion]>([])
    private let room = DispatchSemaphore(value: 4)
    private let filled = DispatchSemaphore(value: 0)

    func put(_ portion: Portion) -> Bool {
        room.wait()
        portions.withLock { $0.append(portion) }
        filled.signal()
        return true
    }

    func take() -> Portion {
        filled.wait()
        defer { room.signal() }
        return portions.withLock { $0.removeFirst() }
    }
}
