import ChatDomain
import Dispatch
import EventJournal
import Locking

/// A pipeline: every batch passes every stage, each stage in batch order, on any free thread.
///
/// Threads are not bound to stages, so no thread idles while a stage has work, whichever stage is
/// slowest.
final class Pipeline<Portion: Sendable>: Sendable {
    typealias Stage = @Sendable (inout Portion) -> Void

    private let stages: [Stage]
    private let line: Lock<Line>

    /// The batches in flight.
    private struct Line {
        /// A ring of batches; an entry is nil while a thread works on it, which serialises the
        /// stages.
        var portions: [Portion?]
        /// The number of batches added, followed by the number that have passed each stage.
        var passed: [Int]
        var hasEnded = false
        /// One semaphore per waiting thread, because the threads wait for different conditions.
        var waiting: [DispatchSemaphore] = []

        var hasRoom: Bool { passed[0] - passed[passed.count - 1] < portions.count }
        var isDone: Bool { hasEnded && passed[0] == passed[passed.count - 1] }
    }

    /// Creates an empty pipeline.
    ///
    /// - Parameter room: The maximum number of batches in flight, which bounds memory.
    init(_ stages: [Stage], room: Int) {
        self.stages = stages
        line = Lock(Line(portions: [Portion?](repeating: nil, count: room), passed: [Int](repeating: 0, count: stages.count + 1)))
    }

    /// Adds the next batch; the producing thread works while the pipeline is full.
    ///
    /// Only one thread may call this method.
    func put(_ portion: Portion) {
        work(fromFirst: true) { $0.hasRoom }
        line.withLock { line in
            line.portions[line.passed[0] % line.portions.count] = portion
            line.passed[0] += 1
            wakeAll(&line)
        }
    }

    /// Ends the input, and works until the last batch has passed.
    func finish() {
        line.withLock {
            $0.hasEnded = true
            wakeAll(&$0)
        }
        work()
    }

    /// Works until the last batch has passed.
    func work() { work(fromFirst: false) { $0.isDone } }

    private func work(fromFirst: Bool, until isEnough: (Line) -> Bool) {
        while true {
            switch next(fromFirst, isEnough) {
            case .enough: return
            case .wait(let change): change.wait()
            case .task(let stage, var portion):
                stages[stage](&portion)
                hand(on: portion, from: stage)
            }
        }
    }

    private enum Next {
        case enough
        case wait(DispatchSemaphore)
        case task(Int, Portion)
    }

    /// Returns the next task of a thread.
    ///
    /// - Parameter fromFirst: Whether to prefer the earliest runnable stage. The producer does;
    ///   other threads prefer the latest, so that batches leave early and each thread reuses its
    ///   processor's caches.
    private func next(_ fromFirst: Bool, _ isEnough: (Line) -> Bool) -> Next {
        line.withLock { line in
            if isEnough(line) { return .enough }
            for index in stages.indices {
                let stage = fromFirst ? index : stages.count - 1 - index
                guard line.passed[stage] > line.passed[stage + 1] else { continue }
                let place = line.passed[stage + 1] % line.portions.count
                if let portion = line.portions[place].take() { return .task(stage, portion) }
            }
            let change = DispatchSemaphore(value: 0)
            line.waiting.append(change)
            return .wait(change)
        }
    }

    private func hand(on portion: consuming Portion, from stage: Int) {
        let isLast = stage == stages.count - 1
        let portion = isLast ? nil : portion
        line.withLock { line in
            if !isLast { line.portions[line.passed[stage + 1] % line.portions.count] = portion }
            line.passed[stage + 1] += 1
            wakeAll(&line)
        }
    }

    private func wakeAll(_ line: inout Line) {
        for change in line.waiting { change.signal() }
        line.waiting.removeAll(keepingCapacity: true)
    }
}

/// A sampled estimate of the numbers of messages and memberships that a replay will add.
///
/// Replay reserves capacity for them to avoid rehashing. The estimate affects only performance.
struct ReplayEstimate {
    /// The number of events read at each sampled place.
    private static let run = 16
    private static let places = 64
    /// The maximum estimate, which protects against a corrupt journal length.
    private static let most = 1 << 24

    private(set) var messages = 0
    private(set) var memberships = 0

    /// Samples events along the positions; logs shorter than 16 samples get no estimate.
    ///
    /// Read errors are ignored, because the replay will meet the same error.
    init(_ log: any CommitLog, _ positions: ClosedRange<Position>) {
        let count = Int(clamping: positions.upperBound - positions.lowerBound)
        guard count > 16 * Self.run * Self.places else { return }
        var kinds: [EventKind: Int] = [:]
        var sampled = 0
        for place in 0..<Self.places {
            let first = positions.lowerBound + Position(count / Self.places * place)
            do throws(JournalError) {
                try log.forEachRecord(in: first...first + Position(Self.run) - 1) { _, _, kept, _ in
                    guard let kind = (try? EventRow(kept: kept))?.kind else { return false }
                    kinds[kind, default: 0] += 1
                    sampled += 1
                    return true
                }
            } catch {
                continue
            }
        }
        guard sampled > 0 else { return }
        let estimate = { (kind: EventKind) in min(count / sampled * (kinds[kind] ?? 0), Self.most) }
        messages = estimate(.messagePosted)
        memberships = estimate(.threadJoined)
    }
}
