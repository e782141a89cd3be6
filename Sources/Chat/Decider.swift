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

    /// Makes sure that the disk has room for what is in the commit and so many bytes, the most that some commands may add to it.
    ///
    /// - Returns: Whether there is room.
    /// - Throws: What else the log has to say.
    mutating func makeRoom(_ byteCount: Int, in log: any CommitLog) throws(JournalError) -> Bool {
        do {
            try log.reserve(draft.encodedByteCount + byteCount)
            return true
        } catch {
            guard error.code == .storageFull else { throw error }
            return false
        }
    }

    /// Puts an event into the commit, for which there is room.
    mutating func stage(_ event: Event) throws(JournalError) {
        encoder.encode(event)
        // A span of bytes as raw bytes is called unsafe for types with padding, which bytes have not.
        unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
    }
}

/// The deciding state and the read models, behind a lock of their own, so that queries do not wait while a commit is written.
///
/// They may run ahead of the disk; queries are asked as of the durable position.
struct Models {
    var value: ReadModels
    var isClosed = false
}
