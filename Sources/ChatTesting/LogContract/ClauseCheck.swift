import Dispatch
import EventJournal
import Locking

/// The check of one clause on one log: its parameters and the observed violations.
final class ClauseCheck: Sendable {
    let fixture: CommitLogFixture
    let seed: UInt64
    let timeout: Duration
    private let violations = Lock<[String]>([])

    init(_ fixture: CommitLogFixture, seed: UInt64, timeout: Duration) {
        self.fixture = fixture
        self.seed = seed
        self.timeout = timeout
    }

    /// The observed violations.
    var messages: [String] { violations.withLock { $0 } }

    /// Records a violation; only the first eight are kept.
    func recordViolation(_ message: String) {
        violations.withLock { if $0.count < 8 { $0.append(message) } }
    }

    func expect(_ condition: Bool, _ message: @autoclosure () -> String) {
        if !condition { recordViolation(message()) }
    }

    /// Records a violation unless the work throws an error with this code.
    func expect(_ code: JournalError.Code, from what: String, _ work: () throws(JournalError) -> Void) {
        do throws(JournalError) {
            try work()
            recordViolation("\(what) does not throw \(code)")
        } catch {
            expect(error.code == code, "\(what) throws \(error) instead of \(code)")
        }
    }

    /// Returns the record of this run at a position.
    func record(at position: Position, by writer: UInt64 = 0) -> ContractRecord {
        ContractRecord(seed: seed, at: position, by: writer)
    }

    /// Returns a draft of the records at these positions.
    func draft(_ positions: ClosedRange<Position>, by writer: UInt64 = 0) throws(JournalError) -> CommitDraft {
        var draft = CommitDraft()
        for position in positions { try draft.append(record(at: position, by: writer)) }
        return draft
    }

    /// Appends the next records of this run to a log without other writers.
    @discardableResult
    func append(_ count: Position, to log: any CommitLog) throws(JournalError) -> ClosedRange<Position> {
        let head = log.lastPosition
        let draft = try draft(head + 1...head + count)
        try log.reserve(draft.encodedByteCount)
        let positions = try log.append(draft, expecting: head)
        expect(positions == head + 1...head + count, "\(count) records after position \(head) got \(positions)")
        expect(
            log.lastPosition == head + count,
            "the last position is \(log.lastPosition) after an append up to \(head + count)")
        return positions
    }

    /// Reads positions and compares every record with that of this run.
    func checkRecords(of log: any CommitLog, _ positions: ClosedRange<Position>) throws(JournalError) {
        var next = positions.lowerBound
        try log.forEachRecord(in: positions) { position, state, kept, erasable in
            expect(position == next, "position \(position) is read, expected \(next)")
            expect(
                state == .whole && ContractRecord(kept: kept, erasable: erasable) == record(at: position),
                "the record at \(position) is not the one that was appended")
            next = position + 1
            return true
        }
        expect(next == positions.upperBound + 1, "reading \(positions) ends before \(next) without an error")
        try checkRecords(of: log, positions.filter { $0 % 3 == positions.lowerBound % 3 })
    }

    private func checkRecords(of log: any CommitLog, _ positions: [Position]) throws(JournalError) {
        var next = 0
        try log.forEachRecord(at: positions) { position, state, kept, erasable in
            guard next < positions.count, position == positions[next] else {
                recordViolation(
                    "reading at chosen positions gives \(position), expected \(positions.dropFirst(next).first ?? 0)")
                return false
            }
            expect(
                state == .whole && ContractRecord(kept: kept, erasable: erasable) == record(at: position),
                "the record at \(position) is not the one that was appended")
            next += 1
            return true
        }
        expect(
            next == positions.count,
            "reading at chosen positions ends before \(positions.dropFirst(next).first ?? 0) without an error")
    }

    /// Runs the work on several threads at the same time and waits until all have ended.
    func runOnThreads(_ count: Int, _ work: @escaping @Sendable (_ thread: Int) -> Void) async {
        let group = DispatchGroup()
        // One serial queue per thread: it gets its own thread even if all others block.
        for thread in 0..<count {
            DispatchQueue(label: "CommitLogContract.\(thread)").async(group: group) { work(thread) }
        }
        await withCheckedContinuation { done in group.notify(queue: .global()) { done.resume() } }
    }

    /// Runs tasks concurrently with other work; cancels tasks that exceed the timeout.
    func withFollowers(
        _ count: Int, _ follow: @escaping @Sendable (_ follower: Int) async -> Void, while work: () async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { [timeout] group in
            for follower in 0..<count {
                group.addTask {
                    await follow(follower)
                    return true
                }
            }
            group.addTask {
                do { try await Self.sleep(for: timeout) } catch { return true }
                return false
            }
            try await work()
            for _ in 0..<count where try await group.next() == false { group.cancelAll() }
            group.cancelAll()
        }
    }

    /// Sleeps in steps until the condition holds or the time is over.
    ///
    /// Each step needs a thread of the task pool, so a pool that other work occupies delays the
    /// timeout as much as the tasks that it limits.
    static func sleep(for time: Duration, until condition: () -> Bool = { false }) async throws {
        let step = Duration.milliseconds(2)
        var rest = time
        while rest > .zero, !condition() {
            try await Task.sleep(for: step)
            rest -= step
        }
    }
}
