internal import Dispatch
internal import Synchronization

/// Who waits for a sync, in rounds: those whom the sync under way covers, and those whom the next one will.
///
/// A pure collection but for waking: the journal's lock protects it, and whoever ends a round wakes its members outside that lock.
struct Waiters {
    /// Who makes the next sync.
    enum Lead {
        /// Whoever comes first.
        case nobody
        /// A job that has not begun.
        case announced
        /// Somebody who is at it.
        case begun
    }

    var lead = Lead.nobody
    /// Whether somebody is leading: syncing, or about to.
    var isLed: Bool { lead != .nobody }
    /// Up to where the sync under way makes everything durable; 0 while there is none.
    private var covered: Position = 0
    private var current = Round()
    private var next = Round()

    /// How many threads and tasks wait, apart from the one that leads.
    var count: Int { current.count + next.count }

    /// Whether anybody waits for another sync than the one under way.
    var hasNext: Bool { next.count > 0 }

    /// Makes a thread wait for the sync that covers a position.
    mutating func joinThread(_ position: Position) -> WaitingThreads { position <= covered ? current.joinThread() : next.joinThread() }

    /// Makes a task wait for the sync that covers a position.
    mutating func join(_ position: Position, _ task: Round.Task) {
        if position <= covered { current.join(position, task) } else { next.join(position, task) }
    }

    /// Begins a sync that covers everything up to a position; whoever waits by now waits for this one.
    mutating func begin(through position: Position) {
        swap(&current, &next)
        covered = position
    }

    /// Ends the sync under way and takes out whom it has made wait; after a failure, everybody.
    mutating func end(hasFailed: Bool) -> [Round] {
        covered = 0
        var ended = [Round()]
        swap(&ended[0], &current)
        if hasFailed {
            ended.append(next)
            next = Round()
        }
        return ended
    }
}

/// Those who wait for one sync.
struct Round {
    typealias Task = CheckedContinuation<Result<Void, JournalError>, Never>

    private var threads: WaitingThreads?
    private var threadCount = 0
    private var tasks: [(position: Position, task: Task)] = []

    var count: Int { threadCount + tasks.count }

    mutating func joinThread() -> WaitingThreads {
        threadCount += 1
        let threads = threads ?? WaitingThreads()
        self.threads = threads
        return threads
    }

    mutating func join(_ position: Position, _ task: Task) { tasks.append((position, task)) }

    /// Wakes them, outside the journal's lock.
    func wake(synced: Position, failure: JournalError?) {
        threads?.wake(hasFailed: failure != nil)
        for (position, task) in tasks {
            if let failure, position > synced { task.resume(returning: .failure(failure)) } else { task.resume(returning: .success(())) }
        }
    }
}

/// The threads that wait for one sync, all of whom one system call wakes; none of them needs a lock in order to go on.
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
