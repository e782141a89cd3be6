import Foundation
import Locking

/// Waits for a condition in turns of a millisecond or more; returns whether it holds in the end.
///
/// No time is asserted: a busy machine delays each turn as much as what the test waits for. Only
/// what never comes outlasts them all.
package func inTurns(_ turns: Int = 30_000, until condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<turns {
        if try condition() { return true }
        Thread.sleep(forTimeInterval: 0.001)
    }
    return try condition()
}

/// Runs work on a thread of its own; returns whether it ends while the caller stays where it is.
///
/// Work that waits for something that the caller holds does not, and goes on afterwards: the test
/// fails instead of a hang.
package func endsMeanwhile(turns: Int = 30_000, _ work: @escaping @Sendable () -> Void) -> Bool {
    let hasEnded = Lock(false)
    Thread.detachNewThread {
        work()
        hasEnded.withLock { $0 = true }
    }
    return inTurns(turns) { hasEnded.withLock { $0 } }
}
