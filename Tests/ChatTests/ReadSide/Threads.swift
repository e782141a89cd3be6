import Dispatch
import Foundation
import Locking

/// Runs a closure on `count` concurrent threads, and waits for all of them.
///
/// Creates real threads, independent of the number of processors.
func onThreads(_ count: Int, _ body: @escaping @Sendable (_ number: Int) throws -> Void) throws {
    let group = DispatchGroup()
    let failure = Lock<(any Error)?>(nil)
    for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
            do { try body(number) } catch { failure.withLock { $0 = error } }
            group.leave()
        }
    }
    group.wait()
    if let error = failure.withLock({ $0 }) { throw error }
}
