import ChatDomain
import EventJournal
import Projections

/// What deciding needs, behind the store's lock: the state, which may run ahead of the disk, and the buffers of the commit.
struct Decider: ~Copyable {
    var state: ChatState
    var encoder = EventEncoder()
    var draft = CommitDraft()
    var commands = CommandStatistics()
    /// Why no more commands are taken: an append failed after the state had run ahead, or never worked.
    var failure: JournalError?

    init(state: consuming ChatState) { self.state = state }

    /// Puts the events of one command into the commit, and makes sure that the disk has room for all of it.
    ///
    /// - Returns: Whether there is room; if not, the commit is as before.
    /// - Throws: What else the journal has to say.
    mutating func stage(_ events: [Event], reservingFrom journal: Journal) throws(JournalError) -> Bool {
        let before = draft.mark
        for event in events {
            encoder.encode(event)
            // A span of bytes as raw bytes is called unsafe for types with padding, which bytes have not.
            unsafe try draft.append(kept: encoder.kept.span.bytes, erasable: encoder.erasable.span.bytes)
        }
        do {
            try journal.reserve(draft.encodedByteCount)
            return true
        } catch {
            guard error.code == .storageFull else { throw error }
            draft.removeRecords(after: before)
            return false
        }
    }
}

/// The read models, and the events that wait until they are durable before they are shown.
struct Views {
    var models: ReadModels
    var isClosed = false
    private var pending: [RecordedEvent] = []
    private var shown = 0

    init(models: ReadModels) { self.models = models }

    /// How many events wait.
    var waitingCount: Int { pending.count - shown }

    mutating func add(_ events: [RecordedEvent]) { pending.append(contentsOf: events) }

    /// Shows everything up to a durable position.
    mutating func show(through position: Position) {
        while shown < pending.count, pending[shown].position <= position {
            models.apply(pending[shown].event, at: pending[shown].position)
            shown += 1
        }
        if shown == pending.count {
            pending.removeAll(keepingCapacity: true)
            shown = 0
        } else if shown > 4_096 {
            pending.removeFirst(shown)
            shown = 0
        }
    }
}
