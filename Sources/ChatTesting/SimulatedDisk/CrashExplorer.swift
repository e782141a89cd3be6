internal import Locking

/// Cuts the power at every moment of a workload, in many ways, and checks what is found afterwards.
///
/// The workload runs once, on a ``SimulatedDisk``, and tells its ``CrashWitness`` what it has begun and what it was promised. For each of
/// the moments between two operations at which the disk differs, and for each of the outcomes tried (see ``outcomesPerCrash``), a disk is
/// made as the crash leaves it, and `recovery` runs on it: it opens what is there, checks it against the model, and goes on working.
/// Some of the recoveries are cut off in the same manner (see ``crashesInRecovery``), and recovery runs again on what they leave. At each
/// moment the process may also be killed under a disk that keeps its power (see ``crashesAfterKill``), before recovery is cut off.
///
/// A state for which `recovery` throws is a ``CrashFailure`` with the text that replays it. `CHATJOURNAL_CRASH` set to that text makes
/// ``run()`` of the explorer with this name try this one state, and of all others nothing.
///
/// ```swift
/// let explorer = CrashExplorer("append", model: Model()) { disk, witness in
///     // open, append; witness.update { $0.acknowledged = ... }
/// } recovery: { disk, witness in
///     // open, compare with witness.model, throw what is wrong; append again
/// }
/// let report = try explorer.run()
/// #expect(report.failures.isEmpty, "\(report)")
/// ```
///
/// Both closures must do the same whenever they run on the same disk: one thread, seeded entropy, no clock.
public struct CrashExplorer<Model: Sendable> {
    /// A workload or a recovery: works on a disk, keeps the model in step, and throws what is wrong.
    public typealias Work = (SimulatedDisk, CrashWitness<Model>) throws -> Void

    /// The name, for replaying; no other explorer of the tests has it.
    public let name: String
    /// Up to how many outcomes of a crash all are tried, where there are at most twelve choices.
    public var exhaustiveOutcomes = 4096
    /// The number of outcomes tried for a crash where not all are.
    ///
    /// "Nothing", "everything", "only this" and "all but this" are always among them, even if they are more; the others are random.
    public var outcomesPerCrash = 64
    /// The number of states tried in which a recovery was cut off, for each state of a first crash.
    public var crashesInRecovery = 1
    /// The number of states tried in which a recovery was cut off, for each moment at which the process was killed while the disk kept its
    /// power; 0 for no such moments.
    ///
    /// Recovery finds all that was written, and none of it any more durable than it was: what it takes over without making it durable is
    /// lost with the power. ``SimulatedDisk/processWasKilled`` tells it of such a moment.
    public var crashesAfterKill = 0
    /// Which of the states are tried; nil for all of them.
    package var sampling: CrashSampling?
    /// What the choice of outcomes follows from, where not all are tried.
    public var seed: UInt64 = 1
    /// The disk that the workload begins with; a copy of it is used.
    public var disk = SimulatedDisk()

    private let model: Model
    private let workload: Work
    private let recovery: Work

    /// Makes an explorer.
    public init(_ name: String, model: Model, workload: @escaping Work, recovery: @escaping Work) {
        self.name = name
        self.model = model
        self.workload = workload
        self.recovery = recovery
    }

    /// Tries the states, or only that of `CHATJOURNAL_CRASH`, until there are ten failures.
    ///
    /// - Throws: What the workload throws on a disk without faults; ``CrashReplayError`` when `CHATJOURNAL_CRASH` is no path, or one that
    ///   does not exist in this workload.
    /// - Complexity: Time in proportion to the number of states. Memory: for each operation of the workload, the size of the file it changes.
    public func run() throws -> CrashReport {
        if let path = try CrashPath.requested() { return path.name == name ? try replay(path) : CrashReport(isReplay: true) }
        var report = CrashReport()
        for moment in try moments(on: disk.crash(.everything), model, workload) {
            report.crashes += 1
            let outcomes = CrashOutcomes(
                moment.image, exhaustive: exhaustiveOutcomes, limit: outcomesPerCrash, seed: seed ^ UInt64(moment.operation) << 32)
            for picks in outcomes.picks {
                tryState(moment, picks, &report)
                if report.failures.count >= 10 { return report }
            }
            if crashesAfterKill > 0 {
                tryState(moment, nil, &report)
                if report.failures.count >= 10 { return report }
            }
        }
        return report
    }

