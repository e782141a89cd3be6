import Dispatch
import Foundation

/// Starts threads that may block; the group is left by each at its end.
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

/// Looks again until the condition holds; false if it does not within ten seconds.
func eventually(_ condition: () -> Bool) -> Bool {
    for _ in 0..<10_000 {
        if condition() { return true }
        Thread.sleep(forTimeInterval: 0.001)
    }
    return condition()
}

/// Gives sections that must not begin yet the time to begin wrongly.
func allowToBegin() { Thread.sleep(forTimeInterval: 0.05) }
