/// One thing that is wrong with a journal's files, and where.
public struct JournalFinding: Hashable, Sendable {
    /// A stable name for what is wrong: `slot`, `durableFile`, `segmentHeader`, `missingRecords`, `trailingBytes`, `footer`, `unreadable`,
    /// `commitHeader`, `commitFields`, `commitTruncated`, `recordFraming`, `recordChecksum`, `commitChecksum`, `chain`, or the code of the
    /// error with which opening refuses the journal.
    public var problem: String
    /// A sentence that says it.
    public var message: String
    /// The name of the file concerned, within the journal's directory.
    public var segment: String?
    /// The bytes of the file concerned.
    public var bytes: Range<UInt64>?
    /// The positions concerned, as far as they are known.
    public var positions: ClosedRange<Position>?

    init(
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
        self.init(error.code.rawValue, error.message, segment: error.segment, bytes: error.bytes, positions: error.positions)
    }
}

extension Journal {
    /// Rereads everything from the storage and reports every finding, up to the present last position.
    ///
    /// Goes on after each finding where it can; a sound journal has none.
    ///
    /// - Throws: `closed`.
    /// - Complexity: Reads every segment.
    public func verify(_ report: (JournalFinding) -> Void) throws(JournalError) {
        let last = try snapshotForVerifying()
        Verifier(directory: directory, limit: last).run(report)
    }

    /// Verifies a journal that need not be fit to be opened, and reports every finding.
    ///
    /// Writes nothing. What a crash explains and opening would recover is no finding.
    ///
    /// - Throws: What ``openReadOnly(_:options:)`` throws, but for `damaged` and failures to read, which are findings.
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
            Verifier(directory: place, limit: nil).run { finding in
                count += 1
                report(finding)
            }
            if count == 0 { report(JournalFinding(error)) }
        }
    }
}
