import Dispatch
import Foundation
import Locking
import Synchronization

/// A thread that repeats its work until it is stopped.
final class BusyThread: Sendable {
    private let rounds = Atomic(0)
    private let isOver = Atomic(false)
    private let failure = Lock<(any Error)?>(nil)
    private let group = DispatchGroup()

    /// Starts the thread and waits until the first round has ended.
    ///
    /// - Parameter work: The work; its argument is the number of the round.
    init(_ work: @escaping @Sendable (_ round: Int) throws -> Void) {
        group.enter()
        Thread.detachNewThread { [self] in
            do {
                while !isOver.load(ordering: .relaxed) { try work(rounds.wrappingAdd(1, ordering: .relaxed).oldValue) }
            } catch {
                failure.withLock { $0 = error }
                isOver.store(true, ordering: .relaxed)
            }
            group.leave()
        }
        while rounds.load(ordering: .relaxed) < 2, !isOver.load(ordering: .relaxed) {
            Thread.sleep(forTimeInterval: 0.001)
        }
    }

    /// Stops the thread after the current round; rethrows an error of the work.
    func stop() throws {
        isOver.store(true, ordering: .relaxed)
        group.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

/// Sleeps until an instant, or slightly longer.
func sleep(until moment: ContinuousClock.Instant) { Thread.sleep(forTimeInterval: (moment - .now) / .seconds(1)) }
