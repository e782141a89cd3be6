#if Server
    internal import LocalStorage
    internal import Dispatch
    internal import Foundation
    #if canImport(Darwin)
        internal import Darwin
    #elseif canImport(Musl)
        internal import Musl
    #else
        internal import Glibc
    #endif

    /// Writes each mail as a file `*.eml` with mode 0600.
    public struct MailDirectory: MailSender {
        private let path: String

        /// Creates a sender; the directory exists.
        public init(path: String) { self.path = path }

        private var failure: AccountError { AccountError(.mail, "A mail cannot be written to the mail directory.") }

        /// Throws the error with which mails fail now.
        ///
        /// - Parameter byWriting: Whether to write something, for which a full disk has no room.
        func check(byWriting: Bool) throws(AccountError) {
            guard PrivateFile.isDirectory(path) else { throw failure }
            guard byWriting else { return }
            let name = path + "/" + UUID().uuidString.lowercased() + ".tmp"
            guard PrivateFile.create(name, [UInt8](repeating: 0, count: 16 << 10)) == .created else { throw failure }
            PrivateFile.remove(name)
        }

        /// Writes the mail under a temporary name and then renames it.
        ///
        /// - Throws: An error with the code `mail` if the file cannot be written.
        public func send(_ message: MailMessage) throws(AccountError) {
            let target = path + "/" + UUID().uuidString.lowercased()
            guard PrivateFile.create(target + ".tmp", message.bytes) == .created else { throw failure }
            guard PrivateFile.move(target + ".tmp", to: target + ".eml") else {
                PrivateFile.remove(target + ".tmp")
                throw failure
            }
        }
    }

    /// Runs a program for each mail, without a shell, with the message on standard input.
    ///
    /// The program reads the recipient from the header `To` (`sendmail -t -i`, `msmtp -t`). Its
    /// output is discarded, because it can contain the address.
    public struct MailCommand: MailSender {
        private let program: String
        private let arguments: [String]
        private let timeLimit: Duration

        /// Creates a sender.
        ///
        /// - Parameters:
        ///   - program: The path of the program.
        ///   - arguments: Its arguments, passed as they are.
        ///   - timeLimit: The time after which the program is killed.
        public init(program: String, arguments: [String] = [], timeLimit: Duration = .seconds(30)) {
            self.program = program
            self.arguments = arguments
            self.timeLimit = timeLimit
        }

        /// Runs the program and waits for its end.
        ///
        /// - Throws: An error with the code `mail` if the program cannot be started, does not end
        ///   in time, or ends with a status other than 0.
        public func send(_ message: MailMessage) throws(AccountError) {
            // A file without a name, because writing to a pipe whose reader has ended raises
            // SIGPIPE.
            let path = NSTemporaryDirectory() + "/chat-mail-" + UUID().uuidString
            let failure = AccountError(.mail, "A temporary file for the mail command cannot be written.")
            guard PrivateFile.create(path, message.bytes) == .created else { throw failure }
            guard let descriptor = PrivateFile.openUnlinked(path) else {
                PrivateFile.remove(path)
                throw failure
            }
            let process = Process()
            process.executableURL = URL(fileURLWithPath: program)
            process.arguments = arguments
            process.standardInput = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
            process.standardOutput = FileHandle.nullDevice
            process.standardError = FileHandle.nullDevice
            let ended = DispatchSemaphore(value: 0)
            process.terminationHandler = { _ in ended.signal() }
            do { try process.run() } catch { throw AccountError(.mail, "The mail command cannot be started.") }
            let limit = timeLimit.components
            let seconds = Double(limit.seconds) + Double(limit.attoseconds) / 1e18
            if ended.wait(timeout: .now() + seconds) == .timedOut {
                Self.kill(process.processIdentifier)
                ended.wait()
                throw AccountError(.mail, "The mail command did not end in time.")
            }
            guard process.terminationReason == .exit, process.terminationStatus == 0 else {
                throw AccountError(.mail, "The mail command failed.")
            }
        }

        /// Ends a process at once.
        private static func kill(_ process: Int32) {
            #if canImport(Darwin)
                _ = Darwin.kill(process, SIGKILL)
            #elseif canImport(Musl)
                _ = Musl.kill(process, SIGKILL)
            #else
                _ = Glibc.kill(process, SIGKILL)
            #endif
        }
    }
#endif
