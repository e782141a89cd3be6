#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// The system calls of the tool.
///
/// Its `unsafe` expressions call C functions, which take pointers. The other ones of the target,
/// for terminals, are in `Terminal+Unsafe.swift`.
///
/// Each call retries `EINTR`, waits where an inherited descriptor is non-blocking, and throws every
/// other failure as a `ToolError`.
enum SystemIO {
    /// The descriptor of standard input.
    static let standardInput: Int32 = 0
    /// The descriptor of standard output.
    static let standardOutput: Int32 = 1
    /// The descriptor of standard error.
    static let standardError: Int32 = 2

    /// The number of descriptors that the tool needs, the standard streams included.
    static let requiredDescriptorCount = 16

    /// The arguments of the process, without its own name.
    ///
    /// - Throws: `UsageError` for an argument that is not UTF-8: as text it would name another file
    ///   than its bytes do.
    static func arguments() throws(UsageError) -> [String] {
        var arguments: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            // The system's array of `argc` C strings, which lives as long as the process.
            guard let bytes = unsafe CommandLine.unsafeArgv[index] else { break }
            guard let argument = unsafe String(validatingCString: bytes) else {
                throw UsageError(
                    "argument \(index), '\(escapedForTerminal(unsafe String(cString: bytes)))', is not UTF-8")
            }
            arguments.append(argument)
        }
        return arguments
    }

    /// Opens a device in the place of each closed standard stream: the first file that is opened
    /// would otherwise become that stream.
    ///
    /// Its access mode is the opposite one, so that reading standard input and writing standard
    /// output still fail as they do when closed.
    static func openStandardStreams() {
        for stream in [standardInput, standardOutput, standardError] where fcntl(stream, F_GETFD) < 0 && errno == EBADF
        {
            // `open` returns the lowest free number, which is this one. A system call that reads a
            // C string which outlives it.
            _ = unsafe open("/dev/null", stream == standardInput ? O_WRONLY : O_RDONLY)
        }
    }

    /// Makes SIGQUIT end the process; the Swift runtime otherwise prints a backtrace and continues.
    static func restoreQuitSignal() {
        // A signal that the caller ignores stays ignored.
        if isIgnored(signal(SIGQUIT, SIG_DFL)) { _ = signal(SIGQUIT, SIG_IGN) }
    }

    /// Whether a handler ignores its signal; two addresses are compared, and neither is called.
    static func isIgnored(_ handler: (@convention(c) (Int32) -> Void)?) -> Bool {
        unsafe unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// Checks that the descriptors that the tool needs are free: the runtime ends a process that
    /// cannot open its own.
    static func requireDescriptors() throws(ToolError) {
        var taken: [Int32] = []
        defer { for descriptor in taken { close(descriptor) } }
        for _ in standardError + 1..<Int32(requiredDescriptorCount) {
            let descriptor = fcntl(standardError, F_DUPFD_CLOEXEC, standardError + 1)
            guard descriptor >= 0 else {
                if errno != EMFILE && errno != ENFILE { return }
                throw ToolError(
                    errorNumber: errno, action: "open",
                    name: "the \(requiredDescriptorCount) file descriptors that the tool needs")
            }
            taken.append(descriptor)
        }
    }

    /// Opens a file for reading; the descriptor is closed on `exec`.
    ///
    /// A directory can be opened but not read, so it is an error here.
    static func openForReading(_ path: String, flags: Int32 = 0) throws(ToolError) -> Int32 {
        var descriptor: Int32
        // A system call that reads a C string which outlives it.
        repeat { descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | flags) } while descriptor < 0 && errno == EINTR
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

    /// Opens a regular file for reading, as for a directory from outside.
    ///
    /// - Throws: `ToolError`, and `ArgumentError` for a FIFO, a device or another entry, which may
    ///   wait, or never end.
    static func openRegularFile(_ path: String) throws -> Int32 {
        // Non-blocking, because opening a FIFO without a writer would wait for one.
        let descriptor = try openForReading(path, flags: O_NONBLOCK)
        var status = stat()
        // A system call that fills a structure on this frame.
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            close(descriptor)
            throw ArgumentError("\(path): not a regular file")
        }
        return descriptor
    }

    /// Opens a file for reading whose lines are read in any order.
    ///
    /// The bytes of a pipe or a device are first copied to a temporary file, which only its owner
    /// may read, and which has no name any more. It is gone with the descriptor.
    ///
    /// - Parameters:
    ///   - path: The path; `-` for standard input.
    ///   - folder: The folder of the temporary file.
    static func openForRereading(_ path: String, temporaryFolder folder: String) throws(ToolError) -> Int32 {
        let isInput = path == "-"
        let name = isInput ? "standard input" : path
        let source = isInput ? standardInput : try openForReading(path)
        var status = stat()
        // A system call that fills a structure on this frame.
        let isRegular = unsafe fstat(source, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        if isRegular && !isInput { return source }
        defer { if !isInput { close(source) } }
        let copyName = "\(folder)/chat-journal-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
        var copy: Int32
        // A system call that reads a C string which outlives it.
        repeat {
            copy = unsafe open(copyName, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        } while copy < 0 && errno == EINTR
        guard copy >= 0 else { throw ToolError(errorNumber: errno, action: "create", name: copyName) }
        removeIncomplete(copyName)
        do throws(ToolError) {
            var buffer = [UInt8](repeating: 0, count: 256 << 10)
            while true {
                let count = try read(source, into: &buffer, name: name)
                if count == 0 { break }
                try write(count == buffer.count ? buffer : Array(buffer[..<count]), to: copy, name: copyName)
            }
            guard lseek(copy, 0, SEEK_SET) == 0 else {
                throw ToolError(errorNumber: errno, action: "read", name: copyName)
            }
        } catch {
            close(copy)
            throw error
        }
        return copy
    }

    /// Reads bytes of a file from an offset, fewer at its end.
    static func read(_ descriptor: Int32, at offset: Int, count: Int, name: String) throws(ToolError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            // A system call that writes into the array's storage from `filled`, never beyond its
            // count.
            let read = unsafe bytes.withUnsafeMutableBytes { buffer in
                let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
                return unsafe pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
            }
            if read == 0 { break }
            if read > 0 {
                filled += read
            } else if errno != EINTR {
                throw ToolError(errorNumber: errno, action: "read", name: name)
            }
        }
        bytes.removeLast(count - filled)
        return bytes
    }

    /// Creates a file for writing, which only its owner may read; an existing one is an error and
    /// stays as it is.
    static func create(_ path: String) throws(ToolError) -> Int32 {
        var descriptor: Int32
        // A system call that reads a C string which outlives it.
        repeat {
            descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        } while descriptor < 0 && errno == EINTR
        guard descriptor >= 0 else { throw ToolError(errorNumber: errno, action: "create", name: path) }
        return descriptor
    }

    /// Checks without a write whether standard output still has a reader.
    ///
    /// - Throws: `ToolError` with the code `outputClosed` if the reader has closed it.
    static func requireReader() throws(ToolError) {
        let flags = fcntl(standardOutput, F_GETFL)
        guard flags >= 0, flags & O_ACCMODE != O_RDONLY else {
            throw ToolError(errorNumber: EBADF, action: "write to", name: "standard output")
        }
        // No event is requested: a hang-up is reported in any case.
        let events = wait(for: 0, on: standardOutput, timeout: 0)
        guard events != 0 else { return }
        throw ToolError(
            errorNumber: events & Int16(POLLNVAL) != 0 ? EBADF : EPIPE, action: "write to", name: "standard output")
    }

    /// Closes a descriptor without a check: after reading, a failure loses nothing.
    static func closeAfterReading(_ descriptor: Int32) { close(descriptor) }

    /// Syncs a file and closes its descriptor; some file systems report a failed write only here.
    static func closeAfterWriting(_ descriptor: Int32, name: String) throws(ToolError) {
        var status = fsync(descriptor)
        while status != 0 && errno == EINTR { status = fsync(descriptor) }
        guard status == 0 else {
            let errorNumber = errno
            close(descriptor)
            throw ToolError(errorNumber: errorNumber, action: "write to", name: name)
        }
        // An interrupted close has released the descriptor on every supported system.
        guard close(descriptor) == 0 || errno == EINTR else {
            throw ToolError(errorNumber: errno, action: "write to", name: name)
        }
    }

    /// Removes a file that could not be written whole; a failure leaves it, and the error of the
    /// write is the one to report.
    static func removeIncomplete(_ path: String) {
        // A system call that reads a C string which outlives it.
        _ = unsafe unlink(path)
    }

    /// Removes an empty directory that could not be completed; a failure leaves it.
    static func removeIncompleteDirectory(_ path: String) {
        // A system call that reads a C string which outlives it.
        _ = unsafe rmdir(path)
    }

    /// Reads available bytes, at most the buffer's size; waits while none is available.
    ///
    /// - Returns: The number of bytes at the start of the buffer; 0 at the end of the input.
    static func read(_ descriptor: Int32, into buffer: inout [UInt8], name: String) throws(ToolError) -> Int {
        while true {
            // A system call that writes into the array's storage, never beyond its count.
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

    /// Writes all bytes, in as many calls as the system needs.
    static func write(_ buffer: [UInt8], to descriptor: Int32, name: String) throws(ToolError) {
        var written = 0
        while written < buffer.count {
            // A system call that reads the array's storage from `written` to its end.
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

    /// Whether a read would return at once: with bytes, with the end of the input, or with an
    /// error.
    ///
    /// - Parameter milliseconds: How long it waits for that.
    static func isReadable(_ descriptor: Int32, within milliseconds: Int = 0) -> Bool {
        wait(for: Int16(POLLIN), on: descriptor, timeout: Int32(milliseconds)) != 0
    }

    /// Whether a write of a few bytes would return at once.
    static func isWritable(_ descriptor: Int32) -> Bool { wait(for: Int16(POLLOUT), on: descriptor, timeout: 0) != 0 }

    /// Makes a signal do nothing by itself, so that a source can receive it.
    ///
    /// - Returns: Whether the caller of the program ignores it already, as `nohup` does.
    static func ignore(signal number: Int32) -> Bool { isIgnored(signal(number, SIG_IGN)) }

    /// Whether the descriptor is a terminal.
    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

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

    /// Makes a write to a pipe without a reader fail with `EPIPE` instead of killing the process.
    ///
    /// A signal would end the tool between an append and its answer, without closing the journal.
    static func ignoreWriteSignals() {
        _ = signal(SIGPIPE, SIG_IGN)
        // Likewise for a limit on the size of files: a write beyond it is then an error, as on a
        // full disk.
        _ = signal(SIGXFSZ, SIG_IGN)
    }

    /// The system's text for an error number.
    static func text(ofErrorNumber number: Int32) -> String {
        // The C library owns the text; it is copied before the next call.
        guard let text = unsafe strerror(number) else { return "unknown error" }
        return unsafe String(cString: text)
    }

    /// The kind of failure of an error number.
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

    /// Waits until the descriptor is ready for an event, failed or hung up, and returns which;
    /// `timeout` is in milliseconds, -1 is none.
    private static func wait(for event: Int16, on descriptor: Int32, timeout: Int32) -> Int16 {
        var request = pollfd(fd: descriptor, events: event, revents: 0)
        var ready: Int32
        // A system call on a structure on this frame.
        repeat { ready = unsafe poll(&request, 1, timeout) } while ready < 0 && errno == EINTR
        return ready > 0 ? request.revents : 0
    }
}

/// A failure of the tool's own input or output: the action, the file, and the operating system's
/// error.
///
/// Errors of a journal have types of their own; this one is about the files and pipes around it.
struct ToolError: Error, Equatable, CustomStringConvertible {
    /// The kinds of failure.
    enum Code: String, Equatable {
        /// The file, or a part of its path, does not exist.
        case fileNotFound
        /// A directory is in the place of a file.
        case isADirectory
        /// The user may not read or write the file.
        case permissionDenied
        /// The output has no reader any more (`EPIPE`): the tool ends silently, as `cat` does under
        /// `head`.
        case outputClosed
        /// The disk or the quota of the output is full.
        case storageFull
        /// The process or the system has too many open files.
        case tooManyOpenFiles
        /// Any other failure of a system call.
        case inputOutput
    }

    /// The kind of failure.
    let code: Code
    /// The action that failed, for "cannot ...": `open`, `read`, `write to`.
    let action: String
    /// The path of the file, or a name such as `standard input`.
    let name: String
    /// The `errno` of the system call.
    let errorNumber: Int32

    /// An error for the `errno` of a failed system call.
    init(errorNumber: Int32, action: String, name: String) {
        self.code = SystemIO.code(ofErrorNumber: errorNumber)
        self.action = action
        self.name = name
        self.errorNumber = errorNumber
    }

    /// The action, the file, and the system's text with its number.
    var description: String {
        "cannot \(action) \(escapedForTerminal(name)): \(SystemIO.text(ofErrorNumber: errorNumber)) (errno \(errorNumber))"
    }

    /// Whether the tool ends without a message.
    var endsSilently: Bool { code == .outputClosed }
}
