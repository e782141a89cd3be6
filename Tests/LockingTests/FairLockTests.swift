import Dispatch
import Foundation
import Locking
import Synchronization
import Testing

/// A `FairLock` excludes other threads, and a thread cannot overtake an overdue waiter.
@Suite struct FairLockTests {
    private final class Scene: Sendable {
        let lock = FairLock(0)
        let begun = Atomic(0)
        let overtaking = Atomic(-1)
    }

    @Test func sectionsAreMutuallyExclusive() {
        let scene = Scene()
        let (threads, rounds) = (6, 5_000)
        start(threads) { _ in for _ in 0..<rounds { scene.lock.withLock { $0 += 1 } } }.wait()
        #expect(scene.lock.withLock { $0 } == threads * rounds)
        #expect(scene.lock.isGateHeld() == false)
    }

    /// A thread that reacquires the lock repeatedly lets an overdue thread go first.
    @Test func overdueThreadIsNotOvertaken() {
        let scene = Scene()
        var overdue: DispatchGroup?
        scene.lock.withLock { _ in
            overdue = start(1) { _ in
                scene.lock.withLock { _ in
                    scene.overtaking.store(scene.begun.load(ordering: .relaxed), ordering: .relaxed)
                }
            }
            #expect(eventually { scene.lock.isGateHeld() })
        }
        for _ in 0..<1_000 { scene.lock.withLock { _ in _ = scene.begun.add(1, ordering: .relaxed) } }
        overdue?.wait()
        #expect(scene.overtaking.load(ordering: .relaxed) == 0)
        #expect(scene.lock.isGateHeld() == false)
    }

    @Test func throwingSectionReleasesLock() {
        struct Refusal: Error, Equatable {}
        let lock = FairLock(1)
        #expect(throws: Refusal()) {
            try lock.withLock { value throws(Refusal) in
                value = 2
                throw Refusal()
            }
        }
        #expect(lock.withLock { $0 } == 2)
    }
}
