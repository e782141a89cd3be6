/// What may be cut off after the last valid commit, and what must not.
///
/// The assumptions: new space reads as zeros, a sector of 512 bytes is written whole or not at all, and bytes are only ever added at the
/// end of a segment. So a sector holds, from the end of what was synced, either all that some prefix of the writes put there, or nothing;
/// a commit that a power cut tore has a sector in which everything from the commit's first byte on is zero, or the file ends inside it.
/// Anything else was not made by a power cut, and opening refuses.
enum TearRule {
    static let sector: UInt64 = 512

    /// Whether a tear explains that the commit at `problem.commitOffset` is not valid; `size` is the file's.
    static func explains(_ problem: CommitProblem, in file: any StorageFile, size: UInt64) throws(JournalError) -> Bool {
        let extent: UInt64
        switch problem.kind {
        case .commitHeader, .commitTruncated, .recordFraming, .recordChecksum:
            extent = UInt64(problem.header?.length ?? UInt32(CommitHeader.size))
        case .commitFields, .commitChecksum, .chain:
            // Every byte that these compare has passed a checksum of its own: nothing is missing, so nothing was torn.
            return false
        }
        let start = problem.commitOffset
        let (end, overflow) = start.addingReportingOverflow(extent)
        if overflow || end > size { return true }
        var sectorStart = start - start % sector
        while sectorStart < end {
            let part = max(start, sectorStart)..<min(sectorStart + sector, size)
            if try storage({ () throws(StorageError) in try file.firstNonzero(in: part) }) == nil { return true }
            sectorStart += sector
        }
        return false
    }

    /// The highest position that a valid commit beyond `offset` attests as synced; 0 when there is none.
    static func attested(beyond offset: UInt64, in segment: Segment, size: UInt64) throws(JournalError) -> Position {
        var attested: Position = 0
        var search = CommitSearch(segment, from: offset, size: size)
        while let (_, header) = try search.next() { attested = max(attested, header.syncedPosition) }
        return attested
    }
}
