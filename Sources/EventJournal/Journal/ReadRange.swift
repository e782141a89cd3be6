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

extension PublishedState {
    /// Where to read the first of these positions, and with it as many of the next as its segment has, which are taken out.
    ///
    /// Nil when one of them is only in memory.
    func place(_ list: inout PositionList, in directory: JournalDirectory) throws(JournalError) -> Place? {
        let positions = list.bounds
        guard try isWritten(positions, in: directory) else { return nil }
        if positions.lowerBound >= active.header.firstPosition {
            return .active(try Stretch(active, list.take(through: positions.upperBound)))
        }
        let (start, next) = sealed(at: positions.lowerBound)
        return .sealed(start, next: next, list.take(through: next.position - 1))
    }
}
