public import EventJournal
import Locking
import Projections

extension ChatStore {
    /// The contents of the store and its activity since opening.
    ///
    /// The journal's figures, the command counts and the contents are three consistent groups, read
    /// one after another: concurrent commands may fall between them. The call does not wait for
    /// commands, nor for the log.
    ///
    /// - Complexity: O(*t*) in the number of threads.
    public var statistics: StoreStatistics {
        let (commands, head) = published.withLock { ($0.commands, $0.head) }
        let journal = journal?.statistics
        let checkpoints = checkpointer.flatMap { $0.options == nil ? nil : $0.statistics }
        let sections = currentSections
        let now = sections.viewpoint.position
        let threadCount = sections.threadSortKeys(sections.withSection { $0.threadScan() }).count
        return sections.withSection { models in
            StoreStatistics(
                journal: journal, userCount: models.userCount(asOf: now), threadCount: threadCount,
                messageCount: models.messageCount(asOf: now), replyCount: models.replyCount(asOf: now),
                commands: commands,
                pendingEventCount: Int(clamping: head - min(now, head)),
                unattendedReportCount: models.unattendedReportCount,
                checkpoints: checkpoints)
        }
    }

    /// Whether the log has events of a newer version, so that every command throws
    /// ``ChatError/newerEvents``.
    package var hasNewerEvents: Bool { decider.withLock { $0.rules.hasUnknownEvents } }

    /// What the log knows of the machines that have it; nil for a journal in files.
    package var logContact: LogContact? { (log as? any RemoteLog)?.contact }

    /// The number of posts with open reports that reach no user, for the host program.
    ///
    /// Their threads have no owner and no moderator, and the community has no operator; erased
    /// users do not count. `ChatCommand.grantOperator(user:)` makes a user an operator.
    ///
    /// - Complexity: O(*n*) in the number of threads with open reports, and of those who moderate
    ///   them or ever were operators.
    public var unattendedReportCount: Int { withCurrentModels { models, _ in models.unattendedReportCount } }

    /// Returns the segments of the journal, in order; empty if the log is not a `Journal`.
    ///
    /// - Throws: ``ChatError/journal(_:)`` if a segment cannot be read.
    /// - Complexity: O(*n*) in the number of segments.
    public func segments() throws(ChatError) -> [SegmentStatistics] {
        try wrappingErrors(of: journal?.segments() ?? [])
    }
}

extension ChatStore {
    /// Verifies the sealed segments of the journal in the background, again and again, until the
    /// store is closed.
    ///
    /// Does nothing on a log that is not a `Journal`. The time and the result of the last pass are
    /// kept in the journal's directory: ``scrubProgress``.
    ///
    /// - Parameters:
    ///   - options: The read rate and the pause between passes.
    ///   - report: Receives each finding, on a thread of the journal.
    public func startScrubbing(
        _ options: ScrubOptions = ScrubOptions(), _ report: @escaping @Sendable (JournalFinding) -> Void
    ) {
        journal?.startScrubbing(options, report)
    }

    /// The progress of scrubbing; nil if the log is not a `Journal`.
    public var scrubProgress: ScrubProgress? { journal?.scrubProgress }
}
