#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The system calls of the tool: every `unsafe` of the target stands in this file.
///
/// Each call retries `EINTR`, waits where an inherited descriptor is non-blocking, and reports everything else as a `ToolError`.
enum SystemIO {
    /// The descriptor of standard input.
    static let standardInput: Int32 = 0
    /// The descriptor of standard output.
    static let standardOutput: Int32 = 1
    /// The descriptor of standard error.
    static let standardError: Int32 = 2

    /// Opens a file for reading; the descriptor is closed on `exec`.
    ///
    /// A directory can be opened too but never read, so it is refused here, where the error still names what was asked for.
    static func openForReading(_ path: String) throws(ToolError) -> Int32 {
        var descriptor: Int32
        // A system call that reads a C string which outlives it.
        repeat { descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC) } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else { throw ToolError(errorNumber: errno, action: "open", name: path) }
        var status = stat()
        // A system call that fills a structure on this frame.
        guard unsafe fstat(descriptor, &status) == 0 else {
            let number = errno
            close(descriptor)
            throw ToolError(errorNumber: number, action: "open", name: path)
        }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            close(descriptor)
            throw ToolError(errorNumber: EISDIR, action: "read", name: path)
        }
        return descriptor
    }

    /// Finds out whether somebody may read standard output, without a write: there may never be another.
    ///
    /// - Throws: an error with the code `outputClosed` once nobody reads any more.
    static func requireReader() throws(ToolError) {
        // No event is asked for; that the other end has gone is told in any case.
        let events = wait(for: 0, on: standardOutput, timeout: 0)
        guard events != 0 else { return }
        throw ToolError(errorNumber: events & Int16(POLLNVAL) != 0 ? EBADF : EPIPE, action: "write to", name: "standard output")
    }

    /// Closes a descriptor that was only read: there is nothing that a failure could lose.
    static func closeAfterReading(_ descriptor: Int32) {
        close(descriptor)
    }

    /// Reads what there is, at most the buffer's size, and waits only while there is nothing at all.
    ///
    /// - Returns: the number of bytes now at the start of the buffer; 0 at the end of the input.
    static func read(_ descriptor: Int32, into buffer: inout [UInt8], name: String) throws(ToolError) -> Int {
        while true {
            // A system call that writes into the array's own storage, never beyond its count.
            let count = unsafe buffer.withUnsafeMutableBytes { bytes in
                #if canImport(Glibc)
                    unsafe Glibc.read(descriptor, bytes.baseAddress, bytes.count)
                #elseif canImport(Musl)
                    unsafe Musl.read(descriptor, bytes.baseAddress, bytes.count)
                #else
                    unsafe Darwin.read(descriptor, bytes.baseAddress, bytes.count)
                #endif
            }
            if count >= 0 { return count }
            let number = errno
            if number == EAGAIN || number == EWOULDBLOCK {
                _ = wait(for: Int16(POLLIN), on: descriptor, timeout: -1)
            } else if number != EINTR {
                throw ToolError(errorNumber: number, action: "read", name: name)
            }
        }
    }

    /// Writes all the bytes, in as many calls as the system needs.
    static func write(_ buffer: [UInt8], to descriptor: Int32, name: String) throws(ToolError) {
        var written = 0
        while written < buffer.count {
            // A system call that reads the array's own storage from `written` to its end.
            let count = unsafe buffer.withUnsafeBytes { bytes in
                let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[written...])
                #if canImport(Glibc)
                    return unsafe Glibc.write(descriptor, rest.baseAddress, rest.count)
                #elseif canImport(Musl)
                    return unsafe Musl.write(descriptor, rest.baseAddress, rest.count)
                #else
                    return unsafe Darwin.write(descriptor, rest.baseAddress, rest.count)
                #endif
            }
            if count >= 0 {
                written += count
                continue
            }
            let number = errno
            if number == EAGAIN || number == EWOULDBLOCK {
                _ = wait(for: Int16(POLLOUT), on: descriptor, timeout: -1)
            } else if number != EINTR {
                throw ToolError(errorNumber: number, action: "write to", name: name)
            }
        }
    }

    /// Whether a read would return at once: with bytes, with the end of the input, or with an error.
    static func isReadable(_ descriptor: Int32) -> Bool {
        wait(for: Int16(POLLIN), on: descriptor, timeout: 0) != 0
    }

    /// Whether the descriptor is a terminal.
    static func isTerminal(_ descriptor: Int32) -> Bool {
        isatty(descriptor) == 1
    }

    /// Ends the process with a status.
    static func exit(_ status: Int32) -> Never {
        #if canImport(Glibc)
            Glibc.exit(status)
        #elseif canImport(Musl)
            Musl.exit(status)
        #else
            Darwin.exit(status)
        #endif
    }

    /// Makes a write to a pipe that nobody reads fail with `EPIPE` instead of killing the process.
    ///
    /// A signal would end the tool between an append and its answer with no chance to close the journal in order.
    static func ignoreBrokenPipes() {
        _ = signal(SIGPIPE, SIG_IGN)
        // Likewise a limit on the size of files: a write beyond it is then an error, a full disk to the journal, and not the end.
        _ = signal(SIGXFSZ, SIG_IGN)
    }

    /// The system's text for an error number.
    static func text(ofErrorNumber number: Int32) -> String {
        // The C library owns the text; it is copied before anything else can ask for another.
        guard let text = unsafe strerror(number) else { return "unknown error" }
        return unsafe String(cString: text)
    }

    /// The kind of failure that an error number stands for.
    static func code(ofErrorNumber number: Int32) -> ToolError.Code {
        switch number {
        case ENOENT, ENOTDIR: .fileNotFound
        case EISDIR: .isADirectory
        case EACCES, EPERM: .permissionDenied
        case EPIPE: .outputClosed
        case ENOSPC, EDQUOT: .storageFull
        default: .inputOutput
        }
    }

    /// Waits until the descriptor is ready for an event, failed or hung up, and says which; `timeout` is in milliseconds, -1 is for ever.
    private static func wait(for event: Int16, on descriptor: Int32, timeout: Int32) -> Int16 {
        var request = pollfd(fd: descriptor, events: event, revents: 0)
        var ready: Int32
        // A system call on one structure of this frame.
        repeat { ready = unsafe poll(&request, 1, timeout) } while ready < 0 && errno == EINTR
        return ready > 0 ? request.revents : 0
    }
}
