public import EventJournal
import Locking
import Projections

extension ChatStore {
    /// What the store holds and has done since it was opened.
    ///
    /// The journal's numbers are of one moment, so are those of the commands, and those of what is shown; commands that run meanwhile may
    /// come between the three. Waits for the store's locks, which are held for one commit at a time, and at the end of a segment for its
    /// sync.
    ///
    /// - Complexity: O(*t*) in the number of threads.
    public var statistics: StoreStatistics {
        let (commands, head) = decider.withLock { ($0.commands, $0.rules.head) }
        let journal = journal?.statistics
        let checkpoints = checkpointer.flatMap { $0.options == nil ? nil : $0.statistics }
        let sections = presentSections
        let now = sections.view.position
        let threads = sections.places(sections.ask { $0.scanOfThreads() }).count
        return sections.ask { models in
            StoreStatistics(
                journal: journal, users: models.userCount(asOf: now), threads: threads,
                messages: models.messageCount(asOf: now), replies: models.replyCount(asOf: now), commands: commands,
                eventsWaiting: Int(clamping: head - min(now, head)), checkpoints: checkpoints)
        }
    }

    /// The segments of the journal under the store, in order; none where the log is not a ``EventJournal/Journal``.
    ///
    /// - Throws: ``ChatError/journal(_:)`` if one of them cannot be read.
    /// - Complexity: Linear in the number of segments.
    public func segments() throws(ChatError) -> [SegmentStatistics] {
        try wrapping { () throws(JournalError) in try journal?.segments() ?? [] }
    }
}
