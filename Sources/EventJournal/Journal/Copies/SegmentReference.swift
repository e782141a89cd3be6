/// A segment of a journal that is copied or copied to, and how to open it.
enum SegmentReference {
    /// A segment with a successor; its file is opened when needed.
    case sealed(SegmentStart, next: SegmentStart)
    /// The last segment.
    case last(Segment)

    /// All segments of a journal.
    static func all(_ starts: [SegmentStart], _ last: Segment) -> [SegmentReference] {
        let followers = starts.dropFirst() + [SegmentStart(last.header)]
        return zip(starts, followers).map { SegmentReference.sealed($0, next: $1) } + [.last(last)]
    }

    var start: SegmentStart {
        switch self {
        case .sealed(let start, _): start
        case .last(let segment): SegmentStart(segment.header)
        }
    }

    /// The last position in the segment; one less than its first position when it is empty.
    var lastPosition: Position {
        switch self {
        case .sealed(_, let next): next.position - 1
        case .last(let segment): segment.lastPosition
        }
    }

    var isEmpty: Bool { lastPosition < start.position }

    var name: String { JournalFileName.segment(start.position) }

    /// Opens the segment.
    func load(_ sealed: SealedSegments) throws(JournalError) -> Segment {
        switch self {
        case .sealed(let start, let next): try sealed.segment(from: start, to: next)
        case .last(let segment): segment
        }
    }
}
