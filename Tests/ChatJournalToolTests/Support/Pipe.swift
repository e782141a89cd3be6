#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif
import Testing

@testable import chat_journal

/// Both ends of a pipe.
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

    /// Returns the write end, which the caller closes.
    func keepWriteEnd() throws -> Int32 {
        defer { writeEnd = nil }
        return try #require(writeEnd)
    }

    func closeWriteEnd() {
        if let end = writeEnd { SystemIO.closeAfterReading(end) }
        writeEnd = nil
    }
}

/// Opens a file for writing; it may be a device.
func openForWriting(_ path: String) throws -> Int32 {
    // A system call that reads a C string which outlives it.
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC)
    try #require(descriptor >= 0)
    return descriptor
}
