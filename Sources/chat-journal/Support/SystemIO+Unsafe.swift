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

    /// The fewest descriptors that the tool needs, the standard streams among them.
    static let fewestDescriptors = 16

    /// The arguments of the process, without its own name.
    ///
    /// - Throws: `UsageError` for an argument that is not UTF-8: as text it would name something else than its bytes do.
    static func arguments() throws(UsageError) -> [String] {
        var arguments: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            // The system's own array of C strings, as many as it says, which outlive the process.
            guard let bytes = unsafe CommandLine.unsafeArgv[index] else { break }
            guard let argument = unsafe String(validatingCString: bytes) else {
                throw UsageError("argument \(index), '\(visible(unsafe String(cString: bytes)))', is not UTF-8")
            }
            arguments.append(argument)
        }
        return arguments
    }

    /// Puts something in the place of standard streams that are closed: the first file that is opened would otherwise be read or written as one of them.
    ///
    /// It is open the wrong way round, so that reading standard input and writing standard output fail as they do when closed, and no answer is lost without an error.
    static func openStandardStreams() {
        for stream in [standardInput, standardOutput, standardError] where fcntl(stream, F_GETFD) < 0 && errno == EBADF {
            // The lowest number that is free, which is this one. A system call that reads a C string which outlives it.
            _ = unsafe open("/dev/null", stream == standardInput ? O_WRONLY : O_RDONLY)
        }
    }

    /// Lets SIGQUIT end the process: the runtime takes it as a request for a backtrace, after which the process goes on.
    static func endOnQuit() {
        let former = signal(SIGQUIT, SIG_DFL)
        // The caller may have started the tool with the signal ignored: then it stays so. Two addresses are compared, neither of which is called.
        if unsafe unsafeBitCast(former, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self) { _ = signal(SIGQUIT, SIG_IGN) }
    }

    /// Makes sure that as many descriptors are free as the tool needs: the runtime ends a process that cannot have its own.
    static func requireDescriptors() throws(ToolError) {
        var taken: [Int32] = []
        defer { for descriptor in taken { close(descriptor) } }
        for _ in standardError + 1..<Int32(fewestDescriptors) {
            let descriptor = fcntl(standardError, F_DUPFD_CLOEXEC, standardError + 1)
            guard descriptor >= 0 else {
                if errno != EMFILE && errno != ENFILE { return }
                throw ToolError(errorNumber: errno, action: "have", name: "the \(fewestDescriptors) file descriptors that are needed")
            }
            taken.append(descriptor)
        }
    }

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
        let flags = fcntl(standardOutput, F_GETFL)
        guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
            throw ToolError(errorNumber: EBADF, action: "write to", name: "standard output")
        }
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
        case EMFILE, ENFILE: .tooManyOpenFiles
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
