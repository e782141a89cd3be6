/// A part of a reading that lies in one segment.
struct Stretch {
    /// Records that follow one another.
    struct Run {
        var start: SparseIndex.Entry
        /// Up to where it is worth reading at once.
        var ahead: UInt64
        /// The offset at which the last position has been passed.
        var bound: UInt64
        var positions: ClosedRange<Position>
    }

    /// The segment, with an empty index: the journal's own may grow meanwhile.
    var segment: Segment
    var runs: [Run]

    init(_ segment: Segment, _ positions: [ClosedRange<Position>]) throws(JournalError) {
        let first = segment.header.firstPosition
        runs = []
        runs.reserveCapacity(positions.count)
        let end = (relativePosition: segment.lastPosition + 1 - first, offset: segment.end)
        var hint = 0
        for positions in positions {
            guard
                let found = segment.index.lookUp(positions.lowerBound - first, positions.upperBound - first, end: end, from: &hint)
            else {
                throw JournalError(
                    .damaged, "The segment's index does not cover its records.", segment: segment.name, positions: positions)
            }
            runs.append(Run(start: found.start, ahead: found.estimate, bound: found.bound, positions: positions))
        }
        // Reading what lies between neighbours takes less time than another system call.
        for index in runs.indices.dropLast().reversed()
        where UInt64(runs[index + 1].start.offset) <= runs[index].ahead + UInt64(SparseIndex.spacing) {
            runs[index].ahead = runs[index + 1].ahead
        }
        self.segment = segment
        self.segment.index = SparseIndex()
    }
}

/// Where a part of a reading is to be found.
enum Place {
    case active(Stretch)
    /// At these positions in the sealed segment that begins at the first place and ends where the next one begins.
    case sealed(SegmentStart, next: SegmentStart, [ClosedRange<Position>])
}

extension JournalState {
    /// Where to read the first of these positions, and with it as many of the next as its segment has, which are taken out.
    mutating func place(_ list: inout PositionList, in directory: JournalDirectory) throws(JournalError) -> Place {
        let positions = list.bounds
        if isClosed { throw JournalError(.closed, "The journal has been closed.", path: directory.path) }
        guard positions.lowerBound >= 1, positions.upperBound <= lastPosition else {
            throw JournalError(
                .outOfRange, "The journal holds the positions from 1 to \(lastPosition).", path: directory.path, positions: positions)
        }
        if pending.byteCount > 0, positions.upperBound > pending.base { try writePending() }
        if positions.lowerBound >= active.header.firstPosition {
            return .active(try Stretch(active, list.take(through: positions.upperBound)))
        }
        var low = 0
        var high = sealedStarts.count - 1
        while low < high {
            let middle = (low + high + 1) / 2
            if sealedStarts[middle].position <= positions.lowerBound { low = middle } else { high = middle - 1 }
        }
        let next = low + 1 < sealedStarts.count ? sealedStarts[low + 1] : SegmentStart(active.header)
        return .sealed(sealedStarts[low], next: next, list.take(through: next.position - 1))
    }
}
