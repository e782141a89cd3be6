@testable import Chat
import ChatDomain
import ChatTesting
import EventJournal
import Foundation
import Locking
import Synchronization

/// A store with eight concurrent callers, and a record of their operations.
///
/// The seed determines the calls and the options of the store. Their interleaving is deterministic
/// on a seeded executor only.
final class ConcurrentHistory: Sendable {
    static let callerCount = 8
    static let callsOfEach = 8

    let seed: UInt64
    /// The options of the store and its callers, for failure reports.
    let setting: String
    private let journal: any CommitLog
    private let store: ChatStore
    private let subject: HistoryWorkload.Subject
    /// Whether each caller is a blocking thread; the others are tasks.
    private let isThread: [Bool]
    private let time = Atomic<UInt64>(0)
    private let ready = Atomic<Int>(0)
    private let recorded = Lock<[Operation]>([])

    /// Opens a store with options from the seed.
    ///
    /// - Parameter executor: The executor of all tasks, or nil for threads and the global pool.
    init(
        seed: UInt64, about subject: HistoryWorkload.Subject = .everything, flaw: UnsteadyLog.Flaw? = nil,
        in place: LogPlace = .memory,
        on executor: SeededExecutor? = nil
    ) throws {
        self.subject = subject
        var random = SeededRandom(seed: seed)
        let durability: Durability = random.oneIn(2) ? .synced : .written
        let segmentSize: UInt64 = [512, 1_000, 20_000][Int.random(in: 0..<3, using: &random)]
        // Only the log itself erases.
        let isSteady = random.oneIn(4) && flaw == nil || subject == .directThreads
        let form = Int.random(in: 0..<3, using: &random)
        isThread = (0..<Self.callerCount).map { executor == nil && (form == 0 || form == 1 && $0 % 2 == 0) }
        setting = "\(durability), segments of \(segmentSize), steady \(isSteady), threads \(isThread)"
        self.seed = seed
        journal = try place.open(
            JournalOptions(
                durability: durability, segmentSize: segmentSize, storage: MemoryStorage(),
                entropy: SeededEntropy(seed: seed),
                slotSyncDelay: nil, executor: executor))
        let log: any CommitLog = isSteady ? journal : UnsteadyLog(journal, seed: seed, flaw: flaw)
        // On the journal itself the store also writes checkpoints.
        let checkpoints = CheckpointOptions(interval: 20, atClose: nil, afterReplay: nil)
        store = try ChatStore.open(
            log: log,
            options: StoreOptions(
                journal: JournalOptions(executor: executor), clock: JumpingClock(seed: seed),
                ids: SeededIDs(seed: seed),
                checkpoints: checkpoints,
                textCacheByteCount: random.oneIn(2) ? 0 : 4_096))
    }

    /// Runs all callers and returns a checker of their operations.
    func run() async throws -> HistoryChecker {
        for request in HistoryWorkload.beginning { await perform(.execute([request]), as: 0) }
        await withTaskGroup(of: Void.self) { tasks in
            for caller in 0..<Self.callerCount {
                tasks.addTask { [self] in
                    if isThread[caller] { await onThread { self.use(as: caller) } } else { await use(as: caller) }
                }
            }
        }
        // A flawed log may return before its last records are durable.
        try await journal.waitUntilDurable(journal.lastPosition)
        var events: [RecordedEvent] = []
        try store.forEachEvent(matching: EventFilter(as: .host)) { event, _ in
            events.append(event)
        }
        try store.close()
        return HistoryChecker(recorded.withLock { $0 }, events)
    }

    private func use(as caller: Int) {
        var workload = HistoryWorkload(seed: seed, caller: caller, about: subject)
        ready.add(1, ordering: .relaxed)
        while ready.load(ordering: .relaxed) < Self.callerCount { Thread.sleep(forTimeInterval: 0.000_05) }
        for _ in 0..<Self.callsOfEach { perform(workload.next(knowing: journal.durablePosition), as: caller) }
    }

    private func use(as caller: Int) async {
        var workload = HistoryWorkload(seed: seed, caller: caller, about: subject)
        ready.add(1, ordering: .relaxed)
        while ready.load(ordering: .relaxed) < Self.callerCount { await Task.yield() }
        for _ in 0..<Self.callsOfEach { await perform(workload.next(knowing: journal.durablePosition), as: caller) }
    }

    private func perform(_ call: Call, as caller: Int) {
        let invoked = tick()
        let answer = answer(to: call)
        record(call, answer, since: invoked, as: caller)
    }

    private func perform(_ call: Call, as caller: Int) async {
        let invoked = tick()
        let answer = await answer(to: call)
        record(call, answer, since: invoked, as: caller)
    }

    private func answer(to call: Call) -> Answer {
        switch call {
        case .ask(let query): return store.answer(query)
        case .erase(let user): return store.erase(user)
        case .execute(let batch):
            do throws(ChatError) {
                if batch.count == 1 {
                    return .results([
                        .success(try store.executeBlocking(batch[0].command, correlation: batch[0].correlation))
                    ])
                }
                return .results(try store.executeBlocking(batch))
            } catch {
                return Self.answer(error)
            }
        }
    }

    private func answer(to call: Call) async -> Answer {
        switch call {
        case .ask(let query): return store.answer(query)
        case .erase(let user): return store.erase(user)
        case .execute(let batch):
            do throws(ChatError) {
                if batch.count == 1 {
                    return .results([
                        .success(try await store.execute(batch[0].command, correlation: batch[0].correlation))
                    ])
                }
                return .results(try await store.execute(batch))
            } catch {
                return Self.answer(error)
            }
        }
    }

    /// The answer to a thrown error: a single command throws its rejection.
    private static func answer(_ error: ChatError) -> Answer {
        if case .rejected(let rejection) = error { .results([.failure(rejection)]) } else { .failed(error.description) }
    }

    private func record(_ call: Call, _ answer: Answer, since invoked: UInt64, as caller: Int) {
        // The position is read after the answer and before the return time, so it is a bound at the
        // return.
        let durable = journal.durablePosition
        let operation = Operation(
            caller: caller, invoked: invoked, returned: tick(), call: call, answer: answer, durable: durable)
        recorded.withLock { $0.append(operation) }
    }

    private func tick() -> UInt64 { time.add(1, ordering: .sequentiallyConsistent).newValue }
}

/// Runs a blocking closure on a separate thread.
private func onThread(_ body: @escaping @Sendable () -> Void) async {
    await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
        let thread = Thread {
            body()
            done.resume()
        }
        thread.start()
    }
}

/// A clock that returns noon plus or minus up to a day at each reading.
final class JumpingClock: WallClock {
    private let random: Lock<SeededRandom>

    init(seed: UInt64) { random = Lock(SeededRandom(seed: seed)) }

    func now() -> Timestamp {
        let noon: Int64 = 1_584_964_800_000
        let jump = random.withLock { Int64.random(in: -86_400_000...86_400_000, using: &$0) }
        return Timestamp(millisecondsSince1970: noon + jump)
    }
}
