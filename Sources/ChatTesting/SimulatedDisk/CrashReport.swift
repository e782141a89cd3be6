/// The result of a ``CrashExplorer``.
public struct CrashReport: Hashable, Sendable, CustomStringConvertible {
    /// The number of crash points at which the workload was interrupted.
    public var crashPoints = 0
    /// The number of checked states, including interrupted recoveries.
    ///
    /// Different disks after the same crash are different states.
    public var states = 0
    /// The number of states in which a recovery was interrupted.
    public var statesInRecovery = 0
    /// The number of states that the sampling left out.
    package var skippedStates = 0
    /// The states in which a check failed.
    public var failures: [CrashFailure] = []
    /// Whether only the state of `CHATJOURNAL_CRASH` was tried, so that the counts have no meaning.
    public var isReplay = false

    /// Creates an empty report, to which others can be added.
    public init() {}

    init(isReplay: Bool) {
        self.isReplay = isReplay
    }

    /// Adds the results of another explorer.
    public static func += (report: inout CrashReport, other: CrashReport) {
        report.crashPoints += other.crashPoints
        report.states += other.states
        report.statesInRecovery += other.statesInRecovery
        report.skippedStates += other.skippedStates
        report.failures += other.failures
        report.isReplay = report.isReplay || other.isReplay
    }

    /// The counts on one line, then one line for each failure.
    public var description: String {
        ([
            "\(states) states of \(crashPoints) crashes, \(statesInRecovery) of them in recovery, \(failures.count) failures"
        ]
            + failures.map(\.description)).joined(separator: "\n")
    }
}

/// A crash state in which a check failed.
public struct CrashFailure: Hashable, Sendable, CustomStringConvertible {
    /// The path to the state.
    public var path: CrashPath
    /// The description of the thrown error.
    public var error: String

    /// The error, with the setting that replays it.
    public var description: String { "CHATJOURNAL_CRASH='\(path)': \(error)" }
}

/// The reason why a state cannot be replayed.
public enum CrashReplayError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The text is not a path.
    case notAPath(String)
    /// The workload or recovery has no such crash point, or the crash no such choices.
    ///
    /// The path was printed for a different workload.
    case noSuchState(CrashPath, step: Int)

    /// A sentence for people.
    public var description: String {
        switch self {
        case .notAPath(let text): "CHATJOURNAL_CRASH is not the path of a crash state: \(text)"
        case .noSuchState(let path, let step): "\(path): crash \(step + 1) does not exist in this workload"
        }
    }
}
