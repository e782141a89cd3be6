import ChatTesting
import Dispatch
import Locking
import Synchronization
import TestSupport
import Testing

@testable import Chat

/// Batches pass the stages of a ``Pipeline`` in order, on any number of threads.
@Suite struct PipelineTests {
    /// A batch and the stages that it has passed.
    private struct Portion {
        var number: Int
        var passed: [Int] = []
    }

    /// Stages process batches in order, batches pass stages in order, and the room bounds the
    /// batches in progress.
    @Test(arguments: Seeds.seeds(Repetitions.few(2, of: 4)), [0, 1, 3]) func batchesPassStagesInOrder(
        seed: UInt64, helpers: Int
    ) {
        var random = SeededRandom(seed: seed)
        let stageCount = Int.random(in: 1...5, using: &random)
        let room = Int.random(in: 1...6, using: &random)
        for count in [0, 1, room, room + 1, 2_000] {
            let seen = Lock([[Int]](repeating: [], count: stageCount))
            let underWay = Atomic(0)
            let most = Atomic(0)
            let work = (0..<stageCount).map { _ in UInt64.random(in: 0...300, using: &random) }
            let pipeline = Pipeline<Portion>(
                (0..<stageCount).map { stage in
                    { portion in
                        if stage == 0 { most.max(underWay.add(1, ordering: .relaxed).newValue, ordering: .relaxed) }
                        var sum: UInt64 = 0
                        for turn in 0..<work[stage] * UInt64(portion.number % 3) { sum &+= turn }
                        portion.passed.append(sum == .max ? -1 : stage)
                        if portion.passed == Array(0...stage) {
                            seen.withLock { [number = portion.number] in $0[stage].append(number) }
                        }
                        if stage == stageCount - 1 { underWay.subtract(1, ordering: .relaxed) }
                    }
                }, room: room)
            let group = DispatchGroup()
            for _ in 0..<helpers { DispatchQueue.global().async(group: group) { pipeline.work() } }
            for number in 0..<count { pipeline.submit(Portion(number: number)) }
            pipeline.finish()
            // A helper that starts late has no work.
            pipeline.work()
            group.wait()
            #expect(seen.withLock { $0 } == [[Int]](repeating: Array(0..<count), count: stageCount))
            #expect(most.load(ordering: .relaxed) <= room)
        }
    }

    /// A batch blocked at a stage holds back the later ones at that stage, and the room bounds new
    /// ones.
    @Test func blockedBatchHoldsBackLaterBatches() {
        let (isHeldUp, arrivals, gate) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let last = Lock<[Int]>([])
        let pipeline = Pipeline<Int>(
            [
                { _ in arrivals.signal() },
                { number in
                    guard number == 0 else { return }
                    isHeldUp.signal()
                    gate.wait()
                }, { number in last.withLock { [number] in $0.append(number) } },
            ], room: 4)
        let group = DispatchGroup()
        DispatchQueue.global().async(group: group) { pipeline.work() }
        DispatchQueue.global().async(group: group) {
            for number in 0..<10 { pipeline.submit(number) }
            pipeline.finish()
        }
        isHeldUp.wait()
        for _ in 0..<4 { arrivals.wait() }
        // The timeout cannot fail on a slow machine: the room is four.
        #expect(arrivals.wait(timeout: .now() + 0.05) == .timedOut)
        #expect(last.withLock { $0 }.isEmpty)
        gate.signal()
        group.wait()
        #expect(last.withLock { $0 } == Array(0..<10))
    }
}
