/// Where to start reading a segment for a position: one entry about every 4 KiB, so that any record is one small read away.
struct SparseIndex: Equatable {
    /// 12 bytes: segments and the positions in them are bounded so that 32 bits are enough.
    struct Entry: Equatable {
        /// The position, less the segment's first.
        var relativePosition: UInt32
        var offset: UInt32
        /// How many records of the commit are left, the one at `offset` included; 0 when a commit header is at `offset`.
        var recordsLeft: UInt32

        var place: (relativePosition: UInt64, offset: UInt64) { (UInt64(relativePosition), UInt64(offset)) }
    }

    static let spacing: UInt32 = 4096

    private(set) var entries: [Entry] = []

    init() {}

    /// Makes an index of entries as they were stored; nil unless they can be those of a segment whose commits end at `end` and that has so
    /// many records: the first at the first commit, each next one further on.
    init?(_ entries: [Entry], end: UInt64, recordCount: UInt64) {
        guard let first = entries.first, first == Entry(relativePosition: 0, offset: UInt32(SegmentHeader.size), recordsLeft: 0) else {
            return nil
        }
        for (entry, next) in zip(entries, entries.dropFirst())
        where next.offset < entry.offset || next.offset - entry.offset < Self.spacing || next.relativePosition < entry.relativePosition {
            return nil
        }
        guard let last = entries.last, UInt64(last.offset) < end, UInt64(last.relativePosition) < recordCount else { return nil }
        self.entries = entries
    }

    /// Notes a boundary, if the last entry is far enough before it.
    @inline(__always)
    mutating func note(_ relativePosition: UInt64, at offset: UInt64, recordsLeft: UInt32) {
        let offset = UInt32(truncatingIfNeeded: offset)
        if let last = entries.last, offset &- last.offset < Self.spacing { return }
        entries.append(
            Entry(relativePosition: UInt32(truncatingIfNeeded: relativePosition), offset: offset, recordsLeft: recordsLeft))
    }

    /// Adds the entries that a longer index of the same segment has more.
    mutating func extend(to longer: borrowing SparseIndex) {
        if longer.entries.count > entries.count { entries += longer.entries[entries.count...] }
    }

    /// Forgets the entries from `relativePosition` on: those of a commit that turned out to be invalid.
    mutating func remove(from relativePosition: UInt64) {
        while let last = entries.last, UInt64(last.relativePosition) >= relativePosition { entries.removeLast() }
    }

    /// The entry to start from for the first of two positions, and the offset at which the second one has been passed for sure; `end` is where the records end.
    ///
    /// The estimate is where it has been passed if records are as long as on average between two entries, and one sixteenth of the spacing more; it is
    /// never beyond the bound.
    ///
    /// - Parameter hint: The index of an entry at or before the first position, 0 if none is known; that of the last such entry from then on. What lies close behind it
    ///   is found in a few steps.
    func lookUp(
        _ first: UInt64, _ last: UInt64, end: (relativePosition: UInt64, offset: UInt64), from hint: inout Int
    ) -> (start: Entry, estimate: UInt64, bound: UInt64)? {
        let after = partition(from: hint) { UInt64($0.relativePosition) > first }
        guard after > 0 else { return nil }
        hint = after - 1
        let beyond = last == first ? after : partition(from: after) { UInt64($0.relativePosition) > last }
        let (from, to) = (entries[beyond - 1], beyond < entries.count ? entries[beyond].place : end)
        guard to.relativePosition > last, to.offset > from.offset else { return (entries[after - 1], to.offset, to.offset) }
        let (share, overflows) = (last - UInt64(from.relativePosition) + 1).multipliedReportingOverflow(by: to.offset - UInt64(from.offset))
        // So many records are not in any segment that was written, but a footer may claim them.
        if overflows { return (entries[after - 1], to.offset, to.offset) }
        let estimate = UInt64(from.offset) + share / (to.relativePosition - UInt64(from.relativePosition)) + UInt64(Self.spacing) / 16
        return (entries[after - 1], min(estimate, to.offset), to.offset)
    }

    /// The last entry at a commit header that is not after the record at a position; nil when the index is empty.
    func commit(before relativePosition: UInt64) -> Entry? {
        var index = partition(from: 0) { UInt64($0.relativePosition) > relativePosition }
        while index > 0 {
            index -= 1
            if entries[index].recordsLeft == 0 { return entries[index] }
        }
        return nil
    }

