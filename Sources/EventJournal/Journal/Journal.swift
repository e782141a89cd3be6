internal import Locking

/// An append-only journal of opaque records: commits in, positions out.
///
/// One `Journal` may write to a directory at a time (``open(_:options:)``); any number may read it, in this process and others
/// (``openReadOnly(_:options:)``). All methods may be called from any thread.
///
///     let journal = try Journal.open("neighbourhood.journal")
///     try journal.reserve(draft.encodedByteCount)
///     let positions = try journal.append(draft, expecting: journal.lastPosition)
///     try journal.waitUntilDurable(positions.upperBound)
///
/// `append` does not wait; `waitUntilDurable` waits, and everyone who waits shares one sync. A write or sync that fails stops the
/// journal: every later append and wait throws the same error, until the journal is opened again. Reading goes on.
public final class Journal: Sendable {
    /// The journal's identity.
    public let id: JournalID
    /// Whether the journal was opened for reading only.
    public let isReadOnly: Bool
    /// The durability that the journal is open with.
    public let durability: Durability
    /// What opening found and did.
    public let recovery: RecoveryReport

    let directory: JournalDirectory
    let sealed: SealedSegments
    let segmentSize: UInt64
    let idleDelay: Duration?
    /// The writer's lock, held during a write and, at the end of a segment, during syncs.
    let state: Lock<JournalState>
    /// What readers see.
    ///
    /// Taken alone or after ``state``, and never held during I/O: no reader waits for the writer.
    let published: Lock<PublishedState>
    /// Held by whoever syncs, before and around ``state``: syncs of one file must not overlap, because the system reports a failed one only
    /// once, and the other would take it for success.
    let sync: Lock<SyncState>
    let scrub = Lock(ScrubState())
    /// Held by whoever scrubs, before ``scrub``: whether the note in the directory has been read.
    let scrubber = Lock(false)
    let buffers = ReadBuffers()
    /// Where syncs are led for tasks, so that no thread of the cooperative pool blocks.
    let background: Background

    init(
        _ recovery: Recovery, directory: JournalDirectory, options: JournalOptions, durability: Durability, lock: (any StorageLock)?
    ) {
        id = recovery.id
        isReadOnly = lock == nil
        self.durability = durability
        self.recovery = recovery.report
        self.directory = directory
        sealed = SealedSegments(directory, recovery.id)
        segmentSize = min(max(options.segmentSize, JournalLimits.segmentBytes.lowerBound), JournalLimits.segmentBytes.upperBound)
        idleDelay = options.idleDelay
        background = Background("EventJournal.sync", options.executor)
        let initial = JournalState(recovery, durability, options.entropy)
        published = Lock(PublishedState(initial))
        state = Lock(initial)
        sync = Lock(SyncState(slotFile: recovery.slots.file, sequence: recovery.slots.newest.sequence, lock: lock))
    }

    /// The last position that is durable under the journal's mode; what is beyond it must not be shown.
    ///
    /// 0 when there is none.
    public var durablePosition: Position { published.withLock { $0.durablePosition } }

    /// The last position appended.
    ///
    /// 0 when there is none.
    public var lastPosition: Position { published.withLock { $0.lastPosition } }

    /// The token of everything that is durable under the journal's mode.
    ///
    /// See ``JournalOptions/expectedHead``.
    public var head: JournalHead {
        let (position, chain) = published.withLock { ($0.durablePosition, $0.durableChain) }
        return JournalHead(journal: id, position: position, chain: chain)
    }
}

extension Journal {
    /// Changes the writer's state, shows the result to readers before the next change, and then wakes the followers for whom there is more.
    func change<Result: Sendable, Failure: Error>(_ body: (inout JournalState) throws(Failure) -> Result) throws(Failure) -> Result {
        var rest: PublishedState.Rest?
        defer { rest?.wakeups?.deliver() }
        return try state.withLock { (state) throws(Failure) -> Result in
            defer { rest = published.withLock { $0.update(from: state) } }
            return try body(&state)
        }
    }
}
