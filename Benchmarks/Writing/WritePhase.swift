import Foundation
import Locking
import Synchronization

/// A way of writing: what W1 to W4 vary.
struct WritePhase: Sendable {
    enum Callers: Sendable {
        /// One thread, one call after another.
        case one
        /// One task, which awaits one answer after another.
        case task
        /// So many threads, each of which waits for its event before the next.
        case threads(Int)
        /// As many tasks.
        case tasks(Int)
    }

    var name: String
    /// Whether an event is to be on the device when its call returns, or only written.
    var isDurable: Bool
    /// Events for each call.
    var batch = 1
    var callers = Callers.one
    /// How many events at most.
    var count: Int
    /// After how long it ends, whatever it has written by then.
    var limit = Duration.seconds(3)

    /// Runs it with one caller, who is given the indices of the events for each call; returns the events for each second.
    func rate(_ call: (Range<Int>) throws -> Void) throws -> Double {
        let clock = ContinuousClock()
        // The clock is not asked for each event where a call takes less than the asking is worth.
        let callsBetween = isDurable ? 1 : max(1, 256 / batch)
        let start = clock.now
        var done = 0
        var calls = 0
        while done < count {
            let end = min(count, done + batch)
            try call(done..<end)
            done = end
            calls += 1
            if calls % callsBetween == 0, clock.now - start > limit { break }
        }
        return Double(done) / ((clock.now - start) / .seconds(1))
    }

    /// Runs it with one task.
    func rate(_ call: (Range<Int>) async throws -> Void) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        var done = 0
        while done < count {
            let end = min(count, done + batch)
            try await call(done..<end)
            done = end
            if clock.now - start > limit { break }
        }
        return Double(done) / ((clock.now - start) / .seconds(1))
    }

    /// Runs it with so many threads, each of which takes the next event until there is none.
    func rate(threads: Int, _ call: @escaping @Sendable (Int) throws -> Void) throws -> Double {
        let queue = EventQueue(self)
        let group = DispatchGroup()
        for _ in 0..<threads {
            group.enter()
            Thread {
                do { while let index = queue.next() { try call(index) } } catch { queue.fail(error) }
                group.leave()
            }.start()
        }
        group.wait()
        return try queue.rate()
    }

    /// Runs it with so many tasks.
    func rate(tasks: Int, _ call: @escaping @Sendable (Int) async throws -> Void) async throws -> Double {
        let queue = EventQueue(self)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<tasks {
                group.addTask {
                    do { while let index = queue.next() { try await call(index) } } catch { queue.fail(error) }
                }
            }
        }
        return try queue.rate()
    }
}

/// Deals out the indices of events to concurrent callers, until all are dealt or the time is over.
private final class EventQueue: Sendable {
    private let start = ContinuousClock.now
    private let phase: WritePhase
    private let dealt = Atomic(0)
    private let isOver = Atomic(false)
    private let failure = Lock<(any Error)?>(nil)

    init(_ phase: WritePhase) { self.phase = phase }

    /// The next index, for a caller that has finished with the one before; nil when there is none.
    func next() -> Int? {
        let index = dealt.wrappingAdd(1, ordering: .relaxed).oldValue
        if index >= phase.count || isOver.load(ordering: .relaxed) {
            dealt.subtract(1, ordering: .relaxed)
            return nil
        }
        if index % 64 == 0, ContinuousClock.now - start > phase.limit { isOver.store(true, ordering: .relaxed) }
        return index
    }

    func fail(_ error: any Error) {
        isOver.store(true, ordering: .relaxed)
        failure.withLock { $0 = error }
    }

    /// The events for each second, once every caller has come back.
    func rate() throws -> Double {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        if let error = failure.withLock({ $0 }) { throw error }
        return Double(dealt.load(ordering: .relaxed)) / seconds
    }
}
