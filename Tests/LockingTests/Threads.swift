import Dispatch
import Foundation

/// Starts threads that can block.
///
/// Each thread leaves the group at its end.
func start(_ count: Int, _ body: @escaping @Sendable (_ thread: Int) -> Void) -> DispatchGroup {
    let group = DispatchGroup()
    for number in 0..<count {
        group.enter()
        Thread.detachNewThread {
            body(number)
            group.leave()
        }
    }
    return group
}

/// Polls until the condition holds.
///
/// Returns false if it does not hold within ten seconds.
func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<10_000 {
        if condition() { return true }
        Thread.sleep(forTimeInterval: 0.001)
    }
    return condition()
}

/// Waits long enough for a section to start that must not start yet.
func allowToBegin() { Thread.sleep(forTimeInterval: 0.05) }
