public import EventJournal
import Locking

extension ChatStore {
    /// The error that stopped the store, or `closed`; nil while it runs.
    ///
    /// Every command, query and follower of a stopped store throws it, because the log may have
    /// gone on without this store. A log stops after a failed write or sync, when another writer
    /// has taken it over, and when it has moved, was set back or was removed. An outage that passes
    /// stops no log. Open the store again to go on.
    public var failure: JournalError? { stopped.withLock { $0 } ?? log.failure }

    /// Throws ``failure`` if the store has stopped.
    func requireRunning() throws(ChatError) {
        if let failure { throw .journal(failure) }
    }

    /// Stops the store: every later command, query and follower throws the error.
    ///
    /// The first error stays. A log that has stopped needs no call, because ``failure`` asks it:
    /// this is for an error that the log itself does not know.
    package func stop(_ error: JournalError) {
        record(error)
        feed.end(with: .journal(error))
    }

    /// Keeps the first error.
    func record(_ error: JournalError) { stopped.withLock { if $0 == nil { $0 = error } } }

    /// Stops the store after an error of an append or a wait, unless the error changes nothing.
    func stopping(after error: JournalError) -> ChatError {
        if !leavesRunning(error.code) { stop(error) }
        return .journal(error)
    }

    private func leavesRunning(_ code: JournalError.Code) -> Bool {
        switch code {
        case .closed, .cancelled, .outOfRange, .readOnly: true
        // A reader has the whole history up to the move.
        case .moved: log.isReadOnly
        default: false
        }
    }
}
