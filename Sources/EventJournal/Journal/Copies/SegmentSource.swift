/// The segments of a journal as of the start of a run of its backup.
///
/// The segments may grow during the run; they are read up to their ends at the start. The copy has
/// the same segments.
struct SegmentSource: BackupSource {
    let journal: JournalID
    private let place: JournalDirectory
    /// All segments; the end of the last one may be beyond the limit.
    private let segments: [SegmentReference]
    /// Opened separately from the journal's segments, to read segments that an erasure has
    /// replaced.
    private let sealed: SealedSegments
    let limit: Position
    /// The durable head at the start.
    private let head: JournalHead

    init(_ head: JournalHead, limit: Position, segments: [SegmentReference], in place: JournalDirectory) {
        (journal, self.head, self.limit, self.segments, self.place) = (head.journal, head, limit, segments, place)
        sealed = SealedSegments(place, head.journal)
    }

    var directory: JournalDirectory? { place }

    /// - Complexity: Reads at most one segment, up to the position.
    func contains(_ position: Position, _ chain: UInt64) throws(JournalError) -> Bool {
        if position == head.position { return head.chain == chain }
        if let next = segments.first(where: { $0.start.position == position + 1 }) { return next.start.chain == chain }
        guard let segment = segments.last(where: { $0.start.position <= position }) else { return false }
        var visitor = BoundaryVisitor(limit: position)
        let reader = try read(try segment.load(sealed), from: nil, &visitor)
        return reader.position == position + 1 && reader.chain == chain
    }

    func canContinue(_ present: [SegmentReference]) -> Bool {
        present.count <= segments.count
            && present.indices.allSatisfy { index in
                let (copy, original) = (present[index], segments[index])
                return copy.start.position == original.start.position
                    && (copy.lastPosition == original.lastPosition
                        || index == present.count - 1 && copy.lastPosition < original.lastPosition)
            }
    }

    /// The first segment, and all others that start within the limit.
    func segments(besides present: [SegmentReference], chain: UInt64) -> [BackupSegment] {
        segments.prefix { $0.start.position <= max(1, limit) }.map { segment in
            BackupSegment(start: segment.start, lastPosition: segment.lastPosition, reference: segment)
        }
    }

    func load(_ segment: BackupSegment) throws(JournalError) -> BackupOriginal {
        guard let reference = segment.reference else { preconditionFailure("A segment of a journal has a reference.") }
        let opened = try reference.load(sealed)
        return BackupOriginal(header: opened.header, lastPosition: opened.lastPosition, segment: opened)
    }

    func isSame(_ copy: Segment, as original: BackupOriginal) -> Bool { copy.header == original.header }

    func copyCommits(
        of original: BackupOriginal, to writer: inout SegmentWriter, atLeastThrough position: Position
    ) throws(JournalError) -> BackupSegment? {
        guard let segment = original.segment else { preconditionFailure("A segment of a journal has a file.") }
        var visitor = CopyingVisitor(writer: writer, limit: limit)
        defer { writer = visitor.writer }
        _ = try read(segment, from: writer, &visitor)
        if let failure = visitor.failure { throw failure }
        return nil
    }

    func needs(_ last: Segment) -> Bool { true }

    func generation(of original: BackupOriginal, through position: Position) -> UInt32 { original.header.generation }

    /// Whether the file of a segment now has another generation than the copy's.
    func hasErasedContent(since generations: [Position: UInt32]) throws(JournalError) -> Bool {
        for (first, generation) in generations {
            let file = try SegmentFile(place, first: first, .read, journal: journal)
            if file.segment.header.generation != generation { return true }
        }
        return false
    }

    private func read<Visitor: CommitVisitor>(
        _ segment: Segment, from writer: SegmentWriter?, _ visitor: inout Visitor
    ) throws(JournalError) -> CommitReader {
        var reader = CommitReader(
            segment, from: writer?.end ?? UInt64(SegmentHeader.size),
            position: (writer?.lastPosition).map { $0 + 1 } ?? segment.header.firstPosition,
            chain: writer?.chain ?? segment.header.chain,
            end: segment.end)
        _ = try reader.readRequired(through: segment.lastPosition, of: place, &visitor)
        return reader
    }
}

/// Ends a read before the first commit that ends beyond a position.
private struct BoundaryVisitor: CommitVisitor {
    let limit: Position

    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool { header.lastPosition <= limit }
}

/// Passes the commits up to a position to a writer.
private struct CopyingVisitor: CommitVisitor {
    var writer: SegmentWriter
    let limit: Position
    var failure: JournalError?

    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool {
        failure == nil && header.lastPosition <= limit
    }

    mutating func visitRecord(_ place: RecordLocation, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool
    {
        writer.add(bytes, layout)
        return true
    }

    mutating func endCommit(_ header: CommitHeader, at offset: UInt64) {
        do throws(JournalError) { try writer.finishCommit() } catch { failure = error }
    }
}
