#if Client || canImport(SQLite3)
    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #else
        import Darwin
    #endif

    /// What must be undone when the process ends, also by a signal.
    ///
    /// Written before the handlers are installed, and read by them.
    private struct TerminalRestoration {
        var descriptor: Int32 = -1
        var modes = termios()
        /// The number of bytes of ``leaveSequence`` to write; 0 while the screen is not taken.
        var leaveCount = 0
    }

    // Signal handlers read it; all other uses are on the main actor, or before its first task.
    private nonisolated(unsafe) var restoration = TerminalRestoration()

    /// The end of bracketed paste, wrapping, the end of the alternate screen and of styles; the
    /// cursor is shown.
    private let leaveSequence: StaticString = "\u{1b}[?2004l\u{1b}[?7h\u{1b}[0m\u{1b}[?25h\u{1b}[?1049l"

    /// Makes the terminal as it was: calls of `write` and `tcsetattr` only, which a signal handler
    /// may make.
    private func restoreTerminal() {
        let descriptor = unsafe restoration.descriptor
        guard descriptor >= 0 else { return }
        unsafe restoration.descriptor = -1
        if unsafe restoration.leaveCount > 0 {
            // A system call that reads a constant of the program.
            _ = unsafe write(descriptor, leaveSequence.utf8Start, restoration.leaveCount)
        }
        _ = unsafe tcsetattr(descriptor, TCSADRAIN, &restoration.modes)
    }

    /// The terminal of the process (`/dev/tty`): its modes and its size.
    struct Terminal: Sendable {
        /// A size in characters.
        struct Size: Hashable, Sendable {
            var rows: Int
            var columns: Int
        }

        /// The signals by which a process is ended, and those of its own failures, as far as they
        /// can be caught.
        private static let endSignals = [SIGHUP, SIGINT, SIGTERM]
        private static let failureSignals = [SIGQUIT, SIGABRT, SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV]

        /// The open descriptor.
        let descriptor: Int32

        /// Opens the terminal; nil if the process has none.
        init?() {
            var descriptor: Int32
            // A system call that reads a C string which outlives it.
            repeat { descriptor = unsafe open("/dev/tty", O_RDWR | O_CLOEXEC) } while descriptor < 0 && errno == EINTR
            guard descriptor >= 0 else { return nil }
            self.descriptor = descriptor
        }

        /// Does not show what is typed, until ``restore()``.
        func hideInput() throws(ToolError) {
            try change(at: Self.endSignals + Self.failureSignals) { modes in modes.c_lflag &= ~tcflag_t(ECHO) }
        }

        /// Takes the whole screen and each key, until ``restore()``; the caller handles the signals
        /// that end the process.
        func takeScreen() throws(ToolError) {
            try change(at: Self.failureSignals) { modes in
                unsafe cfmakeraw(&modes)
            }
            unsafe restoration.leaveCount = leaveSequence.utf8CodeUnitCount
            try SystemIO.write(
                Array("\u{1b}[?1049h\u{1b}[?2004h\u{1b}[?7l\u{1b}[2J".utf8), to: descriptor, name: "the terminal")
        }

        /// Makes the terminal as it was; does nothing if it is.
        func restore() { restoreTerminal() }

        /// The size of the terminal; 80 by 24 if it does not say.
        var size: Size {
            var size = winsize()
            // A system call that fills a structure on this frame.
            guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_row > 0, size.ws_col > 0 else {
                return Size(rows: 24, columns: 80)
            }
            return Size(rows: Int(size.ws_row), columns: Int(size.ws_col))
        }

        /// Changes the modes; they are restored at these signals too.
        private func change(at signals: [Int32], _ body: (inout termios) -> Void) throws(ToolError) {
            var modes = termios()
            // System calls that fill and read structures of this program.
            guard unsafe tcgetattr(descriptor, &modes) == 0 else {
                throw ToolError(errorNumber: errno, action: "use", name: "the terminal")
            }
            unsafe restoration = TerminalRestoration(descriptor: descriptor, modes: modes)
            for number in signals {
                var action = sigaction()
                // The handler restores the terminal, and the signal then ends the process as it
                // would have.
                let handler: @convention(c) (Int32) -> Void = { number in
                    restoreTerminal()
                    raise(number)
                }
                #if canImport(Darwin)
                    unsafe action.__sigaction_u.__sa_handler = handler
                #else
                    unsafe action.__sigaction_handler.sa_handler = handler
                #endif
                action.sa_flags = Int32(bitPattern: UInt32(SA_RESETHAND)) | Int32(SA_NODEFER)
                var former = sigaction()
                unsafe sigaction(number, &action, &former)
                // What the caller of the program ignores stays ignored.
                #if canImport(Darwin)
                    let isIgnored = unsafe SystemIO.isIgnored(former.__sigaction_u.__sa_handler)
                #else
                    let isIgnored = unsafe SystemIO.isIgnored(former.__sigaction_handler.sa_handler)
                #endif
                if isIgnored { unsafe sigaction(number, &former, nil) }
            }
            body(&modes)
            guard unsafe tcsetattr(descriptor, TCSADRAIN, &modes) == 0 else {
                throw ToolError(errorNumber: errno, action: "use", name: "the terminal")
            }
        }
    }
#endif
