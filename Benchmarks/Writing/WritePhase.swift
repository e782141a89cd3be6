import Foundation
import Locking
import Synchronization

/// A way of writing: the parameters of W1 to W4.
struct WritePhase: Sendable {
    enum Callers: Sendable {
        /// One thread, one call after another.
        case one
        /// One task that awaits one answer after another.
        case task
        /// A number of threads, each of which waits for its event before the next.
        case threads(Int)
        /// A number of tasks, likewise.
        case tasks(Int)
    }

    var name: String
    /// Whether an event is synced when its call returns, or only written.
    var isDurable: Bool
    /// The number of events per call.
    var batch = 1
    var callers = Callers.one
    /// The maximum number of events.
    var count: Int
    /// The time after which the phase ends, even with fewer events.
    var limit = Duration.seconds(3)

    /// Runs the phase with one thread.
    ///
    /// - Parameter call: Writes the events with these indices.
    /// - Returns: The events per second.
    func rate(_ call: (Range<Int>) throws -> Void) throws -> Double {
        let clock = ContinuousClock()
        // Reading the clock costs more than a short call, so it is read once for several calls.
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

    /// Runs the phase with one task; returns the events per second.
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

    /// Runs the phase with threads that take the next event until none is left.
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

    /// Runs the phase with tasks that take the next event until none is left.
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

/// Assigns the indices of events to concurrent callers, until all are assigned or the time is over.
private final class EventQueue: Sendable {
    private let start = ContinuousClock.now
    private let phase: WritePhase
    private let dealt = Atomic(0)
    private let isOver = Atomic(false)
    private let failure = Lock<(any Error)?>(nil)

    init(_ phase: WritePhase) { self.phase = phase }

    /// Returns the next index; nil if none is left.
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

    /// Returns the events per second.
    ///
    /// Must be called after all callers have returned.
    func rate() throws -> Double {
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        if let error = failure.withLock({ $0 }) { throw error }
        return Double(dealt.load(ordering: .relaxed)) / seconds
    }
}
