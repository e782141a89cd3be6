/// A message for the log of the host program.
///
/// Messages report what no call returns or throws: what opening found, and failures of background
/// work. ``JournalOptions/log`` receives them.
public struct LogMessage: Hashable, Sendable {
    /// The importance of a message, as in swift-log.
    public enum Level: String, Hashable, Sendable, CaseIterable {
        /// An expected event.
        case info
        /// A condition that was handled, and that the host should know.
        case warning
        /// A failure after which calls throw.
        case error
    }

    /// The importance.
    public var level: Level
    /// A sentence for people; it may change between versions.
    public var text: String
    /// Values by stable names, for programs.
    public var metadata: [String: String]

    /// Creates a message.
    public init(_ level: Level, _ text: String, metadata: [String: String] = [:]) {
        self.level = level
        self.text = text
        self.metadata = metadata
    }
}

/// Receives the messages of a journal and of the store above it.
///
/// Called on any thread, never under a lock, by one or more threads at a time. It should return
/// quickly: the thread that calls it may be one that syncs.
public typealias LogHandler = @Sendable (LogMessage) -> Void

extension LogMessage {
    /// The message about an opening.
    init(opened path: String, _ report: RecoveryReport) {
        var metadata = ["path": path, "position": "\(report.lastPosition)"]
        var found: [String] = []
        if !report.wasClean { found.append("The last writer did not close the journal.") }
        if let cut = report.cutBytes {
            found.append("\(cut.count) bytes of an incomplete commit were removed.")
            metadata["cutBytes"] = "\(cut.count)"
            metadata["cutFile"] = report.cutFile
        }
        if !report.damagedSlots.isEmpty { found.append("A slot of the durable file was unreadable.") }
        if !report.damagedFooters.isEmpty {
            found.append("The footers of some segments were unreadable.")
            metadata["damagedFooters"] = report.damagedFooters.joined(separator: " ")
        }
        if found.isEmpty {
            self.init(.info, "Opened the journal.", metadata: metadata)
        } else {
            self.init(.warning, found.joined(separator: " "), metadata: metadata)
        }
    }
}
