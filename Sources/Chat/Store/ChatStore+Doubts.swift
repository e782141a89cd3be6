public import ChatDomain
import EventJournal
import Locking
import Projections

/// Threads in doubt after a repair; for the host only.
extension ChatStore {
    /// Returns the threads that may have lost an event that made them more private, ascending by
    /// id.
    ///
    /// - Complexity: O(*n*) in the number of threads, if any event is lost; otherwise O(1).
    public func threadsInDoubt() -> [ThreadInDoubt] {
        decider.withLock { decider in readSide.withIdentities { decider.rules.threadsInDoubt($0) } }
    }

    /// Sets the policy of a thread in doubt, which ends the doubt.
    ///
    /// The event `threadPolicySet` names the owner who joined first of those who are left or,
    /// without one, the member who did. The call blocks the thread.
    ///
    /// - Parameters:
    ///   - thread: A thread of ``threadsInDoubt()``.
    ///   - policy: Who may join it from now on.
    ///   - history: The posts that users who join from now on may read; nil for those after their
    ///     join.
    /// - Returns: The position of the event.
    /// - Throws: ``ChatError/rejected(_:)`` with `unknownThread` if the thread is not in doubt,
    ///   with `notAMember` if nobody is left in it, with `invalidPolicy` if it cannot have the
    ///   policy: a direct thread, and one that may be direct because its opening is lost and it has
    ///   no owner, take none. ``ChatError/journal(_:)`` if the store has stopped or is open for
    ///   reading only; ``ChatError/newerEvents``.
    @discardableResult
    public func setPolicy(ofThreadInDoubt thread: ThreadID, _ policy: ThreadPolicy, history: ThreadHistory? = nil)
        throws(ChatError)
        -> Position
    {
        try requireRunning()
        guard !log.isReadOnly else { throw .journal(JournalError(.readOnly, "The store is open for reading only.")) }
        return try decider.withLock { decider throws(ChatError) in
            try requireWritable(decider)
            try applyDecidedEvents(decider)
            decider.begin()
            let reading = readTime(&decider)
            if let rejection = reading.rejection { throw .rejected(rejection) }
            let rules = decider.rules
            var batch = EventBatch(from: rules.head + 1)
            try withCurrentModels { (models, position) throws(ChatError) in
                guard let index = models.index(ofThread: thread, asOf: position), rules.isInDoubt(index) else {
                    throw .rejected(.unknownThread)
                }
                guard let user = models.firstOwnerOrMember(of: index) else { throw .rejected(.notAMember) }
                do throws(Rejection) {
                    try rules.settle(index, policy, history, as: user, models.identities, at: reading.now, into: &batch)
                } catch {
                    throw .rejected(error)
                }
            }
            decider.batch = batch
            return try append([.none], &decider).upperBound
        }
    }
}
