import Primitives

/// The state that readers see: the last positions, and the segments to read from.
///
/// Its lock is separate from the writer's and is never held during I/O.
struct PublishedState {
    /// The path of the directory.
    private let path: String
    /// The starts of the sealed segments.
    ///
    /// Each segment ends before the next one starts.
    private(set) var sealedStarts: [SegmentStart]
    /// The last segment, up to its last written commit.
    ///
    /// Copy ``activeWithoutIndex`` out of the lock instead: the next change of a shared index would
    /// copy all of it.
    private(set) var active: Segment
    /// The last position appended.
    ///
    /// Commits beyond the last position of ``active`` are only in memory.
    private(set) var lastPosition: Position
    private(set) var lastChain: UInt64
    private(set) var durablePosition: Position
    private(set) var durableChain: UInt64
    /// The last position that is synced.
    ///
    /// In a journal that is open for reading it is the last position that is known, which the
    /// writer of a `.written` journal may not have synced.
    private(set) var syncedPosition: Position
    private(set) var syncedChain: UInt64
    /// The records whose content no read delivers, although the files may still have it.
    private(set) var hiddenContent = PositionSet()
    /// The error that stopped the journal, or that it has moved to another place.
    private(set) var failure: JournalError?
    private(set) var isClosed = false
    /// Subscribers; they never lead a sync.
    var followers = WaitQueue()

    init(_ state: JournalState) {
        path = state.path
        (sealedStarts, active) = (state.sealedStarts, state.active)
        (lastPosition, lastChain) = (state.lastPosition, state.lastChain)
        (durablePosition, durableChain) = (state.durablePosition, state.durableChain)
        (syncedPosition, syncedChain) = (state.syncedPosition, state.syncedChain)
    }

    /// Work left to do outside the locks: wake followers, and release a segment, which closes its
    /// file.
    final class DeferredWork: Sendable {
        let wakeups: WaitQueue.Wakeups?
        /// Held only so that its file closes outside the locks.
        let replaced: Segment?

        init(_ wakeups: WaitQueue.Wakeups?, replaced: Segment?) { (self.wakeups, self.replaced) = (wakeups, replaced) }
    }

    /// Publishes the writer's changes; returns the work left to do outside the locks.
    ///
    /// - Complexity: O(1) amortised, plus linear in the followers and, after a refresh, in the new
    ///   index entries.
    mutating func update(from state: JournalState) -> DeferredWork? {
        (lastPosition, lastChain) = (state.lastPosition, state.lastChain)
        (durablePosition, durableChain) = (state.durablePosition, state.durableChain)
        (syncedPosition, syncedChain) = (state.syncedPosition, state.syncedChain)
        if state.rejectsAppends { failure = state.failure ?? state.fence } else if failure != nil { failure = nil }
        // The writer's segment also counts commits that are only in memory, which readers cannot
        // read.
        if state.pending.isEmpty {
            // After a recovery, a new segment replaces an empty one and starts at the same
            // position.
            if active.isEmpty || active.header.firstPosition != state.active.header.firstPosition {
                return replaceSegment(from: state)
            }
            (active.end, active.lastPosition) = (state.active.end, state.active.lastPosition)
            active.index.extend(to: state.active.index)
        }
        return followers.isEmpty ? nil : DeferredWork(removeReadyFollowers(), replaced: nil)
    }

    private mutating func replaceSegment(from state: JournalState) -> DeferredWork {
        let replaced = active
        (sealedStarts, active) = (state.sealedStarts, state.active)
        return DeferredWork(removeReadyFollowers(), replaced: replaced)
    }

    /// Hides the content of these records, and of no others.
    mutating func setHiddenContent(_ positions: PositionSet) { hiddenContent = positions }

    /// Publishes the generations of the sealed segments after a file was replaced.
    mutating func setSealedStarts(_ starts: [SegmentStart]) { sealedStarts = starts }

    /// Ends reading; returns the followers to wake outside the lock.
    mutating func close() -> WaitQueue.Wakeups? {
        isClosed = true
        return removeReadyFollowers()
    }

    /// Removes the followers whose wait is over, for delivery outside the lock.
    private mutating func removeReadyFollowers() -> WaitQueue.Wakeups? {
        followers.isEmpty
            ? nil : followers.removeReady(durable: durablePosition, failure: isClosed ? .closedJournal() : failure)
    }

    var activeWithoutIndex: Segment {
        var segment = active
        segment.index = SparseIndex()
        return segment
    }

    /// Whether the segments contain all the positions; false when some of them are only in memory.
    ///
    /// - Throws: `closed`, `outOfRange`.
    func isWritten(_ positions: ClosedRange<Position>) throws(JournalError) -> Bool {
        if isClosed { throw JournalError.closedJournal(at: path) }
        guard positions.lowerBound >= 1, positions.upperBound <= lastPosition else {
            throw JournalError(
                .outOfRange, "The journal holds the positions from 1 to \(lastPosition).", path: path,
                positions: positions)
        }
        return positions.upperBound <= active.lastPosition
    }

    /// Returns the start of the sealed segment that contains a position, and of the next segment.
    func sealedSegment(at position: Position) -> (start: SegmentStart, next: SegmentStart) {
        let next = sealedStarts.dropFirst().partitioningIndex { $0.position > position }
        return (sealedStarts[next - 1], next < sealedStarts.count ? sealedStarts[next] : SegmentStart(active.header))
    }
}

extension PublishedState: LogReaderState {
    func durablePosition(after position: Position) throws(JournalError) -> Position? {
        if durablePosition > position { return durablePosition }
        if isClosed { throw .closedJournal() }
        if let failure { throw failure }
        if position > lastPosition { throw .position(position, after: lastPosition, path: path) }
        return nil
    }
}

extension JournalError {
    /// The error of a wait for a position that the journal does not have.
    static func position(_ position: Position, after last: Position, path: String) -> JournalError {
        JournalError(.outOfRange, "The journal's last position is \(last).", path: path, positions: position...position)
    }
}
