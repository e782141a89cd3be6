/// What went wrong with a journal, and where.
public struct JournalError: Error, Hashable, Sendable, CustomStringConvertible {
    /// A stable name for a kind of failure; later versions may add more.
    public struct Code: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
        /// The stable text, fit for logs and for comparing across versions.
        public let rawValue: String

        /// Makes the code with this text.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// The stable text.
        public var description: String { rawValue }

        /// The path is a file, or a directory that holds something else; it was left untouched.
        public static let notAJournal = Code(rawValue: "notAJournal")
        /// The journal was written by a newer version of the format.
        public static let newerVersion = Code(rawValue: "newerVersion")
        /// Another writer has the journal open, in this process or another.
        public static let locked = Code(rawValue: "locked")
        /// There is no journal at the path, or the path's parent does not exist.
        public static let notFound = Code(rawValue: "notFound")
        /// The operating system denies access.
        public static let accessDenied = Code(rawValue: "accessDenied")
        /// There is no space; nothing was written, and a later call is tried again.
        public static let storageFull = Code(rawValue: "storageFull")
        /// The bytes are not what was written, in a way that no power cut explains.
        public static let damaged = Code(rawValue: "damaged")
        /// The journal does not contain the history of the expected head.
        public static let headMismatch = Code(rawValue: "headMismatch")
        /// The storage failed to read or write.
        public static let ioFailed = Code(rawValue: "ioFailed")
        /// The storage failed to sync; the journal has stopped until it is reopened.
        public static let syncFailed = Code(rawValue: "syncFailed")
        /// The journal has been closed.
        public static let closed = Code(rawValue: "closed")
        /// The journal is open for reading only.
        public static let readOnly = Code(rawValue: "readOnly")
        /// A position is not in the journal.
        public static let outOfRange = Code(rawValue: "outOfRange")
        /// A record or a commit is over its limit, or a commit is empty.
        public static let tooLarge = Code(rawValue: "tooLarge")
        /// The journal's last position is not the expected one.
        public static let conflict = Code(rawValue: "conflict")
        /// The task that waited has been cancelled; nothing was changed.
        public static let cancelled = Code(rawValue: "cancelled")
    }

    /// The kind of failure.
    public var code: Code
    /// A sentence that says what happened.
    public var message: String
    /// The file or directory concerned, as it was given or found.
    public var path: String?
    /// The name of the segment file concerned.
    public var segment: String?
    /// The bytes of ``segment`` concerned.
    public var bytes: Range<UInt64>?
    /// The positions concerned.
    public var positions: ClosedRange<Position>?
    /// The error number of the system call that failed.
    public var errno: Int32?

    /// Makes an error of its parts.
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

    /// The code, the sentence and the place, on one line.
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
    /// The journal's view of a storage failure: the same place and error number, under the journal's code for it.
    init(_ error: StorageError) {
        let code: Code =
            switch (error.operation, error.kind) {
            case (.sync, _): .syncFailed
            case (_, .full): .storageFull
            case (_, .accessDenied): .accessDenied
            case (_, .notFound): .notFound
            case (_, .alreadyExists), (_, .notADirectory), (_, .failed): .ioFailed
            }
        self.init(code, "The storage could not \(error.operation.phrase).", path: error.path, errno: error.errno)
    }

    /// The same failure with the segment that it happened in.
    func inSegment(_ name: String) -> JournalError {
        var copy = self
        copy.segment = copy.segment ?? name
        return copy
    }
}

/// Runs storage work and translates its failure.
func storage<Result>(_ work: () throws(StorageError) -> Result) throws(JournalError) -> Result {
    do {
        return try work()
    } catch {
        throw JournalError(error)
    }
}
