import Dispatch
import Foundation
import Locking
import Synchronization

/// A thread that repeats a piece of work until it is stopped.
final class BusyThread: Sendable {
    private let rounds = Atomic(0)
    private let isOver = Atomic(false)
    private let failure = Lock<(any Error)?>(nil)
    private let group = DispatchGroup()

    /// Starts it, and waits until it has ended its first round; each round is told its number.
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
        while rounds.load(ordering: .relaxed) < 2, !isOver.load(ordering: .relaxed) { Thread.sleep(forTimeInterval: 0.001) }
    }

    /// Stops it after the round that it is in; throws what the work threw.
    func stop() throws {
        isOver.store(true, ordering: .relaxed)
        group.wait()
        if let error = failure.withLock({ $0 }) { throw error }
    }
}

/// Lets the thread sleep until a moment, or somewhat longer.
func sleep(until moment: ContinuousClock.Instant) { Thread.sleep(forTimeInterval: (moment - .now) / .seconds(1)) }
