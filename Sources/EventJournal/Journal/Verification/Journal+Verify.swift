import Primitives

/// One problem in a journal's files, with its location.
public struct JournalFinding: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The stable name of the problem.
    ///
    /// One of `slot`, `durableFile`, `segmentHeader`, `missingRecords`, `trailingBytes`, `footer`,
    /// `unreadable`, `commitHeader`, `commitFields`, `commitTruncated`, `recordFraming`,
    /// `recordChecksum`, `commitChecksum`, `chain`, `treeDiffers`, `treeDamaged`,
    /// `checkpointDamaged`, or the code of the error with which opening rejects the journal.
    public var problem: String
    /// The problem as a sentence.
    public var message: String
    /// The name of the affected file in the journal's directory: a segment file, `durable`, `tree`
    /// or a checkpoint.
    public var segment: String?
    /// The affected bytes of the file.
    public var bytes: Range<UInt64>?
    /// The affected positions, if known.
    public var positions: ClosedRange<Position>?

    private enum CodingKeys: AbsentAsNullKey { case segment, bytes, positions, problem, message }

    /// Whether the problem is in a file that is computed from the records, so that removing the
    /// file loses nothing.
    public var isRebuildable: Bool { Self.rebuildableProblems.contains(problem) }

    private static let rebuildableProblems: Set = [
        "treeDiffers", "treeDamaged", "checkpointDamaged", "checkpointDiffers",
    ]

    /// Creates a finding.
    package init(
        _ problem: String, _ message: String, segment: String? = nil, bytes: Range<UInt64>? = nil,
        positions: ClosedRange<Position>? = nil
    ) {
        self.problem = problem
        self.message = message
        self.segment = segment
        self.bytes = bytes
        self.positions = positions
    }

    init(_ error: JournalError) {
        self.init(
            error.code.rawValue, error.message, segment: error.segment, bytes: error.bytes, positions: error.positions)
    }

    /// The place, the problem and the message on one line.
    public var description: String {
        let bytes = bytes.map { " bytes \($0)" } ?? ""
        let positions = positions.map { " positions \($0)" } ?? ""
        return "\(segment ?? "journal")\(bytes)\(positions): \(problem): \(message)"
    }
}

extension Journal {
    /// Rereads all records up to the current last position from the storage and reports each
    /// finding.
    ///
    /// Continues after each finding where possible. An undamaged journal has no findings.
    ///
    /// - Throws: `closed`, or the error of writing the commits that were only in memory, which
    ///   stops the journal.
    /// - Complexity: Reads every segment.
    public func verify(_ report: (JournalFinding) -> Void) throws(JournalError) {
        let last = try writePendingForVerification()
        Verifier.verifyJournal(in: directory, upTo: last, report)
    }

    /// Verifies a journal that opening may reject, and reports each finding.
    ///
    /// Writes nothing. The effects of a crash that opening would recover from are not findings.
    ///
    /// - Throws: The errors of ``openReadOnly(_:options:)`` except `damaged` and `ioFailed`, which
    ///   become findings.
    /// - Complexity: Reads every segment twice.
    public static func verify(
        _ directory: String, options: JournalOptions = JournalOptions(), _ report: (JournalFinding) -> Void
    ) throws(JournalError) {
        let place = JournalDirectory(directory, options.storage)
        try checkReadable(place)
        do throws(JournalError) {
            try openReadOnly(directory, options: options).verify(report)
        } catch {
            guard error.code == .damaged || error.code == .ioFailed else { throw error }
            var count = 0
            Verifier.verifyJournal(in: place, upTo: nil) { finding in
                count += 1
                report(finding)
            }
            if count == 0 { report(JournalFinding(error)) }
        }
    }

    /// Writes pending commits and returns the last position, so that the files can be verified on
    /// their own.
    func writePendingForVerification() throws(JournalError) -> Position {
        try updateState { (state) throws(JournalError) in
            if state.isClosed { throw JournalError.closedJournal(at: directory.path) }
            try state.writePending()
            return state.lastPosition
        }
    }
}
