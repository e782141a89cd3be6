internal import Dispatch
internal import Synchronization

/// Who waits for a sync: threads and tasks, one of whom (or the queue, when there are only tasks) leads.
struct Waiters {
    /// Whether somebody is leading: syncing, or about to.
    var isLed = false
    var threads: [(position: Position, thread: ThreadWaiter)] = []
    var tasks: [(position: Position, task: CheckedContinuation<Result<Void, JournalError>, Never>)] = []
    /// Who waits for whatever comes next, and never leads.
    var followers = Followers()
    /// Used again, so that waiting does not make a semaphore each time.
    var idle: [ThreadWaiter] = []

    /// Takes out everyone whose position is synced, or everyone after a failure, and says who leads next.
    ///
    /// Those who follow have their own position: that which is `durable` under the journal's mode.
    mutating func settle(synced: Position, failure: JournalError?, _ durable: Position) -> Wakeups {
        var wakeups = Wakeups(failure: failure, followers: followers.take(durable: durable, failure: failure))
        for waiter in threads where failure != nil || waiter.position <= synced {
            wakeups.threads.append((waiter.thread, waiter.position <= synced))
        }
        for waiter in tasks where failure != nil || waiter.position <= synced {
            wakeups.tasks.append((waiter.task, waiter.position <= synced))
        }
        threads.removeAll { failure != nil || $0.position <= synced }
        tasks.removeAll { failure != nil || $0.position <= synced }
        if !threads.isEmpty {
            wakeups.leader = threads.removeFirst().thread
        } else if !tasks.isEmpty {
            wakeups.queueLeads = true
        } else {
            isLed = false
        }
        return wakeups
    }
}

/// Whom to wake after a sync, outside the lock.
struct Wakeups {
    let failure: JournalError?
    let followers: FollowerWakeups?
    var threads: [(ThreadWaiter, isDurable: Bool)] = []
    var tasks: [(CheckedContinuation<Result<Void, JournalError>, Never>, isDurable: Bool)] = []
    /// The thread that leads the next sync.
    var leader: ThreadWaiter?
    /// Whether the queue leads it, because only tasks are left.
    var queueLeads = false

    init(failure: JournalError?, followers: FollowerWakeups?) {
        self.failure = failure
        self.followers = followers
    }

    /// Wakes the next leader first: the next sync then starts while the others wake.
    func deliver() {
        leader?.wake(.lead)
        for (thread, isDurable) in threads { thread.wake(result(isDurable)) }
        for (task, isDurable) in tasks {
            if let failure, !isDurable { task.resume(returning: .failure(failure)) } else { task.resume(returning: .success(())) }
        }
        followers?.deliver()
    }

    private func result(_ isDurable: Bool) -> ThreadWaiter.Outcome {
        if let failure, !isDurable { return .failed(failure) }
        return .durable
    }
}

/// One waiting thread.
final class ThreadWaiter: Sendable {
    enum Outcome {
        case durable
        /// Nobody leads any more: this thread does.
        case lead
        case failed(JournalError)
    }

    private let semaphore = DispatchSemaphore(value: 0)
    private let outcome = Mutex(Outcome.durable)

    func wake(_ outcome: Outcome) {
        self.outcome.withLock { $0 = outcome }
        semaphore.signal()
    }

    func wait() -> Outcome {
        semaphore.wait()
        return outcome.withLock { $0 }
    }
}
