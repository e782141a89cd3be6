public import ChatDomain
public import EventJournal

/// What a verification of a whole journal found.
public struct VerificationReport: Hashable, Sendable, Codable {
    /// Whether nothing is wrong.
    public var isValid: Bool { findings.isEmpty }
    /// The last position up to which everything could be read.
    public var position: Position
    /// Everything that is wrong, in the order in which it stands.
    public var findings: [Finding]
    /// How many events a repair has put down as lost; no finding, and not part of the JSON form.
    public var lostEvents = 0

    /// Something that is wrong, and where.
    public struct Finding: Hashable, Sendable, Codable {
        /// The file, nil where the fault is not one of bytes.
        public var segment: String?
        /// The first byte and the one after the last, nil where the fault is not one of bytes.
        public var bytes: [UInt64]?
        /// The first and the last position, nil where there is none.
        public var positions: [Position]?
        /// A stable name of what is wrong.
        public var problem: String
        /// A sentence for people.
        public var message: String

        private enum CodingKeys: CodingKey { case segment, bytes, positions, problem, message }

        /// Writes every field; what is not there is null.
        public func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(segment, forKey: .segment)
            try container.encode(bytes, forKey: .bytes)
            try container.encode(positions, forKey: .positions)
            try container.encode(problem, forKey: .problem)
            try container.encode(message, forKey: .message)
        }
    }

    private enum CodingKeys: String, CodingKey {
        case isValid = "ok"
        case position, findings
    }

    init(position: Position = 0, findings: [Finding] = []) {
        self.position = position
        self.findings = findings
    }

    /// Reads a verification.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        position = try container.decode(Position.self, forKey: .position)
        findings = try container.decode([Finding].self, forKey: .findings)
    }

    /// Writes `{"ok":true,"position":12,"findings":[]}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(isValid, forKey: .isValid)
        try container.encode(position, forKey: .position)
        try container.encode(findings, forKey: .findings)
    }
}

extension ChatStore {
    /// Checks everything about a journal that can be checked without writing: bytes, checksums, chain and order; that every record is an event; and that the events
    /// are a history that the rules allow.
    ///
    /// - Parameters:
    ///   - directory: The path of the journal's directory; another process may be writing it.
    ///   - deep: Whether to rebuild the read models, too, and compare them with the state of the rules, and at its position with the checkpoint that an opening
    ///     would begin with (`checkpointDiffers`).
    ///   - options: How to open the journal; an expected head makes sure that it is that journal, and not an earlier state of it.
    ///   - progress: Called after each 1,024 events and after the last, with the position checked so far and the last one.
    /// - Returns: The findings; a journal that refuses to open is a finding, too.
    /// - Throws: ``ChatError/journal(_:)`` if there is no journal, or it cannot be read at all: then nothing was checked.
    public static func verify(
        _ directory: String, options: JournalOptions = JournalOptions(), deep: Bool = false,
        progress: (_ position: Position, _ last: Position) -> Void = { _, _ in }
    ) throws(ChatError) -> VerificationReport {
        var report = VerificationReport()
        var unexpecting = options
        unexpecting.expectedHead = nil
        do throws(JournalError) {
            try Journal.verify(directory, options: unexpecting) { report.findings.append(VerificationReport.Finding($0)) }
            try report.checkHistory(of: try Journal.openReadOnly(directory, options: unexpecting), deep: deep, progress)
        } catch {
            guard error.code == .damaged else { throw .journal(error) }
            // Such a journal does not open; what lies before the first damage is whole.
            if report.isValid { report.findings.append(VerificationReport.Finding(error)) }
            report.position = max(1, report.findings.compactMap { $0.positions?.first }.min() ?? 1) - 1
        }
        if options.expectedHead != nil { try report.check(directory, against: options) }
        return report
    }
}

extension VerificationReport {
    /// Checks that the journal still contains an expected head.
    fileprivate mutating func check(_ directory: String, against options: JournalOptions) throws(ChatError) {
        do throws(JournalError) {
            _ = try Journal.openReadOnly(directory, options: options)
        } catch {
            switch error.code {
            case .headMismatch: findings.append(Finding(error))
            case .damaged: break  // found already
            default: throw .journal(error)
            }
        }
    }

    /// Checks that every record is an event and that the events are a history that the rules allow.
    fileprivate mutating func checkHistory(
        of journal: Journal, deep: Bool, _ progress: (_ position: Position, _ last: Position) -> Void
    ) throws(JournalError) {
        let last = journal.durablePosition
        guard last > 0 else { return }
        var history = HistoryVerification(
            checkpoint: deep ? CheckpointVerification(journal) : nil, isDeep: deep, ReplayEstimate(journal, 1...last))
        defer { findings += history.findings }
        do throws(JournalError) {
            try journal.forEachRecord(in: 1...last) { position, state, kept, erasable in
                history.add(position, state, kept, erasable)
                if position == last || position.isMultiple(of: Position(HistoryVerification.batchCount)) {
                    progress(position, last)
                }
                return true
            }
        } catch {
            history.check()
            throw error
        }
        history.finish(journal)
        position = history.position
        lostEvents = history.lostEvents
    }
}

extension VerificationReport.Finding {
    init(_ error: JournalError) {
        // A head that is not the journal's says nothing of any file.
        self.init(
            segment: error.segment ?? (error.code == .headMismatch ? nil : error.path),
            bytes: error.bytes.map { [$0.lowerBound, $0.upperBound] },
            positions: error.positions.map { [$0.lowerBound, $0.upperBound] }, problem: error.code.rawValue, message: error.message)
    }

    init(_ finding: JournalFinding) {
        self.init(
            segment: finding.segment, bytes: finding.bytes.map { [$0.lowerBound, $0.upperBound] },
            positions: finding.positions.map { [$0.lowerBound, $0.upperBound] }, problem: finding.problem, message: finding.message)
    }
}
