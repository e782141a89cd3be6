internal import Dispatch
internal import Synchronization

/// Tasks that wait until a position is durable.
///
/// A pure collection, protected by the lock of what it belongs to. Tasks that are taken out are resumed outside that lock.
struct WaitQueue {
    typealias Continuation = CheckedContinuation<Result<Position, JournalError>, Never>

    private var waiting: [UInt64: (position: Position, task: Continuation)] = [:]
    private var lastID: UInt64 = 0
    /// Not above the position of any task, so that one comparison tells that no task is to be resumed.
    private var lowest = Position.max

    var count: Int { waiting.count }
    var isEmpty: Bool { waiting.isEmpty }

    /// Makes an id for one wait, by which a cancellation finds it.
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Adds a task that waits until a position is durable.
    mutating func add(_ id: UInt64, _ position: Position, _ task: Continuation) {
        waiting[id] = (position, task)
        lowest = min(lowest, position)
    }

    /// Takes out a task that was cancelled; nil when it has been taken out already.
    mutating func remove(_ id: UInt64) -> Continuation? {
        waiting.removeValue(forKey: id)?.task
    }

    /// Takes out the tasks whose positions are durable, after a failure all tasks; nil when there is none.
    mutating func take(durable: Position, failure: JournalError?) -> Wakeups? {
        if isEmpty || lowest > durable && failure == nil { return nil }
        var wakeups = Wakeups(durable: durable, failure: failure)
        var rest: [UInt64: (position: Position, task: Continuation)] = [:]
        lowest = .max
        // In the order in which they came: that of a dictionary differs from run to run.
        for (id, waiter) in waiting.sorted(by: { $0.key < $1.key }) {
            if waiter.position <= durable || failure != nil {
                wakeups.tasks.append(waiter)
            } else {
                rest[id] = waiter
                lowest = min(lowest, waiter.position)
            }
        }
        waiting = rest
        return wakeups
    }

    /// Tasks to resume outside the lock, and what to tell them.
    struct Wakeups {
        let durable: Position
        let failure: JournalError?
        fileprivate(set) var tasks: [(position: Position, task: Continuation)] = []

        fileprivate init(durable: Position, failure: JournalError?) {
            self.durable = durable
            self.failure = failure
        }

        /// Resumes the tasks: with the durable position, or with the failure where theirs is beyond it.
        func deliver() {
            for (position, task) in tasks {
                if let failure, position > durable {
                    task.resume(returning: .failure(failure))
                } else {
                    task.resume(returning: .success(durable))
                }
            }
        }
    }
}

/// The threads and tasks that wait for a sync, and which of them or of the background makes it.
///
/// A pure collection, protected by the writer's lock. Waiters that are taken out are woken outside that lock.
struct SyncQueue {
    /// Who makes the next sync.
    enum Lead {
        /// The next caller that waits.
        case none
        /// A background job that has not begun.
        case announced
        /// A leader that is syncing, or about to.
        case begun
    }

    var lead = Lead.none
    /// Whether a sync is under way or announced.
    var isLed: Bool { lead != .none }
    /// Up to where the sync under way makes everything durable; 0 while there is none.
    private var covered: Position = 0
    /// Threads that the sync under way covers.
    private var current = Threads()
    /// Threads that the next sync will cover.
    private var next = Threads()
    private var tasks = WaitQueue()

    private struct Threads {
        var group: WaitingThreads?
        var count = 0

        mutating func join() -> WaitingThreads {
            count += 1
            let joined = group ?? WaitingThreads()
            group = joined
            return joined
        }
    }

    /// The number of threads and tasks that wait, without the leader.
    var count: Int { current.count + next.count + tasks.count }

    /// Whether a thread or task waits for another sync than the one that has ended.
    var hasNext: Bool { next.count > 0 || !tasks.isEmpty }

    /// Makes a thread wait for the sync that covers a position.
    mutating func joinThread(_ position: Position) -> WaitingThreads { position <= covered ? current.join() : next.join() }

    /// Makes a task wait until a position is durable.
    mutating func join(_ position: Position, _ task: WaitQueue.Continuation) { tasks.add(tasks.makeID(), position, task) }

    /// Begins a sync that covers everything up to a position, and every thread that waits by now.
    mutating func begin(through position: Position) {
        swap(&current, &next)
        covered = position
    }

    /// Ends the sync under way and takes out the waiters that it covers; after a failure, all.
    mutating func end(synced: Position, failure: JournalError?) -> Wakeups {
        covered = 0
        let hasFailed = failure != nil
        let wakeups = Wakeups(
            threads: hasFailed ? [current.group, next.group] : [current.group], hasFailed: hasFailed,
            tasks: tasks.take(durable: synced, failure: failure))
        current = Threads()
        if hasFailed { next = Threads() }
        return wakeups
    }

    /// Threads and tasks to wake outside the lock.
    struct Wakeups {
        fileprivate let threads: [WaitingThreads?]
        fileprivate let hasFailed: Bool
        fileprivate let tasks: WaitQueue.Wakeups?

        func deliver() {
            for group in threads { group?.wake(hasFailed: hasFailed) }
            tasks?.deliver()
        }
    }
}

/// The threads that wait for one sync, all of which one system call wakes; none needs a lock to go on.
final class WaitingThreads: Sendable {
    private let group = DispatchGroup()
    private let hasFailed = Atomic(false)

    init() { group.enter() }

    /// Waits for the sync; returns whether the journal has stopped.
    func wait() -> Bool {
        group.wait()
        return hasFailed.load(ordering: .relaxed)
    }

    func wake(hasFailed: Bool) {
        self.hasFailed.store(hasFailed, ordering: .relaxed)
        group.leave()
    }
}