    /// The index of the first entry, not before `low`, for which the predicate, false and then true along the entries, is true: O(log *n*) in how far it is from `low`.
    private func partition(from low: Int, _ predicate: (Entry) -> Bool) -> Int {
        var low = low
        var high = low
        var step = 1
        while high < entries.count, !predicate(entries[high]) {
            low = high + 1
            high += step
            step *= 2
        }
        high = min(high, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if predicate(entries[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// What ends a sealed segment: an index of its records, framed like a commit, but of no records.
///
/// See Format.md for the layout.
///
/// It is written once everything before it is synced, so that a valid one attests the whole segment. It repeats what the records say, for
/// the sake of speed: a reader that finds it damaged reads the records instead.
enum SegmentFooter {
    /// Of the frame and of the length that is repeated at the end.
    static let smallest = CommitHeader.size + 4
    static let entrySize = 12

    /// The footer of a segment with these records.
    static func encoded(_ index: SparseIndex, lastPosition: Position, chain: UInt64, seed: UInt32) -> [UInt8] {
        let length = smallest + index.entries.count * entrySize
        var bytes = [UInt8](repeating: 0, count: length)
        var offset = CommitHeader.size
        for entry in index.entries {
            bytes.store(entry.relativePosition, at: offset)
            bytes.store(entry.offset, at: offset + 4)
            bytes.store(entry.recordsLeft, at: offset + 8)
            offset += entrySize
        }
        bytes.store(UInt32(length), at: offset)
        CommitHeader(
            length: UInt32(length), recordCount: 0, firstPosition: lastPosition + 1, syncedPosition: lastPosition, chain: chain,
            recordsCRC: bytes.withBytes(CommitHeader.size..<length) { CRC32C.checksum(of: $0) }
        ).encode(into: &bytes, seed: seed)
        return bytes
    }

    /// The footer at the end of a file and where it begins; nil when there is none that is valid in itself.
    ///
    /// Reads its frame alone, whatever the segment's length.
    static func find(in file: any StorageFile, size: UInt64, seed: UInt32) throws(StorageError) -> (header: CommitHeader, offset: UInt64)? {
        guard size >= UInt64(SegmentHeader.size + smallest) else { return nil }
        var bytes = [UInt8](repeating: 0, count: CommitHeader.size)
        guard try file.fill(&bytes, 0..<4, from: size - 4) else { return nil }
        let length = bytes.withBytes(0..<4) { $0.integer(at: 0, as: UInt32.self) }
        guard UInt64(length) <= size - UInt64(SegmentHeader.size), Int(length) >= smallest else { return nil }
        let offset = size - UInt64(length)
        guard try file.fill(&bytes, 0..<CommitHeader.size, from: offset),
            let header = bytes.withBytes(0..<CommitHeader.size, { CommitHeader(decoding: $0, at: 0, seed: seed) }), header.isFooter,
            header.length == length
        else { return nil }
        return (header, offset)
    }

    /// The index of the footer that begins at `offset`; nil when its bytes are not those that were written.
    ///
    /// Memory: as much as the footer is long, at most ``JournalLimits/commitBytes``.
    static func index(
        of header: CommitHeader, at offset: UInt64, in file: any StorageFile, firstPosition: Position
    ) throws(StorageError) -> SparseIndex? {
        guard header.isFooter, header.firstPosition >= firstPosition else { return nil }
        let count = Int(header.length) - CommitHeader.size
        var bytes = [UInt8](repeating: 0, count: count)
        guard try file.fill(&bytes, 0..<count, from: offset + UInt64(CommitHeader.size)) else { return nil }
        let entries = bytes.withBytes(0..<count) { span -> [SparseIndex.Entry]? in
            guard CRC32C.checksum(of: span) == header.recordsCRC, span.integer(at: count - 4, as: UInt32.self) == header.length else {
                return nil
            }
            return stride(from: 0, to: count - 4, by: entrySize).map { place in
                SparseIndex.Entry(
                    relativePosition: span.integer(at: place), offset: span.integer(at: place + 4), recordsLeft: span.integer(at: place + 8)
                )
            }
        }
        return entries.flatMap { SparseIndex($0, end: offset, recordCount: header.firstPosition - firstPosition) }
    }
}
