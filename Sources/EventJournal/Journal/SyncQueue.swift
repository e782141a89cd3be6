internal import Dispatch
package import Primitives
internal import Synchronization

/// The threads and tasks that wait for a sync, and the state of its leader.
///
/// At most one leader at a time performs syncs. A thread that waits without a leader becomes the
/// leader itself; a task schedules a background leader instead. A background leader syncs until no
/// uncovered waiter remains. A thread syncs once and then hands over to a background leader.
///
/// A plain collection, protected by the writer's lock. Removed waiters are woken outside that lock.
package struct SyncQueue {
    /// Creates a queue without waiters.
    package init() {}

    /// The leader of the next sync.
    package enum Leader {
        /// No leader; the next caller that waits becomes the leader.
        case none
        /// A background job that is scheduled and has not started.
        case scheduled
        /// A leader that is syncing or about to sync.
        case active
    }

    package private(set) var leader = Leader.none
    /// Whether a sync is in progress or scheduled.
    var hasLeader: Bool { leader != .none }

    /// Makes a thread the leader, or adds it to the group of the sync that covers its position.
    ///
    /// - Parameter precedesScheduled: Whether the thread leads before a background job that has not
    ///   started.
    package mutating func leadOrJoin(_ position: Position, precedesScheduled: Bool) -> ThreadStep {
        if leader == .active || leader == .scheduled && !precedesScheduled { return .follow(joinThread(position)) }
        leader = .active
        return .lead
    }

    /// Marks that a background job will lead; false if there is a leader already.
    package mutating func scheduleLeader() -> Bool {
        if hasLeader { return false }
        leader = .scheduled
        return true
    }

    /// Makes the background job the leader, unless a waiting thread took the lead in the meantime.
    package mutating func leadAsScheduled() -> Bool {
        if leader != .scheduled { return false }
        leader = .active
        return true
    }

    /// Ends the lead, or hands it over.
    package mutating func endLead(then next: Leader = .none) { leader = next }

    /// The last position that the sync in progress covers; 0 when there is none.
    private var coveredPosition: Position = 0
    /// The waiters that the sync in progress covers.
    private var current = Group()
    /// The waiters that the next sync will cover, and tasks that an earlier sync did not reach.
    private var next = Group()
    private var lastID: UInt64 = 0

    /// The threads and tasks that wait for one sync.
    private struct Group {
        var threads: WaitingThreads?
        var threadCount = 0
        var tasks = WaitQueue()

        var count: Int { threadCount + tasks.count }

        mutating func joinThread() -> WaitingThreads {
            threadCount += 1
            let joined = threads ?? WaitingThreads()
            threads = joined
            return joined
        }

        mutating func removeThreads() -> WaitingThreads? {
            defer { (threads, threadCount) = (nil, 0) }
            return threads
        }
    }

    /// The number of waiting threads and tasks, without the leader.
    var count: Int { current.count + next.count }

    /// Whether a thread or task waits for a sync after the one that has ended.
    var hasUncoveredWaiters: Bool { count > 0 }

    /// Adds a thread to the group of the sync that covers its position.
    package mutating func joinThread(_ position: Position) -> WaitingThreads {
        position <= coveredPosition ? current.joinThread() : next.joinThread()
    }

    /// Adds a task that waits until a position is durable.
    package mutating func join(_ position: Position, _ task: WaitQueue.Continuation) {
        lastID += 1
        if position <= coveredPosition {
            current.tasks.add(lastID, position, task)
        } else {
            next.tasks.add(lastID, position, task)
        }
    }

    /// Starts a sync that covers all records up to a position and all waiters of now.
    package mutating func begin(through position: Position) {
        swap(&current, &next)
        coveredPosition = position
    }

    /// Ends the sync in progress and removes the waiters that it covers, or all waiters after a
    /// failure.
    package mutating func end(synced: Position, failure: JournalError?) -> Wakeups {
        coveredPosition = 0
        let hasFailed = failure != nil
        // The tasks of both groups, because a sync may cover less than all records of its
        // beginning.
        return Wakeups(
            threads: [current.removeThreads(), hasFailed ? next.removeThreads() : nil], hasFailed: hasFailed,
            tasks: [
                current.tasks.removeReady(durable: synced, failure: failure),
                next.tasks.removeReady(durable: synced, failure: failure),
            ])
    }

    /// Threads and tasks to wake outside the lock.
    package struct Wakeups {
        fileprivate let threads: [WaitingThreads?]
        fileprivate let hasFailed: Bool
        fileprivate let tasks: [WaitQueue.Wakeups?]

        package func deliver() {
            for group in threads { group?.wake(hasFailed: hasFailed) }
            for group in tasks { group?.deliver() }
        }
    }
}

/// What a thread does next that waits until a position is durable.
package enum ThreadStep {
    case finished
    case lead
    case follow(WaitingThreads)
}

/// The threads that wait for one sync.
///
/// One system call wakes all of them, and none needs a lock to continue.
package final class WaitingThreads: Sendable {
    private let group = DispatchGroup()
    private let hasFailed = Atomic(false)

    init() { group.enter() }

    /// Waits for the sync; returns whether the journal has stopped.
    package func wait() -> Bool {
        group.wait()
        return hasFailed.load(ordering: .relaxed)
    }

    func wake(hasFailed: Bool) {
        self.hasFailed.store(hasFailed, ordering: .relaxed)
        group.leave()
    }
}
