public import ChatDomain
public import EventJournal

/// The result of verifying a whole journal.
public struct VerificationReport: Hashable, Sendable, Codable {
    /// Whether the verification found no fault.
    public var isValid: Bool { findings.isEmpty }
    /// The last position verified; after damage that ends the verification, the last one before.
    ///
    /// Earlier records can have findings.
    public var position: Position
    /// The faults, grouped by check, each group in ascending order: bytes, tree, history and
    /// erasures, expected head.
    public var findings: [JournalFinding]
    /// The number of events that a repair recorded as lost.
    ///
    /// Lost events are not findings, and the JSON form omits the number.
    public var lostEventCount = 0
    /// The threads that may have lost an event that made them more private, ascending by id.
    ///
    /// They are not findings, and the JSON form omits them: the tool prints each on a line.
    public var threadsInDoubt: [ThreadInDoubt] = []
    /// The number of events whose content this copy does not have, although no event orders its
    /// erasure: that of an import of such events.
    ///
    /// They are not findings, and the JSON form omits the number.
    public var withheldEventCount: UInt64 = 0
    /// The events that the rules of an earlier version permitted and those of this version do not.
    ///
    /// They are not findings. The JSON form omits an empty list.
    public var earlierRules: [EarlierRuleNote] = []
    /// The latest recorded time since the last correction of the clock; nil without events.
    ///
    /// The JSON form omits it.
    public var lastRecordedAt: Timestamp?
    /// What an operator should look into, although it is no finding: `clockAhead` if the last
    /// recorded time is ahead of the system clock, which is wrong, or was.
    ///
    /// The JSON form omits an empty list.
    public var warnings: [String] = []

    private enum CodingKeys: String, CodingKey {
        case isValid = "ok"
        case position, findings, earlierRules, warnings
    }

    init(position: Position = 0, findings: [JournalFinding] = []) {
        self.position = position
        self.findings = findings
    }

    /// Decodes a report; the numbers of lost and withheld events are 0.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        position = try container.decode(Position.self, forKey: .position)
        findings = try container.decode([JournalFinding].self, forKey: .findings)
        earlierRules = try container.decodeIfPresent([EarlierRuleNote].self, forKey: .earlierRules) ?? []
        warnings = try container.decodeIfPresent([String].self, forKey: .warnings) ?? []
    }

    /// Encodes the report, for example as `{"ok":true,"position":12,"findings":[]}`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(isValid, forKey: .isValid)
        try container.encode(position, forKey: .position)
        try container.encode(findings, forKey: .findings)
        if !earlierRules.isEmpty { try container.encode(earlierRules, forKey: .earlierRules) }
        if !warnings.isEmpty { try container.encode(warnings, forKey: .warnings) }
    }
}

/// The events of a history that follow an earlier rule.
public struct EarlierRuleNote: Hashable, Sendable, Codable {
    /// The rule.
    public var rule: EarlierRule
    /// The number of the events.
    public var eventCount = 0
    /// The position of the first of the events.
    public var first: Position = 0
    /// The position of the last of the events.
    public var last: Position = 0

    private enum CodingKeys: String, CodingKey {
        case rule, first, last
        case eventCount = "events"
    }

    init(_ rule: EarlierRule) { self.rule = rule }

    mutating func add(_ position: Position) {
        if eventCount == 0 { first = position }
        (eventCount, last) = (eventCount + 1, position)
    }
}

extension VerificationReport {
    /// What of importance to people may be among the lost events: what a person, a moderator or the
    /// host ended.
    ///
    /// It is listed, and not undone: the remaining events apply.
    public var possibleLosses: [EventKind] {
        lostEventCount == 0
            ? []
            : [
                .threadLeft, .memberRemoved, .userBanned, .userMuted, .userBlocked, .messageEdited, .replyEdited,
                .messageRetracted,
                .replyRetracted, .messageRemoved, .replyRemoved, .operatorRevoked, .roleSet, .threadClosed,
                .threadLocked, .invitationRevoked, .profileSet,
            ]
    }
}

