/// A failure of the tool's own input or output: which file, what was tried, and what the operating system said.
///
/// Faults of a journal have errors of their own; this one is about the files and pipes around it.
struct ToolError: Error, Equatable, CustomStringConvertible {
    /// The kinds of failure that a caller may want to tell apart.
    enum Code: String, Equatable {
        /// There is no such file, or a part of its path is missing.
        case fileNotFound
        /// A directory stands where a file was expected.
        case isADirectory
        /// The user may not read or write the file.
        case permissionDenied
        /// Nobody reads the output any more (`EPIPE`): the tool ends without a word, as `cat` does under `head`.
        case outputClosed
        /// The disk or the quota behind the output is full.
        case storageFull
        /// The process or the system has too many files open.
        case tooManyOpenFiles
        /// Any other failure of a system call.
        case inputOutput
    }

    /// What kind of failure it is.
    let code: Code
    /// What the tool was about to do, to be read after "cannot": `open`, `read`, `write to`.
    let action: String
    /// The path of the file, or a name such as `standard input`.
    let name: String
    /// The `errno` of the system call.
    let errorNumber: Int32

    /// An error for the `errno` that a system call on a file has left.
    init(errorNumber: Int32, action: String, name: String) {
        self.code = SystemIO.code(ofErrorNumber: errorNumber)
        self.action = action
        self.name = name
        self.errorNumber = errorNumber
    }

    /// One sentence for people: the action, the file, and the system's text with its number.
    var description: String {
        "cannot \(action) \(visible(name)): \(SystemIO.text(ofErrorNumber: errorNumber)) (errno \(errorNumber))"
    }

    /// Whether the tool ends without a message: only when the reader of its output has gone away.
    var isQuiet: Bool { code == .outputClosed }

    /// The exit status of the tool that stops for this error: always 1, also when it stops quietly, for the work was not done.
    var exitStatus: Int32 { 1 }
}
