/// A failure of a journal, with the file, bytes and positions concerned.
public struct JournalError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable name for a kind of failure.
    ///
    /// Later versions may add codes.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The stable text, suitable for logs and for comparison across versions.
        public let rawValue: String

        /// Creates the code with this text.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The stable text.
        public var description: String { rawValue }

        /// The path is a file, or a directory with other content.
        ///
        /// The journal left it untouched.
        public static let notAJournal = Code(rawValue: "notAJournal")
        /// A newer version of the format wrote the journal.
        public static let newerVersion = Code(rawValue: "newerVersion")
        /// Another writer, in this process or another one, has the journal open.
        public static let locked = Code(rawValue: "locked")
        /// The path contains no journal, or no longer the files of the open one, or the parent
        /// directory does not exist.
        public static let notFound = Code(rawValue: "notFound")
        /// The operating system denies access.
        public static let accessDenied = Code(rawValue: "accessDenied")
        /// The disk is full.
        ///
        /// Nothing was appended; a later call tries again. A file that was being replaced is the
        /// former or the new one.
        public static let storageFull = Code(rawValue: "storageFull")
        /// The bytes differ from the written ones in a way that a power failure does not explain.
        public static let damaged = Code(rawValue: "damaged")
        /// The ledger of erasures is damaged, so that the journal cannot be opened.
        public static let ledgerDamaged = Code(rawValue: "ledgerDamaged")
        /// The journal does not contain the history of the expected head.
        public static let headMismatch = Code(rawValue: "headMismatch")
        /// The storage failed to read or write.
        public static let ioFailed = Code(rawValue: "ioFailed")
        /// The storage failed to sync a file.
        ///
        /// After a failed sync of records the journal has stopped and must be reopened. A failed
        /// sync of a directory is ``ioFailed``.
        public static let syncFailed = Code(rawValue: "syncFailed")
        /// The journal has been closed.
        public static let closed = Code(rawValue: "closed")
        /// The journal is open for reading only.
        public static let readOnly = Code(rawValue: "readOnly")
        /// A position is not in the journal.
        public static let outOfRange = Code(rawValue: "outOfRange")
        /// A record, a commit, a ledger, a name or the losses of a repair exceed their limit, or a
        /// commit or a name is empty.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The journal's last position is not the expected one.
        public static let conflict = Code(rawValue: "conflict")
        /// A directory that must be empty contains files; it is unchanged.
        public static let notEmpty = Code(rawValue: "notEmpty")
        /// The destination of a copy is the source's own directory; it is unchanged.
        public static let sameDirectory = Code(rawValue: "sameDirectory")
        /// The journal is an unfinished copy, which opens for reading only.
        public static let copy = Code(rawValue: "copy")
        /// The journal's history goes on at another place; this one opens for reading only.
        public static let moved = Code(rawValue: "moved")
        /// No server of a log on other machines was reached in time; a later attempt can succeed.
        public static let unreachable = Code(rawValue: "unreachable")
        /// The waiting task was cancelled.
        ///
        /// Nothing was changed.
        public static let cancelled = Code(rawValue: "cancelled")
    }

    /// The kind of failure.
    public var code: Code
    /// A sentence that describes the failure.
    public var message: String
    /// The file or directory concerned, as the caller named it or the journal found it.
    public var path: String?
    /// The name of the segment file concerned.
    public var segment: String?
    /// The bytes of ``segment`` concerned.
    public var bytes: Range<UInt64>?
    /// The positions concerned.
    public var positions: ClosedRange<Position>?
    /// The error number of the system call that failed.
    public var errno: Int32?

    /// Creates an error from its parts.
    public init(
        _ code: Code, _ message: String, path: String? = nil, segment: String? = nil, bytes: Range<UInt64>? = nil,
        positions: ClosedRange<Position>? = nil, errno: Int32? = nil
    ) {
        self.code = code
        self.message = message
        self.path = path
        self.segment = segment
        self.bytes = bytes
        self.positions = positions
        self.errno = errno
    }

    /// The code, the sentence and the location on one line.
    public var description: String {
        var text = "\(code): \(message)"
        var places: [String] = []
        if let path { places.append(path) }
        if let segment, path?.hasSuffix(segment) != true { places.append("segment \(segment)") }
        if let bytes { places.append("bytes \(bytes.lowerBound)..<\(bytes.upperBound)") }
        if let positions { places.append("positions \(positions.lowerBound)...\(positions.upperBound)") }
        if let errno { places.append("errno \(errno)") }
        if !places.isEmpty { text += " (" + places.joined(separator: ", ") + ")" }
        return text
    }
}

extension JournalError {
    /// Creates the journal error of a storage failure, with the same path and error number.
    init(_ error: StorageError) {
        let code: Code =
            switch (error.operation, error.kind) {
            case (.sync, _): .syncFailed
            case (_, .full): .storageFull
            case (_, .accessDenied): .accessDenied
            case (_, .notFound): .notFound
            case (_, .alreadyExists), (_, .notADirectory), (_, .symbolicLink), (_, .failed): .ioFailed
            }
        let message =
            error.kind == .symbolicLink
            ? "The file is a symbolic link, which is not followed." : "The storage could not \(error.operation.phrase)."
        self.init(code, message, path: error.path, errno: error.errno)
    }

    /// Returns the error of a call after the journal was closed.
    static func closedJournal(at path: String? = nil) -> JournalError {
        JournalError(.closed, "The journal has been closed.", path: path)
    }

    /// Returns the same error with the segment in which it occurred, unless it names one.
    func addingSegment(_ name: String) -> JournalError {
        var copy = self
        copy.segment = copy.segment ?? name
        return copy
    }
}

/// Performs storage work and converts its error.
func convertingStorageErrors<Result>(_ work: () throws(StorageError) -> Result) throws(JournalError) -> Result {
    do { return try work() } catch { throw JournalError(error) }
}

/// Performs one operation of the storage and converts its error.
func convertingErrors<Result>(of work: @autoclosure () throws(StorageError) -> Result) throws(JournalError) -> Result {
    try convertingStorageErrors(work)
}
