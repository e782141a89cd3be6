/// An index from positions to offsets in a segment, with about one entry per 4 KiB.
///
/// A read of any record therefore starts at most about 4 KiB before it. A read that needs the
/// header of the commit starts at an entry for a header, which can be several long commits before
/// it: a header that begins less than 4 KiB after the entry of a record has no entry.
struct SparseIndex: Equatable {
    /// An entry of 12 bytes.
    ///
    /// The limits of segments make 32 bits sufficient.
    struct Entry: Equatable {
        /// The position, less the segment's first position.
        var relativePosition: UInt32
        var offset: UInt32
        /// The number of remaining records of the commit, the one at `offset` included.
        ///
        /// 0 if `offset` is that of a commit header.
        var recordsLeft: UInt32

        var location: (relativePosition: UInt64, offset: UInt64) { (UInt64(relativePosition), UInt64(offset)) }
    }

    static let spacing: UInt32 = 4096

    private(set) var entries: [Entry] = []

    init() {}

    /// Creates an index of stored entries, or returns nil if they are invalid.
    ///
    /// The first valid entry is that of the first commit. The offsets ascend by at least the
    /// spacing and stay within the commits, which end at `end` and contain `recordCount` records.
    init?(_ entries: [Entry], end: UInt64, recordCount: UInt64) {
        guard let first = entries.first,
            first == Entry(relativePosition: 0, offset: UInt32(SegmentHeader.size), recordsLeft: 0)
        else {
            return nil
        }
        for (entry, next) in zip(entries, entries.dropFirst())
        where next.offset < entry.offset || next.offset - entry.offset < Self.spacing
            || next.relativePosition < entry.relativePosition
        {
            return nil
        }
        guard let last = entries.last, UInt64(last.offset) < end, UInt64(last.relativePosition) < recordCount else {
            return nil
        }
        self.entries = entries
    }

    /// Adds an entry for a boundary if the last entry is far enough before it.
    @inline(__always)
    mutating func addEntry(_ relativePosition: UInt64, at offset: UInt64, recordsLeft: UInt32) {
        let offset = UInt32(truncatingIfNeeded: offset)
        if let last = entries.last, offset &- last.offset < Self.spacing { return }
        entries.append(
            Entry(
                relativePosition: UInt32(truncatingIfNeeded: relativePosition), offset: offset, recordsLeft: recordsLeft
            ))
    }

    /// Adds the additional entries of a longer index of the same segment.
    mutating func extend(to longer: borrowing SparseIndex) {
        if longer.entries.count > entries.count { entries += longer.entries[entries.count...] }
    }

    /// Removes the entries from `relativePosition`, which belong to an invalid commit.
    mutating func remove(from relativePosition: UInt64) {
        while let last = entries.last, UInt64(last.relativePosition) >= relativePosition { entries.removeLast() }
    }

    /// Returns the start of a read of two positions, an estimate of its end, and a bound of its
    /// end.
    ///
    /// The read starts at the entry for the first position. The bound is an offset at or after the
    /// end of the record at the last position. The estimate assumes records of average length
    /// between two entries, plus one sixteenth of the spacing, and never exceeds the bound. `end`
    /// is the end of the records.
    ///
    /// - Parameter hint: The index of an entry at or before the first position, or 0. On return,
    ///   the index of the last such entry. A search close to the hint takes few steps.
    func findReadExtent(
        _ first: UInt64, _ last: UInt64, end: (relativePosition: UInt64, offset: UInt64), from hint: inout Int
    ) -> (start: Entry, estimate: UInt64, bound: UInt64)? {
        let after = index(after: first, from: hint)
        guard after > 0 else { return nil }
        hint = after - 1
        let beyond = last == first ? after : index(after: last, from: after)
        let (from, to) = (entries[beyond - 1], beyond < entries.count ? entries[beyond].location : end)
        guard to.relativePosition > last, to.offset > from.offset else {
            return (entries[after - 1], to.offset, to.offset)
        }
        let (share, overflows) = (last - UInt64(from.relativePosition) + 1).multipliedReportingOverflow(
            by: to.offset - UInt64(from.offset))
        // No segment contains this number of records, but a footer may claim it.
        if overflows { return (entries[after - 1], to.offset, to.offset) }
        let estimate =
            UInt64(from.offset) + share / (to.relativePosition - UInt64(from.relativePosition)) + UInt64(Self.spacing)
            / 16
        return (entries[after - 1], min(estimate, to.offset), to.offset)
    }

    /// Returns an entry from which a read meets the header of the commit that contains a record.
    ///
    /// - Parameter nearest: The entry from which ``findReadExtent(_:_:end:from:)`` starts a read of
    ///   the record. It is returned if it is not inside that commit.
    func header(of relativePosition: UInt64, from nearest: Entry) -> Entry {
        let commitEnd = UInt64(nearest.relativePosition) + UInt64(nearest.recordsLeft)
        return commitEnd > relativePosition ? commitEntry(before: relativePosition) ?? nearest : nearest
    }

    /// Returns the last entry at a commit header that is not after the record at a position.
    ///
    /// Returns nil if the index is empty.
    func commitEntry(before relativePosition: UInt64) -> Entry? {
        var index = index(after: relativePosition, from: 0)
        while index > 0 {
            index -= 1
            if entries[index].recordsLeft == 0 { return entries[index] }
        }
        return nil
    }

    /// Returns the index of the first entry from `low` after a position.
    ///
    /// - Complexity: O(log *n*) in the distance from `low`.
    private func index(after position: UInt64, from low: Int) -> Int {
        var low = low
        var high = low
        var step = 1
        while high < entries.count, UInt64(entries[high].relativePosition) <= position {
            low = high + 1
            high += step
            step *= 2
        }
        return (low..<min(high, entries.count)).partitioningIndex { UInt64(entries[$0].relativePosition) > position }
    }
}
