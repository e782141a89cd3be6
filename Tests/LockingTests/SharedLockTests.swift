import Dispatch
import Locking
import Synchronization
import Testing

/// Readers of a `SharedLock` run in parallel, writers run alone, and neither starves the other.
@Suite struct SharedLockTests {
    /// A noncopyable value; outside an exclusive section both halves are equal.
    private struct Pair: ~Copyable, Sendable {
        var first = 0
        var second = 0
    }

    /// The state that the threads of one test share.
    private final class Scene: Sendable {
        let lock = SharedLock(Pair())
        let inside = Atomic(0)
        let begun = Atomic(0)
        let broken = Atomic(0)
        let overtaking = Atomic(-1)

        func write() {
            lock.withExclusive { pair in
                if inside.add(1, ordering: .relaxed).oldValue != 0 { broken.add(1, ordering: .relaxed) }
                pair.first += 1
                pair.second += 1
                inside.subtract(1, ordering: .relaxed)
            }
        }

        func read() {
            lock.withShared { pair in
                if pair.first != pair.second { broken.add(1, ordering: .relaxed) }
            }
        }

        func countBegin() { begun.add(1, ordering: .relaxed) }

        /// Stores the number of sections begun so far.
        func noteOvertaking() { overtaking.store(begun.load(ordering: .relaxed), ordering: .relaxed) }
    }

    @Test func writersExcludeReadersAndWriters() {
        let scene = Scene()
        let (writers, rounds) = (3, 2_000)
        start(2 * writers) { thread in
            for _ in 0..<rounds { thread < writers ? scene.write() : scene.read() }
        }.wait()
        #expect(scene.lock.withShared { $0.first } == writers * rounds)
        #expect(scene.lock.withShared { $0.second } == writers * rounds)
        #expect(scene.broken.load(ordering: .relaxed) == 0)
    }

    /// Each reader stays inside until all readers are inside, which requires that they run in
    /// parallel.
    @Test func sharedSectionsRunInParallel() {
        let scene = Scene()
        let readers = 4
        start(readers) { _ in
            scene.lock.withShared { _ in
                scene.countBegin()
                #expect(eventually { scene.begun.load(ordering: .relaxed) == readers })
            }
        }.wait()
    }

    /// Readers that arrive while a writer waits for an earlier reader start after the writer.
    @Test func readersDoNotOvertakeWaitingWriter() {
        let scene = Scene()
        var threads: [DispatchGroup] = []
        scene.lock.withShared { _ in
            threads.append(start(1) { _ in scene.lock.withExclusive { _ in scene.noteOvertaking() } })
            #expect(eventually { scene.lock.isGateHeld() })
            threads.append(start(4) { _ in scene.lock.withShared { _ in scene.countBegin() } })
            allowToBegin()
        }
        for thread in threads { thread.wait() }
        #expect(scene.overtaking.load(ordering: .relaxed) == 0)
        #expect(scene.begun.load(ordering: .relaxed) == 4)
    }

    /// Writers that arrive while a reader waits for an earlier writer start after the reader.
    @Test func writersDoNotOvertakeWaitingReader() {
        let scene = Scene()
        var threads: [DispatchGroup] = []
        scene.lock.withExclusive { _ in
            threads.append(start(1) { _ in scene.lock.withShared { _ in scene.noteOvertaking() } })
            #expect(eventually { scene.lock.isGateHeld() })
            threads.append(start(4) { _ in scene.lock.withExclusive { _ in scene.countBegin() } })
            allowToBegin()
        }
        for thread in threads { thread.wait() }
        #expect(scene.overtaking.load(ordering: .relaxed) == 0)
        #expect(scene.begun.load(ordering: .relaxed) == 4)
    }

    @Test func throwingSectionReleasesLock() {
        struct Refusal: Error, Equatable {}
        let lock = SharedLock(1)
        #expect(throws: Refusal()) {
            try lock.withExclusive { value throws(Refusal) in
                value = 2
                throw Refusal()
            }
        }
        #expect(throws: Refusal()) { try lock.withShared { _ throws(Refusal) in throw Refusal() } }
        lock.withExclusive { $0 += 1 }
        #expect(lock.withShared { $0 } == 3)
    }
}
