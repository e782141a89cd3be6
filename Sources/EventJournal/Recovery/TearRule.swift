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
    ///
    /// Looks at every place where a commit may begin: from one valid header to the end of its commit, else byte by byte, over zeros.
    static func attested(beyond offset: UInt64, in segment: Segment, size: UInt64) throws(JournalError) -> Position {
        var attested: Position = 0
        var window = FileWindow(segment.file)
        var place = offset
        while place < size, size - place >= UInt64(CommitHeader.size) {
            let start = place
            let available = try storage { () throws(StorageError) in
                try window.load(at: start, needed: CommitHeader.size, bound: size)
            }
            guard available >= CommitHeader.size else { break }
            place += window.withBytes(from: place) { bytes in
                hop(bytes, segment.framingSeed, after: segment.lastPosition, &attested)
            }
        }
        return attested
    }

    /// How far to go on from the start of `bytes`, which holds a header at least.
    private static func hop(_ bytes: RawSpan, _ seed: UInt32, after last: Position, _ attested: inout Position) -> UInt64 {
        var cursor = 0
        while cursor + CommitHeader.size <= bytes.byteCount {
            let length: UInt32 = bytes.integer(at: cursor)
            if length == 0 {
                // The length of a commit has its first nonzero byte within four.
                let nonzero = bytes.firstNonzero(from: cursor)
                cursor = max(cursor + 1, nonzero - 3)
                continue
            }
            if length <= JournalLimits.commitBytes, length >= CommitHeader.smallestCommit,
                let header = CommitHeader(decoding: bytes, at: cursor, seed: seed), header.isPlausible, header.firstPosition > last
            {
                attested = max(attested, header.syncedPosition)
                return UInt64(cursor) + UInt64(length)
            }
            cursor += 1
        }
        return UInt64(cursor)
    }
}
