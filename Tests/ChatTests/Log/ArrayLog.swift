import ChatTesting
import EventJournal
import Locking

/// A `CommitLog` over an array in memory.
///
/// A record is durable after a wait for it, or after a close.
final class ArrayLog: CommitLog {
    /// The contents, which outlive the log.
    final class Store: Sendable {
        struct Contents {
            var records: [(kept: [UInt8], erasable: [UInt8])] = []
            /// The chain value after each position, from position 0.
            var chain: [UInt64] = [0]
        }

        let contents = Lock(Contents())
    }

    fileprivate struct State {
        var durable: Position
        var isClosed = false
        var waiting: [Int: (position: Position, task: CheckedContinuation<Result<Position, JournalError>, Never>)] = [:]
        var waits = 0
    }

    let id = JournalID(bits: 0xA44A)
    let isReadOnly = false
    private let store: Store
    private let state: Lock<State>
    /// Called by each `reserve(_:)`.
    private let whenReserving: @Sendable () -> Void

    init(_ store: Store, whenReserving: @escaping @Sendable () -> Void = {}) {
        self.store = store
        self.whenReserving = whenReserving
        state = Lock(State(durable: store.contents.withLock { Position($0.records.count) }))
    }

    var lastPosition: Position { store.contents.withLock { Position($0.records.count) } }
    var durablePosition: Position { state.withLock { $0.durable } }
    var head: JournalHead {
        let durable = durablePosition
        return JournalHead(journal: id, position: durable, chain: store.contents.withLock { $0.chain[Int(durable)] })
    }

    func reserve(_ byteCount: Int) throws(JournalError) {
        whenReserving()
        try state.withLock { (state) throws(JournalError) in try state.checkOpen() }
    }

    func append(_ draft: borrowing CommitDraft, expecting head: Position) throws(JournalError) -> ClosedRange<Position>
    {
        guard draft.recordCount > 0 else { throw JournalError(.tooLarge, "an empty draft") }
        return try state.withLock { (state) throws(JournalError) in
            try state.checkOpen()
            return try store.contents.withLock { (contents) throws(JournalError) in
                guard contents.records.count == head else {
                    throw JournalError(.conflict, "the end is at \(contents.records.count)")
                }
                draft.forEachRecord { kept, erasable in
                    let record = (kept.bytes, erasable.bytes)
                    contents.chain.append(
                        (record.0 + [0] + record.1).reduce(contents.chain[contents.chain.count - 1] &+ 1) {
                            ($0 ^ UInt64($1)) &* 0x100_0000_01B3
                        })
                    contents.records.append(record)
                }
                return head + 1...Position(contents.records.count)
            }
        }
    }

    /// Nothing stops a log in memory.
    var failure: JournalError? { nil }

    func waitUntilDurable(_ position: Position) throws(JournalError) {
        let last = lastPosition
        guard position <= last else { throw JournalError(.outOfRange, "the end is at \(last)") }
        let woken = try state.withLock { (state) throws(JournalError) -> [State.Wakeup] in
            if position <= state.durable { return [] }
            try state.checkOpen()
            return state.settle(last)
        }
        for (task, result) in woken { task.resume(returning: result) }
    }

    func waitUntilDurable(_ position: Position) async throws(JournalError) {
        let wait: () throws(JournalError) -> Void = { () throws(JournalError) in try self.waitUntilDurable(position) }
        try wait()
    }

    func forEachRecord(
        in positions: ClosedRange<Position>, _ body: (Position, RecordContentState, RawSpan, RawSpan) -> Bool
    ) throws(JournalError) {
        try state.withLock { (state) throws(JournalError) in try state.checkOpen() }
        let records = store.contents.withLock { $0.records }
        guard positions.lowerBound > 0, positions.upperBound <= records.count else {
            throw JournalError(.outOfRange, "the end is at \(records.count)")
        }
        for position in positions {
            let (kept, erasable) = records[Int(position) - 1]
            // `bytes` is unsafe for elements with padding; integers have none.
            guard unsafe body(position, .whole, kept.span.bytes, erasable.span.bytes) else { return }
        }
    }

    func waitForRecords(after position: Position) async throws(JournalError) -> Position {
        let wait = state.withLock { state in
            state.waits += 1
            return state.waits
        }
        let result = await withTaskCancellationHandler {
            await withCheckedContinuation { (task: CheckedContinuation<Result<Position, JournalError>, Never>) in
                let result = state.withLock { state -> Result<Position, JournalError>? in
                    if let result = state.more(after: position, last: lastPosition) { return result }
                    if Task.isCancelled { return .failure(JournalError(.cancelled, "cancelled")) }
                    state.waiting[wait] = (position, task)
                    return nil
                }
                if let result { task.resume(returning: result) }
            }
        } onCancel: {
            let task = state.withLock { $0.waiting.removeValue(forKey: wait)?.task }
            task?.resume(returning: .failure(JournalError(.cancelled, "cancelled")))
        }
        return try result.get()
    }

    func close() throws(JournalError) {
        let woken = state.withLock { state in
            state.isClosed = true
            return state.settle(lastPosition)
        }
        for (task, result) in woken { task.resume(returning: result) }
    }
}

extension ArrayLog.State {
    typealias Wakeup = (CheckedContinuation<Result<Position, JournalError>, Never>, Result<Position, JournalError>)

    func checkOpen() throws(JournalError) {
        if isClosed { throw JournalError(.closed, "closed") }
    }

    /// Returns the result of a wait after `position`, or nil while the wait goes on.
    func more(after position: Position, last: Position) -> Result<Position, JournalError>? {
        if durable > position { return .success(durable) }
        if isClosed { return .failure(JournalError(.closed, "closed")) }
        return position > last ? .failure(JournalError(.outOfRange, "the end is at \(last)")) : nil
    }

    /// Makes every position up to `last` durable, and removes the waits that this ends.
    mutating func settle(_ last: Position) -> [Wakeup] {
        durable = max(durable, last)
        var woken: [Wakeup] = []
        for (wait, waiter) in waiting {
            guard let result = more(after: waiter.position, last: last) else { continue }
            waiting[wait] = nil
            woken.append((waiter.task, result))
        }
        return woken
    }
}

extension RawSpan {
    fileprivate var bytes: [UInt8] { unsafe withUnsafeBytes { source in unsafe [UInt8](source) } }
}
