import ChatDomain
import Dispatch
import EventJournal
import Locking

/// A line of portions that all go through the same stages: each portion through one after the other, each stage in the order of the portions, by whichever thread is free.
///
/// No thread has a stage of its own, so none waits while there is anything to do, whichever stage a portion takes longest in.
final class Pipeline<Portion: Sendable>: Sendable {
    typealias Stage = @Sendable (inout Portion) -> Void

    private let stages: [Stage]
    private let line: Lock<Line>

    /// The portions that are under way.
    private struct Line {
        /// By the place of a portion, which is free again once it has passed all stages; nil while a thread has it, so that no other is at the same stage.
        var portions: [Portion?]
        /// How many portions there have been, and then how many have passed each stage.
        var passed: [Int]
        var hasEnded = false
        /// Signalled when there may be something to do for the threads that wait: one for each, because they wait for different things.
        var waiting: [DispatchSemaphore] = []

        var hasRoom: Bool { passed[0] - passed[passed.count - 1] < portions.count }
        var isDone: Bool { hasEnded && passed[0] == passed[passed.count - 1] }
    }

    /// Makes a line without portions.
    ///
    /// - Parameter room: How many portions may be under way, which bounds the memory that they take.
    init(_ stages: [Stage], room: Int) {
        self.stages = stages
        line = Lock(Line(portions: [Portion?](repeating: nil, count: room), passed: [Int](repeating: 0, count: stages.count + 1)))
    }

    /// Puts the next portion in, which one thread alone does; while there is no room for it, that thread works.
    func put(_ portion: Portion) {
        work(fromFirst: true) { $0.hasRoom }
        line.withLock { line in
            line.portions[line.passed[0] % line.portions.count] = portion
            line.passed[0] += 1
            wakeAll(&line)
        }
    }

    /// Says that no further portion comes, and works until the last one is through.
    func finish() {
        line.withLock {
            $0.hasEnded = true
            wakeAll(&$0)
        }
        work()
    }

    /// Works until the last portion is through.
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

    /// What a thread is to do next.
    ///
    /// - Parameter fromFirst: Whether of the stages that can be done it takes the first: who puts portions in does, and others the last, so that each stays with what
    ///   its processor has in its caches, and portions leave as soon as they can.
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

/// The counts of keys that the events of a log are going to make, estimated by a sample: a replay makes room for them at once, which spares growing.
///
/// Nothing follows from it but how often a table grows.
struct ReplayEstimate {
    /// How many events are read at each place.
    private static let run = 16
    private static let places = 64
    /// Room is made for no more, whatever a journal says of its length.
    private static let most = 1 << 24

    private(set) var messages = 0
    private(set) var memberships = 0

    /// Reads some events at places all along the positions; a log that is not much longer than the sample is not worth one.
    ///
    /// Nothing is reported where it cannot be read: the replay is going to come to the same place.
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
