/// A journal as it was when its backup began: segments that only grow, read up to where they ended then.
struct BackupSource {
    let journal: JournalID
    let directory: JournalDirectory
    /// All segments; the end of the last one may lie beyond the limit.
    let segments: [SegmentReference]
    /// Opened anew, so that a generation that has replaced another is met.
    let sealed: SealedSegments
    /// The last position that may be copied.
    let limit: Position
    /// What was durable.
    let head: JournalHead

    /// The segments that hold anything to copy, and the first one in any case.
    var wanted: ArraySlice<SegmentReference> { segments.prefix { $0.start.position <= max(1, limit) } }

    /// Opens a segment, which is read up to where it ended when the backup began.
    func load(_ segment: SegmentReference) throws(JournalError) -> Segment { try segment.load(sealed) }

    /// The chain value after the record at a position, which does not lie beyond the limit; nil when no commit ends there.
    ///
    /// - Complexity: Reads at most one segment, up to there.
    func chain(after position: Position) throws(JournalError) -> UInt64? {
        if position == head.position { return head.chain }
        if let next = segments.first(where: { $0.start.position == position + 1 }) { return next.start.chain }
        guard let segment = segments.last(where: { $0.start.position <= position }) else { return nil }
        var visitor = BoundaryVisitor(limit: position)
        let walk = try walk(try load(segment), from: nil, &visitor)
        return walk.position == position + 1 ? walk.chain : nil
    }

    /// Copies the commits of a segment up to the limit, from where the writer is.
    ///
    /// - Throws: `damaged` with the place, when the bytes are not what was written; what the writer throws.
    func copy(_ segment: Segment, to writer: inout SegmentWriter) throws(JournalError) {
        var visitor = CopyingVisitor(writer: writer, limit: limit)
        defer { writer = visitor.writer }
        _ = try walk(segment, from: writer, &visitor)
        if let failure = visitor.failure { throw failure }
    }

    private func walk<Visitor: CommitVisitor>(
        _ segment: Segment, from writer: SegmentWriter?, _ visitor: inout Visitor
    ) throws(JournalError) -> CommitWalk {
        var window = FileWindow(segment.file)
        var walk = CommitWalk(
            seed: segment.framingSeed, end: segment.end, from: writer?.end ?? UInt64(SegmentHeader.size),
            position: (writer?.lastPosition).map { $0 + 1 } ?? segment.header.firstPosition, chain: writer?.chain ?? segment.header.chain)
        let path = directory.file(segment.name)
        let outcome: CommitWalk.Outcome
        do throws(JournalError) {
            outcome = try walk.run(&window, bound: segment.end, &visitor)
        } catch {
            throw error.inSegment(segment.name)
        }
        switch outcome {
        case .bad(let problem):
            throw JournalError(
                .damaged, problem.message, path: path, segment: segment.name, bytes: problem.bytes, positions: problem.positions)
        case .end where walk.offset < segment.end:
            throw JournalError(
                .damaged, "A commit that was there has gone.", path: path, segment: segment.name, bytes: walk.offset..<segment.end,
                positions: walk.position...max(walk.position, segment.lastPosition))
        case .end, .sealed, .stopped, .done, .need: return walk
        }
    }
}

/// Ends a walk before the first commit that goes beyond a position.
private struct BoundaryVisitor: CommitVisitor {
    let limit: Position

    mutating func begin(_ header: CommitHeader, at offset: UInt64) -> Bool { header.lastPosition <= limit }

    mutating func record(_ place: RecordPlace, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool { true }

    mutating func end(_ header: CommitHeader, at offset: UInt64) {}
}

/// Hands the commits up to a position to a writer.
private struct CopyingVisitor: CommitVisitor {
    var writer: SegmentWriter
    let limit: Position
    var failure: JournalError?

    mutating func begin(_ header: CommitHeader, at offset: UInt64) -> Bool { failure == nil && header.lastPosition <= limit }

    mutating func record(_ place: RecordPlace, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool {
        writer.add(bytes, layout)
        return true
    }

    mutating func end(_ header: CommitHeader, at offset: UInt64) {
        do throws(JournalError) { try writer.finishCommit() } catch { failure = error }
    }
}
