import ChatDomain
import Columns
import EventJournal
import Locking
import Projections

/// The end of the roles of users who are erased.
extension ChatStore {
    /// Appends events until no erased user has a role in a thread or is an operator.
    ///
    /// - Throws: ``ChatError/erasureUnfinished(_:)`` if the disk is full; ``ChatError/journal(_:)``
    ///   if the journal has failed. The next erasure or opening completes it.
    func endRolesOfErasedUsers() throws(ChatError) {
        var isDone = false
        while !isDone {
            isDone = try decider.withLock { decider throws(ChatError) in
                try requireWritable(decider)
                try applyDecidedEvents(decider)
                decider.begin()
                var batch = EventBatch(from: decider.rules.head + 1)
                let contents = endRolesOfErasedUsers(&decider, into: &batch)
                if batch.count == 0 { return true }
                decider.batch = batch
                do throws(ChatError) {
                    _ = try append(contents, &decider)
                } catch {
                    // The order is durable, so that this is no rejection: the erasure is
                    // unfinished.
                    guard error.rejection?.code == .storageFull else { throw error }
                    throw .erasureUnfinished(JournalError(.storageFull, "The roles of erased users have not ended."))
                }
                return false
            }
        }
    }

    /// Adds the events that end the roles of erased users in at most
    /// ``RuleState/maximumSuccessionCount`` threads.
    ///
    /// The caller has applied every decided event to the read models. If the clock cannot be
    /// believed, the events have the time of the last one.
    ///
    /// - Parameter batch: Contains the orders of the same commit, if any.
    /// - Returns: The contents of the events.
    func endRolesOfErasedUsers(_ decider: inout Decider, into batch: inout EventBatch) -> [EventContent] {
        if batch.count == 0, decider.rules.erasures.isEmpty { return [] }
        let now = readTime(&decider).now
        let rules = decider.rules
        let count = batch.count
        withCurrentModels { models, _ in
            var erased = models.erasedUsers
            for row in 0..<count where batch.rows[row].kind == .userErased { erased.insert(batch.indexes[row].user) }
            for found in models.successions(of: erased, limit: RuleState.maximumSuccessionCount) {
                rules.endRole(
                    of: found.user, in: found.thread, successor: found.successor, models.identities, at: now,
                    into: &batch)
            }
            for user in models.operators(of: erased) {
                rules.endOperator(user, models.identities, at: now, into: &batch)
            }
        }
        return Array(repeating: .none, count: batch.count - count)
    }
}
