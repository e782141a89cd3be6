package import Primitives

/// Tasks that wait until a position is durable.
///
/// A plain collection, protected by its owner's lock. Removed tasks are resumed outside that lock.
package struct WaitQueue {
    package typealias Continuation = CheckedContinuation<Result<Position, JournalError>, Never>

    fileprivate struct Waiter {
        let id: UInt64
        let position: Position
        let task: Continuation
    }

    /// Creates an empty queue.
    package init() {}

    /// Ascending by id, which is the order of arrival.
    private var waiting: [Waiter] = []
    private var lastID: UInt64 = 0
    /// Bounds of the waiting positions, so that one comparison shows that no task can be resumed,
    /// and another that all can.
    private var (lowest, highest) = (Position.max, Position(0))

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
        (lowest, highest) = (min(lowest, position), max(highest, position))
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
    ///
    /// - Complexity: O(1) if all tasks are removed, because callers hold a lock that tasks wait
    ///   for; otherwise O(*n*) in the number of tasks.
    package mutating func removeReady(durable: Position, failure: JournalError?) -> Wakeups? {
        if isEmpty || lowest > durable && failure == nil { return nil }
        let areAllReady = failure != nil || highest <= durable
        var ready: [Waiter] = []
        swap(&ready, &waiting)
        (lowest, highest) = (.max, 0)
        if !areAllReady {
            for waiter in ready where waiter.position > durable { add(waiter.id, waiter.position, waiter.task) }
            ready.removeAll { $0.position > durable }
        }
        return Wakeups(durable: durable, failure: failure, waiters: ready)
    }

    /// Tasks to resume outside the lock, and their result.
    package struct Wakeups {
        let durable: Position
        let failure: JournalError?
        fileprivate let waiters: [Waiter]

        /// Resumes the tasks with the durable position, or with the failure if their position is
        /// beyond it.
        package func deliver() {
            for waiter in waiters {
                if let failure, waiter.position > durable {
                    waiter.task.resume(returning: .failure(failure))
                } else {
                    waiter.task.resume(returning: .success(durable))
                }
            }
        }
    }
}
