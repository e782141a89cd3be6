internal import Locking

/// Tries a power failure at every crash point of a workload, with many outcomes, and checks the
/// recovery.
///
/// The workload runs once, on a ``SimulatedDisk``, and records in its ``CrashRecorder`` what it has
/// started and what was acknowledged. A crash point lies before an operation, or after the last
/// one; points between which the disk does not change are merged. For each crash point and each
/// selected outcome (see ``outcomesPerCrash``), the explorer creates the disk after the crash and
/// runs `recovery` on it: recovery opens the data, compares it with the model, and continues to
/// work. Some recoveries are interrupted by a second power failure (see ``crashesInRecovery``),
/// after which recovery runs again. At each crash point the process can also be killed without a
/// power failure, before recovery is interrupted (see ``crashesAfterKill``).
///
/// If `recovery` throws, the state is a ``CrashFailure`` with a text that replays it. If
/// `CHATJOURNAL_CRASH` is set to that text, ``run()`` of the explorer with this name checks only
/// this state, and all other explorers do nothing.
///
/// ```swift
/// var explorer = CrashExplorer("posts", model: Posts()) { disk, recorder in
///     let store = try openStore(on: disk)
///     for _ in 1...3 { try post(to: store, recorder) }
/// } recovery: { disk, recorder in
///     let store = try openStore(on: disk)
///     let count = try store.reader(as: .host).timeline(sw1a).count
///     let expected = recorder.model.acknowledged...recorder.model.begun
///     guard expected.contains(count) else { throw WrongPosts(found: count, expected: expected) }
///     // A message that was shown survives later crashes.
///     recorder.update { $0 = Posts(begun: count, acknowledged: count) }
///     try post(to: store, recorder)
/// }
/// ```
///
/// <doc:TestingWithChatTesting> shows the types and functions of this example.
///
/// Both closures must be deterministic for a given disk: one thread, seeded entropy, no clock.
public struct CrashExplorer<Model: Sendable> {
    /// A workload or a recovery: uses a disk, updates the model, and throws if a check fails.
    public typealias Work = (SimulatedDisk, CrashRecorder<Model>) throws -> Void

    /// The name, unique among all explorers of the tests; part of the replay text.
    public let name: String
    /// The maximum number of outcomes of a crash that are all tried.
    ///
    /// A crash with more outcomes, or with more than twelve choices, is sampled; see
    /// ``outcomesPerCrash``.
    public var exhaustiveLimit = 4096
    /// The number of outcomes per crash, if not all are tried.
    ///
    /// "Nothing", "everything", "only this" and "all but this" are always included, even if they
    /// exceed the number; the others are random.
    public var outcomesPerCrash = 64
    /// The number of interrupted recoveries per state after a first crash.
    public var crashesInRecovery = 1
    /// The number of interrupted recoveries per crash point at which the process is killed; 0 for
    /// none.
    ///
    /// A kill is not a power failure: the page cache survives it. Recovery then reads all writes,
    /// but they are not more durable than before: data that recovery accepts without syncing it is
    /// lost with the next power failure. Recovery reads ``SimulatedDisk/processWasKilled`` to
    /// detect a kill.
    public var crashesAfterKill = 0
    /// The selection of states to try; nil for all states.
    package var sampling: CrashSampling?
    /// The seed of the selected outcomes, if not all are tried.
    public var seed: UInt64 = 1
    /// The content that the workload starts with: each run gets a new disk with it, all of it
    /// durable, without faults and locks.
    public var disk = SimulatedDisk()

    private let model: Model
    private let workload: Work
    private let recovery: Work

    /// Creates an explorer.
    public init(_ name: String, model: Model, workload: @escaping Work, recovery: @escaping Work) {
        self.name = name
        self.model = model
        self.workload = workload
        self.recovery = recovery
    }

    /// Tries the states, or only the state of `CHATJOURNAL_CRASH`; stops after ten failures.
    ///
    /// - Throws: The errors of the workload on a disk without faults; ``CrashReplayError`` if
    ///   `CHATJOURNAL_CRASH` is not a path, or its state does not exist in this workload.
    /// - Complexity: Time is proportional to the number of states. Memory holds, for each operation
    ///   of the workload, the size of the file that the operation changes.
    public func run() throws -> CrashReport {
        if let path = try CrashPath.requestedPath() {
            return path.name == name ? try replay(path) : CrashReport(isReplay: true)
        }
        var report = CrashReport()
        for crashPoint in try crashPoints(on: disk.crash(.everything), model, workload) {
            report.crashPoints += 1
            let outcomes = OutcomeSelection(
                crashPoint.image, exhaustive: exhaustiveLimit, limit: outcomesPerCrash,
                seed: seed ^ UInt64(crashPoint.operation) << 32)
            for picks in outcomes.picks {
                tryState(crashPoint, picks, &report)
                if report.failures.count >= 10 { return report }
            }
            if crashesAfterKill > 0 {
                tryState(crashPoint, nil, &report)
                if report.failures.count >= 10 { return report }
            }
        }
        return report
    }

