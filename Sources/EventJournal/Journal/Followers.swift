/// Who waits for more to become durable: tasks that follow the journal, each at its position.
///
/// A pure collection: the lock of what readers see protects it, and whoever takes followers out wakes them outside that lock.
struct Followers {
    typealias Continuation = CheckedContinuation<Result<Position, JournalError>, Never>

    private var waiting: [UInt64: (position: Position, task: Continuation)] = [:]
    private var lastID: UInt64 = 0
    /// Not above the position of any follower, so that one comparison tells that nobody has to be woken.
    private var lowest = Position.max

    var count: Int { waiting.count }
    var isEmpty: Bool { waiting.isEmpty }

    /// An id for one wait, by which a cancellation finds it.
    mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    mutating func add(_ id: UInt64, _ position: Position, _ task: Continuation) {
        waiting[id] = (position, task)
        lowest = min(lowest, position)
    }

    /// Takes out one whose task was cancelled; nil when it has been woken already.
    mutating func remove(_ id: UInt64) -> Continuation? {
        waiting.removeValue(forKey: id)?.task
    }

    /// Takes out everyone who is before the durable position, and after a failure all; nil when that is nobody.
    mutating func take(durable: Position, failure: JournalError?) -> FollowerWakeups? {
        guard lowest < durable || failure != nil else { return nil }
        var wakeups = FollowerWakeups(durable: durable, failure: failure)
        var rest: [UInt64: (position: Position, task: Continuation)] = [:]
        lowest = .max
        // In the order in which they came: that of a dictionary differs from run to run.
        for (id, follower) in waiting.sorted(by: { $0.key < $1.key }) {
            if follower.position < durable || failure != nil {
                wakeups.tasks.append(follower)
            } else {
                rest[id] = follower
                lowest = min(lowest, follower.position)
            }
        }
        waiting = rest
        return wakeups
    }
}

/// Which followers to wake, and with what, outside the lock.
struct FollowerWakeups {
    let durable: Position
    let failure: JournalError?
    var tasks: [(position: Position, task: Followers.Continuation)] = []

    init(durable: Position, failure: JournalError?) {
        self.durable = durable
        self.failure = failure
    }

    func deliver() {
        for (position, task) in tasks {
            if let failure, position >= durable {
                task.resume(returning: .failure(failure))
            } else {
                task.resume(returning: .success(durable))
            }
        }
    }
}
