import ChatDomain

/// A buffered writer to a descriptor, as a rule standard output.
///
/// Nothing is certain to have left before `flush`: whoever answers a waiting client flushes after each answer, and the tool flushes
/// once more before it ends. `SIGPIPE` is ignored when the tool starts (`SystemIO.ignoreBrokenPipes`), so a reader that has gone away
/// is an error with the code `outputClosed`, which ends the tool quietly with status 1. A full disk is an error like any other.
struct StandardOutput: ~Copyable {
    /// The bytes collected before they are written without being asked: a pipe's usual capacity.
    private static let capacity = 64 << 10

    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []
    private let encoder = JSONLineEncoder()

    /// A writer to standard output, or to another open descriptor, which stays open.
    init(descriptor: Int32 = SystemIO.standardOutput, name: String = "standard output") {
        self.descriptor = descriptor
        self.name = name
        buffer.reserveCapacity(Self.capacity)
    }

    /// Whether the output is a terminal.
    var isTerminal: Bool { SystemIO.isTerminal(descriptor) }

    /// Writes text as it is; text from users goes through `visible` first.
    mutating func write(_ text: String) throws(ToolError) {
        buffer.append(contentsOf: text.utf8)
        try flushIfFull()
    }

    /// Writes text as it is, and a line feed.
    mutating func writeLine(_ text: String) throws(ToolError) {
        buffer.append(contentsOf: text.utf8)
        buffer.append(UInt8(ascii: "\n"))
        try flushIfFull()
    }

    /// Writes a value as one line of JSON.
    ///
    /// - Throws: `ToolError` if the output fails, or what `JSONLineEncoder` throws, in which case nothing of the line is written.
    mutating func writeLine(json value: some Encodable) throws {
        try encoder.encode(value, into: &buffer)
        buffer.append(UInt8(ascii: "\n"))
        try flushIfFull()
    }

    /// Writes an event as one line of JSON.
    mutating func writeLine(json event: RecordedEvent) throws {
        try JSONLineMembers.appendObject(to: &buffer) { members in try event.encode(to: &members) }
        buffer.append(UInt8(ascii: "\n"))
        try flushIfFull()
    }

    /// Writes an event of an export as one line of JSON.
    mutating func writeLine(json event: ExportedEvent) throws {
        try JSONLineMembers.appendObject(to: &buffer) { members in try event.encode(to: &members) }
        buffer.append(UInt8(ascii: "\n"))
        try flushIfFull()
    }

    /// Writes everything that was collected to the descriptor.
    ///
    /// After an error what was collected is dropped: how much of it has left is not known, and to write it again would repeat bytes.
    mutating func flush() throws(ToolError) {
        guard !buffer.isEmpty else { return }
        defer { buffer.removeAll(keepingCapacity: buffer.capacity <= 4 * Self.capacity) }
        try SystemIO.write(buffer, to: descriptor, name: name)
    }

    private mutating func flushIfFull() throws(ToolError) {
        if buffer.count >= Self.capacity { try flush() }
    }
}

/// The tool's messages and its progress: written at once, never buffered.
enum StandardError {
    /// Whether standard error is a terminal.
    static var isTerminal: Bool { SystemIO.isTerminal(SystemIO.standardError) }

    /// Writes text as it is.
    ///
    /// - Returns: whether it was written. There is nowhere left to report a failure to, and the exit status still tells; most callers
    ///   have no use for the answer.
    @discardableResult
    static func write(_ text: String) -> Bool {
        do {
            try SystemIO.write(Array(text.utf8), to: SystemIO.standardError, name: "standard error")
            return true
        } catch {
            return false
        }
    }

    /// Writes text as it is, and a line feed.
    @discardableResult
    static func writeLine(_ text: String) -> Bool {
        write(text + "\n")
    }
}
