internal import Locking

extension Journal {
    /// Returns the chain value after a position if a commit ends there, otherwise nil.
    ///
    /// - Throws: `outOfRange` (beyond ``lastPosition``), `closed`, `damaged`, `ioFailed`.
    /// - Complexity: Reads from the last entry of the index at a commit header through the commit:
    ///   about 4 KiB before short commits, and up to several commits before long ones. Reads
    ///   nothing for the last position and for the end of a segment.
    public func chain(at position: Position) throws(JournalError) -> UInt64? {
        let head = try head(at: position)
        return head.position == position ? head.chain : nil
    }

    /// Returns the journal's head at the end of the commit that contains a position.
    ///
    /// - Throws: The errors of ``chain(at:)``.
    /// - Complexity: The same as ``chain(at:)``.
    public func head(at position: Position) throws(JournalError) -> JournalHead {
        if position == 0 { return JournalHead(journal: id, position: 0, chain: Chain.start(id)) }
        let place = try withPublishedState { (published) throws(JournalError) -> ChainLocation? in
            if let chain = published.chain(after: position) { return .known(chain) }
            guard try published.isWritten(position...position) else { return nil }
            if position >= published.active.header.firstPosition {
                return .active(published.activeWithoutIndex, published.active.commit(before: position))
            }
            let (start, next) = published.sealedSegment(at: position)
            return .sealed(start, next)
        }
        switch place {
        case .known(let chain): return JournalHead(journal: id, position: position, chain: chain)
        case .active(let segment, let start): return try readHead(at: position, in: segment, from: start)
        case .sealed(let start, let next):
            let segment = try sealedSegments.segment(from: start, to: next)
            return try readHead(at: position, in: segment, from: segment.commit(before: position))
        }
    }

    /// Whether the journal contains the history that a head names.
    ///
    /// This is the case if the ids are equal, a commit ends at the head's position, and the chain
    /// values there are equal. A position beyond the end returns false.
    ///
    /// - Throws: `closed`, `damaged`, `ioFailed`.
    public func contains(_ head: JournalHead) throws(JournalError) -> Bool {
        guard head.journal == id, head.position <= lastPosition else { return false }
        return try chain(at: head.position) == head.chain
    }

    private enum ChainLocation {
        case known(UInt64)
        case active(Segment, SparseIndex.Entry?)
        case sealed(SegmentStart, SegmentStart)
    }

    /// Reads the header of the commit that contains a position.
    private func readHead(at position: Position, in segment: Segment, from start: SparseIndex.Entry?)
        throws(JournalError) -> JournalHead
    {
        guard let start else { throw noCommit(at: position, segment) }
        var finder = CommitFinder(position: position)
        var reader = CommitReader(of: position...position, in: segment, from: start)
        if case .damaged(let problem) = try reader.read(&finder) {
            throw problem.error(in: segment.name, of: directory)
        }
        guard let commit = finder.commit else { throw noCommit(at: position, segment) }
        return JournalHead(journal: id, position: commit.lastPosition, chain: commit.chain)
    }

    private func noCommit(at position: Position, _ segment: Segment) -> JournalError {
        JournalError(
            .damaged, "No commit contains the position.", path: directory.file(segment.name), segment: segment.name,
            positions: position...position)
    }
}

extension Segment {
    /// The index entry from which to scan for the commit that contains a position.
    ///
    /// Returns nil if the index is empty.
    fileprivate func commit(before position: Position) -> SparseIndex.Entry? {
        index.commitEntry(before: position - header.firstPosition)
    }
}

extension PublishedState {
    /// The chain value after the end of the journal or of a sealed segment, without a read.
    ///
    /// Returns nil for any other position.
    fileprivate func chain(after position: Position) -> UInt64? {
        if isClosed { return nil }
        if position == lastPosition { return lastChain }
        if active.header.firstPosition == position + 1 { return active.header.chain }
        guard !sealedStarts.isEmpty, position < active.header.firstPosition else { return nil }
        let next = sealedSegment(at: position).next
        return next.position == position + 1 ? next.chain : nil
    }
}

/// Finds the header of the commit that contains a position.
private struct CommitFinder: CommitVisitor {
    let position: Position
    var commit: CommitHeader?

    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool {
        if header.firstPosition <= position { commit = header }
        return true
    }
}
