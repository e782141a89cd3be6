package import Primitives

/// Tasks that wait until a position is durable.
///
/// A plain collection, protected by its owner's lock. Removed tasks are resumed outside that lock.
package struct WaitQueue {
    package typealias Continuation = CheckedContinuation<Result<Position, JournalError>, Never>

    private struct Waiter {
        let id: UInt64
        let position: Position
        let task: Continuation
    }

    /// Creates an empty queue.
    package init() {}

    /// Ascending by id, which is the order of arrival.
    private var waiting: [Waiter] = []
    private var lastID: UInt64 = 0
    /// A lower bound of the waiting positions, so that one comparison shows that no task can be
    /// resumed.
    private var lowest = Position.max

    var count: Int { waiting.count }
    package var isEmpty: Bool { waiting.isEmpty }

    /// Returns an id for one wait, with which a cancellation finds it.
    package mutating func makeID() -> UInt64 {
        lastID += 1
        return lastID
    }

    /// Adds a task that waits until a position is durable.
    package mutating func add(_ id: UInt64, _ position: Position, _ task: Continuation) {
        // A later id may have been added first.
        let index = waiting.last.map { $0.id < id } ?? true ? waiting.count : index(of: id)
        waiting.insert(Waiter(id: id, position: position, task: task), at: index)
        lowest = min(lowest, position)
    }

    /// Removes a cancelled task; nil if it was removed already.
    package mutating func remove(_ id: UInt64) -> Continuation? {
        let index = index(of: id)
        return index < waiting.count && waiting[index].id == id ? waiting.remove(at: index).task : nil
    }

    /// Returns the index of the first waiter whose id is not below the given one.
    private func index(of id: UInt64) -> Int { waiting.indices.partitioningIndex { waiting[$0].id >= id } }

    /// Removes the tasks whose positions are durable, or all tasks after a failure; nil if there
    /// are none.
    package mutating func removeReady(durable: Position, failure: JournalError?) -> Wakeups? {
        if isEmpty || lowest > durable && failure == nil { return nil }
        var wakeups = Wakeups(durable: durable, failure: failure)
        wakeups.tasks.reserveCapacity(waiting.count)
        var rest: [Waiter] = []
        lowest = .max
        for waiter in waiting {
            if waiter.position <= durable || failure != nil {
                wakeups.tasks.append((waiter.position, waiter.task))
            } else {
                rest.append(waiter)
                lowest = min(lowest, waiter.position)
            }
        }
        waiting = rest
        return wakeups
    }

    /// Tasks to resume outside the lock, and their result.
    package struct Wakeups {
        let durable: Position
        let failure: JournalError?
        fileprivate(set) var tasks: [(position: Position, task: Continuation)] = []

        fileprivate init(durable: Position, failure: JournalError?) {
            self.durable = durable
            self.failure = failure
        }

        /// Resumes the tasks with the durable position, or with the failure if their position is
        /// beyond it.
        package func deliver() {
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
