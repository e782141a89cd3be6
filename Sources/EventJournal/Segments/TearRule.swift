/// The rule that separates torn bytes, which recovery removes, from damage.
///
/// Assumptions: new space reads as zeros, a sector of 512 bytes is written whole or not at all, and
/// bytes are only added at the end of a segment. A sector beyond the synced bytes is therefore as
/// it was after some write, or still zero. A commit torn by a power failure has a sector in which
/// all bytes from the commit's first byte are zero, or the file ends inside the commit. A power
/// failure explains nothing else, so opening fails for all other bytes.
enum TearRule {
    static let sectorSize: UInt64 = 512

    /// Returns whether a tear explains the invalid commit at `problem.commitOffset`.
    ///
    /// `size` is the size of the file.
    static func explains(_ problem: CommitProblem, in file: any StorageFile, size: UInt64) throws(JournalError) -> Bool
    {
        let extent: UInt64
        switch problem.kind {
        case .commitHeader, .commitTruncated, .recordFraming, .recordChecksum:
            extent = UInt64(problem.header?.length ?? UInt32(CommitHeader.size))
        case .commitFields, .commitChecksum, .chain:
            // All bytes that these checks compare have matching checksums of their own: no byte is
            // missing, so the commit is not torn.
            return false
        }
        let start = problem.commitOffset
        let (end, overflow) = start.addingReportingOverflow(extent)
        if overflow || end > size { return true }
        var sectorStart = start - start % sectorSize
        while sectorStart < end {
            let part = max(start, sectorStart)..<min(sectorStart + sectorSize, size)
            if try convertingErrors(of: file.firstNonzero(in: part)) == nil { return true }
            sectorStart += sectorSize
        }
        return false
    }

    /// Returns the highest position that a valid commit beyond `offset` attests as synced, or 0.
    static func highestSyncedPosition(beyond offset: UInt64, in segment: Segment, size: UInt64) throws(JournalError)
        -> Position
    {
        var attested: Position = 0
        var search = CommitSearch(segment, from: offset, size: size)
        while let (_, header) = try search.next() { attested = max(attested, header.syncedPosition) }
        return attested
    }
}
