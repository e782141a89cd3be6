/// What a ``CrashExplorer`` has found.
public struct CrashReport: Hashable, Sendable, CustomStringConvertible {
    /// The number of moments at which the workload was cut off.
    public var crashes = 0
    /// The number of states that were checked: of different disks for one crash, those in which recovery was cut off included.
    public var states = 0
    /// The number of them in which a recovery was cut off.
    public var statesInRecovery = 0
    /// The number of states that were left out of a sample.
    package var statesLeftOut = 0
    /// The states in which something was wrong.
    public var failures: [CrashFailure] = []
    /// Whether this was one state by `CHATJOURNAL_CRASH`, so that the numbers say nothing.
    public var isReplay = false

    /// Makes a report of nothing yet, to add others to.
    public init() {}

    init(isReplay: Bool) {
        self.isReplay = isReplay
    }

    /// Adds the findings of another explorer.
    public static func += (report: inout CrashReport, other: CrashReport) {
        report.crashes += other.crashes
        report.states += other.states
        report.statesInRecovery += other.statesInRecovery
        report.statesLeftOut += other.statesLeftOut
        report.failures += other.failures
        report.isReplay = report.isReplay || other.isReplay
    }

    /// The numbers on one line, then one for each failure.
    public var description: String {
        (["\(states) states of \(crashes) crashes, \(statesInRecovery) of them in recovery, \(failures.count) failures"]
            + failures.map(\.description)).joined(separator: "\n")
    }
}

/// A crash state in which something was wrong.
public struct CrashFailure: Hashable, Sendable, CustomStringConvertible {
    /// The way to the state.
    public var path: CrashPath
    /// What was thrown.
    public var error: String

    /// What was thrown, and how to see it again.
    public var description: String { "CHATJOURNAL_CRASH='\(path)': \(error)" }
}

/// Why a state cannot be replayed.
public enum CrashReplayError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is no path.
    case notAPath(String)
    /// The workload or recovery has no such moment, or its crash no such choices: it is not the one that the path was printed for.
    case noSuchState(CrashPath, step: Int)

    /// A sentence.
    public var description: String {
        switch self {
        case .notAPath(let text): "CHATJOURNAL_CRASH is no way to a crash state: \(text)"
        case .noSuchState(let path, let step): "\(path): the crash number \(step + 1) does not exist in this workload"
        }
    }
}
