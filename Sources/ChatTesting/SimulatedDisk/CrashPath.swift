#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The path to one crash state: the explorer's name, then each crash with its operation and picks.
///
/// As text, `append/41:0.1.1>7:1.0` is the workload "append" interrupted before its operation 41,
/// followed by a recovery interrupted before its operation 7. In `append/41:kill>7:1.0` the first
/// crash is a kill of the process without a power failure.
public struct CrashPath: Hashable, Sendable, LosslessStringConvertible {
    /// One power failure, or one kill of the process.
    public struct Step: Hashable, Sendable {
        /// The number of the first operation that did not happen.
        public var operation: Int
        /// The picks, one for each choice; see ``CrashOutcome/picks(_:)``.
        ///
        /// Nil if the process was killed without a power failure: all writes are readable, but not
        /// more durable than before.
        public var picks: [Int]?
    }

    /// The name of the explorer.
    public var name: String
    /// The crashes, in order; at least one.
    public var steps: [Step]

    init(name: String, steps: [Step]) {
        self.name = name
        self.steps = steps
    }

    /// Parses the text form; nil if it is malformed.
    public init?(_ description: String) {
        guard let slash = description.lastIndex(of: "/") else { return nil }
        name = String(description[..<slash])
        steps = []
        for part in description[description.index(after: slash)...].split(
            separator: ">", omittingEmptySubsequences: false)
        {
            let fields = part.split(separator: ":", omittingEmptySubsequences: false)
            guard fields.count == 2, let operation = Int(fields[0]) else { return nil }
            guard fields[1] != Self.kill else {
                steps.append(Step(operation: operation, picks: nil))
                continue
            }
            let texts = fields[1].split(separator: ".", omittingEmptySubsequences: false)
            let picks = texts.compactMap { Int($0) }
            guard fields[1].isEmpty || picks.count == texts.count else { return nil }
            steps.append(Step(operation: operation, picks: picks))
        }
    }

    /// The text form.
    public var description: String {
        let crashes = steps.map { step in
            "\(step.operation):" + (step.picks?.map(String.init).joined(separator: ".") ?? Self.kill)
        }
        return name + "/" + crashes.joined(separator: ">")
    }

    private static let kill = "kill"
}

extension CrashPath {
    /// Whether `CHATJOURNAL_CRASH` requests a single state.
    public static var isRequested: Bool { requestedText != nil }

    /// Returns the state that `CHATJOURNAL_CRASH` requests; nil if it is not set.
    static func requestedPath() throws -> CrashPath? {
        guard let text = requestedText else { return nil }
        guard let path = CrashPath(text) else { throw CrashReplayError.notAPath(text) }
        return path
    }

    private static var requestedText: String? {
        ProcessInfo.processInfo.environment["CHATJOURNAL_CRASH"].flatMap { $0.isEmpty ? nil : $0 }
    }
}
