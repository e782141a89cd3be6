public import ChatDomain
import EventJournal

extension ChatStore {
    /// Returns a token that continues after a position, for example that of an appended event.
    ///
    /// A delivered event has its token already (`FollowedEvent.resumeToken`).
    ///
    /// - Parameter position: At most the last position that the store has applied; 0 to continue
    ///   with the first event.
    /// - Throws: ``ChatError/rejected(_:)`` with `invalidPosition` for a larger position;
    ///   ``ChatError/journal(_:)`` if the journal is closed or cannot be read.
    /// - Complexity: Reads one commit and about 4 KiB before it, or up to several commits before
    ///   long ones; O(1) without a read for the last position.
    public func resumeToken(after position: Position) throws(ChatError) -> ResumeToken {
        guard position <= applyDurableEvents() else { throw .rejected(.invalidPosition) }
        let head = try wrappingErrors(of: (log as? any HistoryLog)?.head(at: position)) ?? log.head
        return ResumeToken(after: position, in: head)
    }

    /// Throws if a token does not belong to the history of this store's log.
    ///
    /// For a server, which reports a wrong token before it begins a stream. A read-only store first
    /// reads what the writer has appended.
    ///
    /// - Throws: ``ChatError/foreignToken``, ``ChatError/futureToken`` or
    ///   ``ChatError/rolledBackToken``; ``ChatError/journal(_:)`` if the journal is closed or
    ///   cannot be read.
    /// - Complexity: Reads one commit, unless the token is that of the head.
    public func requireValid(_ token: ResumeToken) throws(ChatError) {
        do throws(ChatError) { try check(token) } catch {
            guard log.isReadOnly else { throw error }
            try refresh()
            try check(token)
        }
    }

    /// Throws if this store's log does not contain the history that a head names.
    ///
    /// - Throws: The errors of ``requireValid(_:)``.
    package func requireContained(_ head: JournalHead) throws(ChatError) {
        guard let token = ResumeToken(position: head.position, head: head) else { throw .foreignToken }
        try requireValid(token)
    }

    /// Throws if a token does not belong to the history of this store's log, as applied so far.
    ///
    /// A log that is not a `HistoryLog` knows only the chain value of its current head. A token of
    /// that head is compared completely; of an older head only the journal id and the position are
    /// checked.
    func check(_ token: ResumeToken) throws(ChatError) {
        guard token.journal == log.id else { throw .foreignToken }
        let head = log.head
        guard token.head.position <= head.position, token.position <= applyDurableEvents() else { throw .futureToken }
        let isContained = try wrappingErrors(of: (log as? any HistoryLog)?.contains(token.head))
        guard isContained ?? (token.head.position < head.position || token.head == head) else { throw .rolledBackToken }
    }
}
