/// What readers see of a journal: what has been appended, and where to read what has been written.
///
/// Its lock is not the writer's and is never held during I/O.
struct PublishedState {
    /// Where the sealed segments begin, each of which ends before the next.
    private(set) var sealedStarts: [SegmentStart]
    /// The last segment, as far as it has been written.
    ///
    /// Whoever copies it out of the lock leaves the index behind (``activeWithoutIndex``): the next change of one that is shared would copy all of it.
    private(set) var active: Segment
    /// The last position appended; beyond that of ``active`` commits are only in memory.
    private(set) var lastPosition: Position
    private(set) var lastChain: UInt64
    private(set) var durablePosition: Position
    private(set) var durableChain: UInt64
    private(set) var syncedPosition: Position
    private(set) var syncedChain: UInt64
    /// Why the journal has stopped.
    private(set) var failure: JournalError?
    private(set) var isClosed = false
    /// Subscribers; they never lead a sync.
    var followers = WaitQueue()

    init(_ state: JournalState) {
        (sealedStarts, active) = (state.sealedStarts, state.active)
        (lastPosition, lastChain) = (state.lastPosition, state.lastChain)
        (durablePosition, durableChain) = (state.durablePosition, state.durableChain)
        (syncedPosition, syncedChain) = (state.syncedPosition, state.syncedChain)
    }

    /// What a change leaves to be done outside the locks: to wake followers, and to release a segment, which closes its file.
    final class Rest: Sendable {
        let wakeups: WaitQueue.Wakeups?
        let replaced: Segment?

        init(_ wakeups: WaitQueue.Wakeups?, replaced: Segment?) { (self.wakeups, self.replaced) = (wakeups, replaced) }
    }

    /// Shows what the writer has changed; returns what is left to be done, if anything.
    ///
    /// - Complexity: O(1), amortised, and linear in the followers; after a refresh also in the new entries of the index.
    mutating func update(from state: JournalState) -> Rest? {
        (lastPosition, lastChain) = (state.lastPosition, state.lastChain)
        (durablePosition, durableChain) = (state.durablePosition, state.durableChain)
        (syncedPosition, syncedChain) = (state.syncedPosition, state.syncedChain)
        if state.hasFailed { failure = state.failure }
        // The segment of the writer ends behind the commits that are only in memory.
        if state.pending.isEmpty {
            // An empty segment may also give way to another one that begins at the same position.
            if active.isEmpty || active.header.firstPosition != state.active.header.firstPosition { return replaceSegment(from: state) }
            (active.end, active.lastPosition) = (state.active.end, state.active.lastPosition)
            active.index.extend(to: state.active.index)
        }
        return followers.isEmpty ? nil : Rest(takeFollowers(), replaced: nil)
    }

    private mutating func replaceSegment(from state: JournalState) -> Rest {
        let replaced = active
        (sealedStarts, active) = (state.sealedStarts, state.active)
        return Rest(takeFollowers(), replaced: replaced)
    }

    /// Ends reading; returns the followers to wake outside the lock.
    mutating func close() -> WaitQueue.Wakeups? {
        isClosed = true
        return takeFollowers()
    }

    /// Takes out the followers who have something to be told, for delivery outside the lock.
    private mutating func takeFollowers() -> WaitQueue.Wakeups? {
        followers.isEmpty ? nil : followers.take(durable: durablePosition, failure: isClosed ? .closedLog : failure)
    }

    /// The result of a wait for more after a position; nil when it has to wait.
    func more(after position: Position, in directory: JournalDirectory) -> Result<Position, JournalError>? {
        if durablePosition > position { return .success(durablePosition) }
        if isClosed { return .failure(.closedLog) }
        if let failure { return .failure(failure) }
        if position <= lastPosition { return nil }
        return .failure(
            JournalError(
                .outOfRange, "The journal's last position is \(lastPosition).", path: directory.path, positions: position...position))
    }

    var activeWithoutIndex: Segment {
        var segment = active
        segment.index = SparseIndex()
        return segment
    }

    /// Whether the segments hold all of some positions; false when commits that are only in memory do.
    ///
    /// - Throws: `closed`, `outOfRange`.
    func isWritten(_ positions: ClosedRange<Position>, in directory: JournalDirectory) throws(JournalError) -> Bool {
        if isClosed { throw JournalError(.closed, "The journal has been closed.", path: directory.path) }
        guard positions.lowerBound >= 1, positions.upperBound <= lastPosition else {
            throw JournalError(
                .outOfRange, "The journal holds the positions from 1 to \(lastPosition).", path: directory.path, positions: positions)
        }
        return positions.upperBound <= active.lastPosition
    }

    /// The sealed segment that holds a position, and the segment after it.
    func sealed(at position: Position) -> (start: SegmentStart, next: SegmentStart) {
        var (low, high) = (0, sealedStarts.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if sealedStarts[middle].position <= position { low = middle } else { high = middle - 1 }
        }
        return (sealedStarts[low], low + 1 < sealedStarts.count ? sealedStarts[low + 1] : SegmentStart(active.header))
    }
}