extension ChatStore {
    /// Verifies a journal without writing: its bytes, its records and its history.
    ///
    /// The bytes include checksums, chain and order. Every record must be an event, and the events
    /// must form a history that the rules allow.
    ///
    /// - Parameters:
    ///   - directory: The path of the journal's directory; another process may be writing the
    ///     journal.
    ///   - options: The options for opening the journal. With an expected head, a different journal
    ///     or an earlier state of this one is a finding.
    ///   - treeHead: A head that the journal's tree must have at that size; an auditor keeps its
    ///     text, the checkpoint. A different tree, or an end before that size, is the finding
    ///     `headMismatch`.
    ///   - deep: Whether to rebuild the read models as well, and to compare them with the state of
    ///     the rules and with the checkpoint that an opening would use (`checkpointDiffers`). The
    ///     checksums of all checkpoints and of the tree file are verified too (`checkpointDamaged`,
    ///     `treeDamaged`), except in a last page of that file, which a power failure can tear;
    ///     these files can be removed, because the records contain everything
    ///     (`JournalFinding.isRebuildable`).
    ///   - ledger: A ledger of erasures from another place. Content that it lists and the journal
    ///     has is the finding `ledgerContentPresent`. The ledger beside the journal is always
    ///     compared.
    ///   - progress: Called after every 1,024 events and after the last one, with the verified
    ///     position and the last position.
    /// - Returns: The findings. A journal that cannot be opened because of damage is a finding as
    ///   well.
    /// - Throws: ``ChatError/journal(_:)`` if the journal does not exist or cannot be read at all;
    ///   nothing was verified then.
    public static func verify(
        _ directory: String, options: JournalOptions = JournalOptions(), expecting treeHead: TreeHead? = nil,
        deep: Bool = false,
        ledger: ErasureLedger = ErasureLedger(),
        progress: (_ position: Position, _ last: Position) -> Void = { _, _ in }
    ) throws(ChatError) -> VerificationReport {
        var report = VerificationReport()
        var unexpecting = options
        unexpecting.expectedHead = nil
        do throws(JournalError) {
            try Journal.verify(directory, options: unexpecting) { report.findings.append($0) }
            let journal = try Journal.openReadOnly(directory, options: unexpecting)
            // The verification reports what keeps the journal from being opened or read.
            _ = try? pendingContent(of: journal)
            try report.checkHistory(of: journal, expecting: treeHead, deep: deep, ledger, progress)
        } catch {
            guard error.code == .damaged else { throw .journal(error) }
            // The journal is too damaged to open. Everything before the first damage is valid.
            if report.isValid { report.findings.append(JournalFinding(opening: error)) }
            report.position = max(1, report.findings.compactMap { $0.positions?.lowerBound }.min() ?? 1) - 1
        }
        if options.expectedHead != nil { try report.checkExpectedHead(directory, against: options) }
        return report
    }

    /// Verifies an open log: its stored records, and its history.
    ///
    /// Otherwise the same as ``verify(_:options:expecting:deep:ledger:progress:)``. The log says
    /// what it checks of its stored form. A log without a Merkle tree cannot be compared with a
    /// tree head.
    ///
    /// - Parameters:
    ///   - log: The log, which is open for reading.
    ///   - head: A head that the log must contain; otherwise the finding is `headMismatch`.
    ///   - treeHead: A head that the log's tree must have at that size.
    ///   - deep: Whether to rebuild the read models as well.
    ///   - ledger: A ledger of erasures from another place.
    ///   - progress: Called after every 1,024 events and after the last one.
    /// - Throws: ``ChatError/journal(_:)`` if the log cannot be read; with `notAJournal` for a tree
    ///   head and a log without a tree.
    public static func verify(
        log: any CommitLog, containing head: JournalHead? = nil, expecting treeHead: TreeHead? = nil,
        deep: Bool = false,
        ledger: ErasureLedger = ErasureLedger(),
        progress: (_ position: Position, _ last: Position) -> Void = { _, _ in }
    ) throws(ChatError) -> VerificationReport {
        var report = VerificationReport()
        do throws(JournalError) {
            if let log = log as? any VerifiableLog { try log.verifyRecords { report.findings.append($0) } }
            // The verification reports what keeps the log from being read.
            if let log = log as? any ErasableLog { _ = try? pendingContent(of: log) }
            try report.checkHistory(of: log, expecting: treeHead, deep: deep, ledger, progress)
            if let head { try report.checkHead(head, of: log) }
        } catch {
            guard error.code == .damaged else { throw .journal(error) }
            if report.isValid { report.findings.append(JournalFinding(opening: error)) }
            report.position = max(1, report.findings.compactMap { $0.positions?.lowerBound }.min() ?? 1) - 1
        }
        return report
    }
}

