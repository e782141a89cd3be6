#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import Testing

@testable import chat_journal

/// The two ends of a pipe of the operating system.
final class Pipe {
    let readEnd: Int32
    private(set) var writeEnd: Int32?

    init() throws {
        var ends: [Int32] = [-1, -1]
        // A system call that fills two integers.
        let status = unsafe pipe(&ends)
        try #require(status == 0)
        readEnd = ends[0]
        writeEnd = ends[1]
    }

    deinit {
        closeWriteEnd()
        SystemIO.closeAfterReading(readEnd)
    }

    func write(_ text: String) throws {
        try SystemIO.write(Array(text.utf8), to: try #require(writeEnd), name: "pipe")
    }

    /// Hands the write end over to the caller, who closes it.
    func keepWriteEnd() throws -> Int32 {
        defer { writeEnd = nil }
        return try #require(writeEnd)
    }

    func closeWriteEnd() {
        if let end = writeEnd { SystemIO.closeAfterReading(end) }
        writeEnd = nil
    }
}

/// Opens a file for writing, which need not be a regular one.
func openForWriting(_ path: String) throws -> Int32 {
    // A system call that reads a C string which outlives it.
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    return descriptor
}