    /// Tries only the state that a path names.
    ///
    /// - Throws: As ``run()``.
    public func replay(_ path: CrashPath) throws -> CrashReport {
        var report = CrashReport(isReplay: true)
        var disk = disk.crash(.everything)
        var model = model
        for (index, step) in path.steps.enumerated() {
            let crashPoints = try crashPoints(on: disk, model, index == 0 ? workload : recovery)
            guard let crashPoint = crashPoints.first(where: { $0.operation == step.operation }) else {
                throw CrashReplayError.noSuchState(path, step: index)
            }
            let alternativeCounts = crashPoint.image.alternativeCounts
            if let picks = step.picks,
                picks.count != alternativeCounts.count
                    || !zip(picks, alternativeCounts).allSatisfy({ $0 >= 0 && $0 < $1 })
            {
                throw CrashReplayError.noSuchState(path, step: index)
            }
            disk = self.disk(crashPoint, step.picks)
            model = crashPoint.model
        }
        report.states = 1
        do { try recovery(disk, CrashRecorder(model)) } catch {
            report.failures.append(CrashFailure(path: path, error: "\(error)"))
        }
        return report
    }

    /// Runs the work and returns the points at which the power can fail.
    private func crashPoints(on disk: SimulatedDisk, _ model: Model, _ work: Work) throws -> [CrashPoint<Model>] {
        let recorder = CrashRecorder(model)
        disk.watch { operation, image in recorder.recordCrashPoint(operation, image) }
        defer { disk.watch(nil) }
        try work(disk, recorder)
        disk.recordEnd(recorder)
        return recorder.crashPoints
    }

    /// Returns the disk after a crash with these picks, or after a kill of the process if nil.
    private func disk(_ crashPoint: CrashPoint<Model>, _ picks: [Int]?) -> SimulatedDisk {
        SimulatedDisk(
            picks.map(crashPoint.image.afterCrash) ?? crashPoint.image, seed: seed, processWasKilled: picks == nil)
    }

    private func tryState(_ crashPoint: CrashPoint<Model>, _ picks: [Int]?, _ report: inout CrashReport) {
        let crashes = picks == nil ? crashesAfterKill : crashesInRecovery
        if let sampling, !sampling.includes(report.states + report.skippedStates) {
            report.skippedStates += 1 + crashes
            return
        }
        report.states += 1
        let steps = [CrashPath.Step(operation: crashPoint.operation, picks: picks)]
        let disk = disk(crashPoint, picks)
        do {
            guard crashes > 0 else { return try recovery(disk, CrashRecorder(crashPoint.model)) }
            let inner = try crashPoints(on: disk, crashPoint.model, recovery)
            tryRecoveries(inner, crashes, after: steps, &report)
        } catch {
            report.failures.append(CrashFailure(path: CrashPath(name: name, steps: steps), error: "\(error)"))
        }
    }

    private func tryRecoveries(
        _ crashPoints: [CrashPoint<Model>], _ crashes: Int, after steps: [CrashPath.Step], _ report: inout CrashReport
    ) {
        var random = SeededRandom(seed: seed ^ UInt64(report.states))
        for _ in 0..<crashes {
            let crashPoint = crashPoints[Int.random(in: crashPoints.indices, using: &random)]
            let outcome: CrashOutcome =
                random.oneIn(8) ? .nothing : random.oneIn(8) ? .everything : .random(seed: random.next())
            let picks = crashPoint.image.canonicalPicks(outcome.picks(crashPoint.image.alternativeCounts))
            report.states += 1
            report.statesInRecovery += 1
            do {
                try recovery(
                    SimulatedDisk(crashPoint.image.afterCrash(picks), seed: seed), CrashRecorder(crashPoint.model))
            } catch {
                let path = CrashPath(
                    name: name, steps: steps + [CrashPath.Step(operation: crashPoint.operation, picks: picks)])
                report.failures.append(CrashFailure(path: path, error: "\(error)"))
            }
        }
    }
}

/// A random sample of the states of a ``CrashExplorer``, for tests with little time.
package struct CrashSampling: Sendable {
    private let share: UInt64
    private let seed: UInt64

    /// Selects about one state in `share`, by the seed.
    ///
    /// The interrupted recoveries of a state are selected with it.
    package init(oneIn share: Int, seed: UInt64) {
        self.share = UInt64(share)
        self.seed = seed
    }

    fileprivate func includes(_ number: Int) -> Bool {
        var random = SeededRandom(seed: seed &+ UInt64(number))
        return random.next() % share == 0
    }
}

extension SimulatedDisk {
    /// Records the crash point after the last operation.
    fileprivate func recordEnd<Model>(_ recorder: CrashRecorder<Model>) {
        let (operations, image) = state.withLock { ($0.operations, $0.image) }
        recorder.recordCrashPoint(operations + 1, image)
    }
}