extension VerificationReport {
    /// Verifies that the journal contains the expected head.
    fileprivate mutating func checkExpectedHead(_ directory: String, against options: JournalOptions) throws(ChatError)
    {
        do throws(JournalError) {
            _ = try Journal.openReadOnly(directory, options: options)
        } catch {
            switch error.code {
            case .headMismatch: findings.append(JournalFinding(opening: error))
            case .damaged: break  // Already reported.
            default: throw .journal(error)
            }
        }
    }

    /// Verifies that a log contains the expected head.
    fileprivate mutating func checkHead(_ head: JournalHead, of log: any CommitLog) throws(JournalError) {
        if try (log as? any HistoryLog)?.contains(head) ?? (log.head == head) { return }
        let message = "The log does not contain the expected head, at position \(head.position)."
        findings.append(
            JournalFinding(opening: JournalError(.headMismatch, message, positions: head.position...head.position)))
    }

    /// Verifies that every record is an event, that the rules allow the history, and that its tree
    /// is the expected one.
    fileprivate mutating func checkHistory(
        of log: any CommitLog, expecting treeHead: TreeHead?, deep: Bool, _ ledger: ErasureLedger,
        _ progress: (_ position: Position, _ last: Position) -> Void
    ) throws(JournalError) {
        let last = log.durablePosition
        let treeLog = log as? any RecordTreeLog
        if treeHead != nil, treeLog == nil { throw JournalError(.notAJournal, "The log has no Merkle tree.") }
        var tree = treeLog.map { TreeVerification($0, expecting: treeHead) }
        if deep {
            findings += try (log as? any CheckpointLog)?.checkpointFindings() ?? []
            findings += (log as? Journal)?.storedTreeFindings() ?? []
        }
        guard last > 0 else {
            findings += tree?.findings ?? []
            return
        }
        var history = HistoryVerification(
            checkpoint: deep ? (log as? any CheckpointLog).flatMap { CheckpointVerification($0) } : nil, isDeep: deep,
            ReplayEstimate(log, 1...last))
        func add(_ position: Position, _ state: RecordContentState, _ kept: RawSpan, _ erasable: RawSpan) -> Bool {
            history.addRecord(position, state, kept, erasable)
            if position == last || position.isMultiple(of: Position(HistoryVerification.batchSize)) {
                progress(position, last)
            }
            return true
        }
        defer { findings += history.findings }
        do throws(JournalError) {
            if let treeLog {
                try treeLog.forEachLeaf(in: 1...last) { position, state, kept, erasable, leaf in
                    tree?.add(leaf)
                    return add(position, state, kept, erasable)
                }
            } else {
                try log.forEachRecord(in: 1...last, add)
            }
        } catch {
            history.verifyBatch()
            throw error
        }
        history.finish(log)
        if let log = log as? any ErasableLog {
            do throws(ChatError) { withheldEventCount = try history.verifyErasures(log, ledger) } catch {
                // An event that does not decode is a finding already.
                if case .journal(let error) = error { throw error }
            }
        }
        findings += tree?.findings ?? []
        position = history.position
        lostEventCount = history.lostEventCount
        threadsInDoubt = history.threadsInDoubt
        earlierRules = history.earlierRules
        lastRecordedAt = history.lastRecordedAt
        if history.lastRecordedAt > SystemClock().now() { warnings = ["clockAhead"] }
    }
}

extension JournalFinding {
    fileprivate init(opening error: JournalError) {
        // A wrong head is not a fault of a particular file.
        self.init(
            error.code.rawValue, error.message,
            segment: error.segment ?? (error.code == .headMismatch ? nil : error.path),
            bytes: error.bytes, positions: error.positions)
    }
}