    /// Tries the one state that a path leads to.
    ///
    /// - Throws: As ``run()``.
    public func replay(_ path: CrashPath) throws -> CrashReport {
        var report = CrashReport(isReplay: true)
        var disk = disk.crash(.everything)
        var model = model
        for (index, step) in path.steps.enumerated() {
            let moments = try moments(on: disk, model, index == 0 ? workload : recovery)
            guard let moment = moments.first(where: { $0.operation == step.operation }) else {
                throw CrashReplayError.noSuchState(path, step: index)
            }
            let radices = moment.image.radices
            if let picks = step.picks, picks.count != radices.count || !zip(picks, radices).allSatisfy({ $0 >= 0 && $0 < $1 }) {
                throw CrashReplayError.noSuchState(path, step: index)
            }
            disk = self.disk(moment, step.picks)
            model = moment.model
        }
        report.states = 1
        do { try recovery(disk, CrashWitness(model)) } catch { report.failures.append(CrashFailure(path: path, error: "\(error)")) }
        return report
    }

    /// Runs work and returns the moments at which the power may be cut.
    private func moments(on disk: SimulatedDisk, _ model: Model, _ work: Work) throws -> [CrashMoment<Model>] {
        let witness = CrashWitness(model)
        disk.watch { operation, image in witness.note(operation, image) }
        defer { disk.watch(nil) }
        try work(disk, witness)
        disk.noteEnd(witness)
        return witness.moments
    }

    /// The disk as a crash leaves it that picked these values; nil for a process that was killed, of which nothing is left but what it did.
    private func disk(_ moment: CrashMoment<Model>, _ picks: [Int]?) -> SimulatedDisk {
        SimulatedDisk(picks.map(moment.image.crashed) ?? moment.image, seed: seed, processWasKilled: picks == nil)
    }

    private func tryState(_ moment: CrashMoment<Model>, _ picks: [Int]?, _ report: inout CrashReport) {
        let crashes = picks == nil ? crashesAfterKill : crashesInRecovery
        if let sampling, !sampling.takes(report.states + report.statesLeftOut) {
            report.statesLeftOut += 1 + crashes
            return
        }
        report.states += 1
        let steps = [CrashPath.Step(operation: moment.operation, picks: picks)]
        let disk = disk(moment, picks)
        do {
            guard crashes > 0 else { return try recovery(disk, CrashWitness(moment.model)) }
            let inner = try moments(on: disk, moment.model, recovery)
            tryRecoveries(inner, crashes, after: steps, &report)
        } catch {
            report.failures.append(CrashFailure(path: CrashPath(name: name, steps: steps), error: "\(error)"))
        }
    }

    private func tryRecoveries(
        _ moments: [CrashMoment<Model>], _ crashes: Int, after steps: [CrashPath.Step], _ report: inout CrashReport
    ) {
        var random = SeededRandom(seed: seed ^ UInt64(report.states))
        for _ in 0..<crashes {
            let moment = moments[Int.random(in: moments.indices, using: &random)]
            let outcome: CrashOutcome = random.oneIn(8) ? .nothing : random.oneIn(8) ? .everything : .random(seed: random.next())
            let picks = moment.image.canonical(outcome.picks(moment.image.radices))
            report.states += 1
            report.statesInRecovery += 1
            do {
                try recovery(SimulatedDisk(moment.image.crashed(picks), seed: seed), CrashWitness(moment.model))
            } catch {
                let path = CrashPath(name: name, steps: steps + [CrashPath.Step(operation: moment.operation, picks: picks)])
                report.failures.append(CrashFailure(path: path, error: "\(error)"))
            }
        }
    }
}

/// A random share of the states of a ``CrashExplorer``, for tests that have little time.
package struct CrashSampling: Sendable {
    private let share: UInt64
    private let seed: UInt64

    /// Takes about one state of every `share`, chosen by the seed.
    ///
    /// With a state go those in which its recovery is cut off.
    package init(oneIn share: Int, seed: UInt64) {
        self.share = UInt64(share)
        self.seed = seed
    }

    fileprivate func takes(_ number: Int) -> Bool {
        var random = SeededRandom(seed: seed &+ UInt64(number))
        return random.next() % share == 0
    }
}

extension SimulatedDisk {
    /// Notes the moment after the last operation.
    fileprivate func noteEnd<Model>(_ witness: CrashWitness<Model>) {
        let (operations, image) = state.withLock { ($0.operations, $0.image) }
        witness.note(operations + 1, image)
    }
}
