import ChatDomain
import ChatWire

/// A buffered writer to a descriptor, by default standard output.
///
/// Bytes leave the process at `flush`, or earlier when the buffer is full: a command that answers a
/// waiting client flushes after each answer, and the tool flushes before it ends. `SIGPIPE` is
/// ignored (`SystemIO.ignoreWriteSignals`), so a closed reader is an error with the code
/// `outputClosed`, which ends the tool silently with status 1. A full disk is an error like any
/// other.
struct BufferedOutput: ~Copyable {
    /// The bytes that are collected before a write: the usual capacity of a pipe.
    private static let capacity = 64 << 10

    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []

    /// A writer to standard output, or to another open descriptor, which stays open.
    init(descriptor: Int32 = SystemIO.standardOutput, name: String = "standard output") {
        self.descriptor = descriptor
        self.name = name
        buffer.reserveCapacity(Self.capacity)
    }

    /// Writes text unchanged; text from users goes through `escapedForTerminal` first.
    mutating func write(_ text: String) throws(ToolError) {
        buffer.append(contentsOf: text.utf8)
        try flushIfFull()
    }

    /// Writes text unchanged, and a line feed.
    mutating func writeLine(_ text: String = "") throws(ToolError) {
        buffer.append(contentsOf: text.utf8)
        try endLine()
    }

    /// Writes a value as one line of JSON.
    ///
    /// - Throws: `ToolError` if the output fails, or what `JSONLineEncoder` throws; then nothing of
    ///   the line is written.
    mutating func writeLine(json value: some Encodable) throws {
        try JSONLineEncoder().encode(value, into: &buffer)
        try endLine()
    }

    /// Writes an event as one line of JSON.
    mutating func writeLine(json event: RecordedEvent) throws {
        try JSONLineMembers.appendObject(to: &buffer) { members in try event.encode(to: &members) }
        try endLine()
    }

    /// Writes an event of an export as one line of JSON.
    mutating func writeLine(json event: ExportedEvent) throws {
        try JSONLineMembers.appendObject(to: &buffer) { members in try event.encode(to: &members) }
        try endLine()
    }

    /// Writes the buffer to the descriptor.
    ///
    /// After an error the buffer is dropped: part of it may have been written, and a second write
    /// would repeat bytes.
    mutating func flush() throws(ToolError) {
        guard !buffer.isEmpty else { return }
        defer { buffer.removeAll(keepingCapacity: buffer.capacity <= 4 * Self.capacity) }
        try SystemIO.write(buffer, to: descriptor, name: name)
    }

    private mutating func endLine() throws(ToolError) {
        buffer.append(UInt8(ascii: "\n"))
        try flushIfFull()
    }

    private mutating func flushIfFull() throws(ToolError) {
        if buffer.count >= Self.capacity { try flush() }
    }
}

/// Messages and progress: written at once, never buffered.
enum StandardError {
    /// Whether standard error is a terminal.
    static var isTerminal: Bool { SystemIO.isTerminal(SystemIO.standardError) }

    /// Writes text unchanged.
    ///
    /// - Returns: Whether it was written. A failure cannot be reported elsewhere; the exit status
    ///   remains.
    @discardableResult
    static func write(_ text: String) -> Bool {
        do {
            try SystemIO.write(Array(text.utf8), to: SystemIO.standardError, name: "standard error")
            return true
        } catch {
            return false
        }
    }

    /// Writes text unchanged, and a line feed.
    @discardableResult
    static func writeLine(_ text: String) -> Bool { write(text + "\n") }
}

extension StandardError {
    /// Writes a line of a log, or drops it if the reader does not read: a server must not wait for
    /// it.
    static func writeLineIfReady(_ text: String) {
        if SystemIO.isWritable(SystemIO.standardError) { writeLine(text) }
    }
}

/// The progress of a long task, on one line of standard error that is overwritten.
///
/// Only when standard error is a terminal, only after a second, and at most ten times a second.
struct Progress {
    private var pace = ProgressThrottle()
    private let label: String
    private let start = ContinuousClock.now
    private let isShown: Bool

    /// The progress of a task that counts items.
    init(_ label: String) {
        self.label = label
        self.isShown = StandardError.isTerminal
    }

    /// Shows the count of items done and, if it is known, the total.
    mutating func update(_ done: Int, of total: Int? = nil) {
        guard isShown, pace.isDue(at: ContinuousClock.now - start) else { return }
        StandardError.write(ProgressThrottle.clearLine + ProgressThrottle.text(label: label, done: done, total: total))
    }

    /// Clears the line, before other messages and at the end, also by an error; the next update
    /// shows it again.
    mutating func clear() {
        guard isShown, pace.hasShown else { return }
        StandardError.write(ProgressThrottle.clearLine)
    }
}

/// When progress is shown, and its text: the part that needs neither a clock nor a terminal.
struct ProgressThrottle {
    /// A task that ends within this time shows no progress.
    static let initialDelay = Duration.seconds(1)
    /// The least time between two updates.
    static let interval = Duration.milliseconds(100)
    /// Moves to the start of the line and clears it (ECMA-48 EL).
    static let clearLine = "\r\u{1b}[K"

    /// Whether any update has been due.
    private(set) var hasShown = false
    private var next = initialDelay

    /// Whether an update is due at this time since the start; if so, the next one is due an
    /// interval later.
    mutating func isDue(at elapsed: Duration) -> Bool {
        guard elapsed >= next else { return false }
        next = elapsed + Self.interval
        hasShown = true
        return true
    }

    /// The text of an update: `import: 120000 of 238041 (50 %)`, without a total `import: 120000`.
    static func text(label: String, done: Int, total: Int?) -> String {
        guard let total, total > 0 else { return "\(escapedForTerminal(label)): \(done)" }
        return "\(escapedForTerminal(label)): \(done) of \(total) (\(Int(100 * Double(done) / Double(total))) %)"
    }
}
