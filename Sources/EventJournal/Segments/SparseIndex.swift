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

    /// The offset of a commit header at or before the record at a position, and that commit's first position; nil when the index is empty.
    func commit(before relativePosition: UInt64) -> (relativePosition: UInt64, offset: UInt64)? {
        var index = partition(from: 0) { UInt64($0.relativePosition) > relativePosition }
        while index > 0 {
            index -= 1
            if entries[index].recordsLeft == 0 { return (UInt64(entries[index].relativePosition), UInt64(entries[index].offset)) }
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

/// Where a segment begins: what identifies its records, in whichever generation and file.
struct SegmentStart {
    let position: Position
    /// The chain value before the first record.
    let chain: UInt64
    /// How often the segment's file has been replaced by one in which content is erased.
    let generation: UInt32

    init(_ header: SegmentHeader) {
        self.init(header.firstPosition, chain: header.chain, generation: header.generation)
    }

    init(_ position: Position, chain: UInt64, generation: UInt32 = 0) {
        self.position = position
        self.chain = chain
        self.generation = generation
    }
}

/// A segment as a journal in memory knows it.
struct Segment {
    let name: String
    let header: SegmentHeader
    let framingSeed: UInt32
    var file: any StorageFile
    var index: SparseIndex
    /// The last position in it; one less than its first when it is empty.
    var lastPosition: Position
    /// Where the valid commits end.
    var end: UInt64

    init(name: String, header: SegmentHeader, file: any StorageFile) {
        self.name = name
        self.header = header
        self.file = file
        framingSeed = header.framingSeed
        index = SparseIndex()
        lastPosition = header.firstPosition - 1
        end = UInt64(SegmentHeader.size)
    }

    var isEmpty: Bool { end == UInt64(SegmentHeader.size) }

    /// The footer that the segment gets; `chain` is the value after its last record.
    func footer(_ chain: UInt64) -> [UInt8] {
        SegmentFooter.encoded(index, lastPosition: lastPosition, chain: chain, seed: framingSeed)
    }

    /// Writes the footer behind the commits, which have been synced, ends the file there and syncs it.
    ///
    /// What a write that fails has left of the footer is cut off, so that the next opening does not have to tell it from damage.
    func seal(_ chain: UInt64) throws(StorageError) {
        let bytes = footer(chain)
        do throws(StorageError) {
            try bytes.withBytes(0..<bytes.count) { (span) throws(StorageError) in try file.write(span, at: end) }
        } catch {
            cutOff()
            throw error
        }
        try file.truncate(to: end + UInt64(bytes.count))
        try file.sync()
    }

    /// Ends the file where the valid commits do, as well as it can be done after a failure, which is the one to tell.
    private func cutOff() {
        do throws(StorageError) {
            try file.truncate(to: end)
            // Else a power cut could undo the truncation, and half a write inside a sector is not to be told from damage.
            try file.sync()
        } catch {
            // The next opening judges what is there.
        }
    }
}
