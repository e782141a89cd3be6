import ChatDomain
import EventJournal
import Projections

/// What deciding needs beside the state, behind the lock that makes commands one after another: the buffers of the commit.
struct Decider: ~Copyable {
    var encoder = EventEncoder()
    var draft = CommitDraft()
    var commands = CommandStatistics()
    /// Why no more commands are taken: an append failed after the state had run ahead, or never worked.
    var failure: JournalError?
    /// The position from which on a checkpoint is due.
    var nextCheckpoint: Position

    init(nextCheckpoint: Position) { self.nextCheckpoint = nextCheckpoint }

    /// Puts the events of one command into the commit, and makes sure that the disk has room for all of it.
    ///
    /// - Returns: Whether there is room; if not, the commit is as before.
    /// - Throws: What else the log has to say.
    mutating func stage(_ events: [Event], reservingFrom log: any CommitLog) throws(JournalError) -> Bool {
        let before = draft.mark
        for event in events {
            encoder.encode(event)
            // A span of bytes as raw bytes is called unsafe for types with padding, which bytes have not.
            unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
        }
        do {
            try log.reserve(draft.encodedByteCount)
            return true
        } catch {
            guard error.code == .storageFull else { throw error }
            draft.removeRecords(after: before)
            return false
        }
    }
}

/// The deciding state and the read models, behind a lock of their own, so that queries do not wait while a commit is written.
///
/// They may run ahead of the disk; queries are asked as of the durable position.
struct Models {
    var value: ReadModels
    var isClosed = false
}
