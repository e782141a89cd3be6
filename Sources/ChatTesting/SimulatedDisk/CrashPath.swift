#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The way to one crash state: a name, then for every crash the operation before which it came and the values that were picked.
///
/// As text, `append/41:0.1.1>7:1.0` is the workload "append" cut before its 41st operation, then the recovery cut before its 7th, and
/// `append/41:kill>7:1.0` the same but for the first crash, which was not one of the disk.
public struct CrashPath: Hashable, Sendable, LosslessStringConvertible {
    /// One power cut, or the end of a process.
    public struct Step: Hashable, Sendable {
        /// The number of the operation that did not happen any more.
        public var operation: Int
        /// The values picked; see ``CrashOutcome/picks(_:)``.
        ///
        /// Nil when the process was killed and the disk kept its power: all that was done can be read, and is no more durable than it was.
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

    /// Reads the text form; nil when it is none.
    public init?(_ description: String) {
        guard let slash = description.lastIndex(of: "/") else { return nil }
        name = String(description[..<slash])
        steps = []
        for part in description[description.index(after: slash)...].split(separator: ">", omittingEmptySubsequences: false) {
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
        let crashes = steps.map { step in "\(step.operation):" + (step.picks?.map(String.init).joined(separator: ".") ?? Self.kill) }
        return name + "/" + crashes.joined(separator: ">")
    }

    private static let kill = "kill"
}

extension CrashPath {
    /// Whether `CHATJOURNAL_CRASH` asks for one state alone.
    public static var isRequested: Bool { requestedText != nil }

    /// The state that `CHATJOURNAL_CRASH` asks for; nil when it is not set.
    static func requested() throws -> CrashPath? {
        guard let text = requestedText else { return nil }
        guard let path = CrashPath(text) else { throw CrashReplayError.notAPath(text) }
        return path
    }

    private static var requestedText: String? {
        ProcessInfo.processInfo.environment["CHATJOURNAL_CRASH"].flatMap { $0.isEmpty ? nil : $0 }
    }
}
