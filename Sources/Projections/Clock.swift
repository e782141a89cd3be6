package import ChatDomain
import Columns

/// The runs of recording times, each of which begins at a correction of the clock.
///
/// The times never decrease within a run. A lost event may have been a correction, so a run also
/// begins at an event that follows a lost one and is recorded earlier.
struct ClockCorrections: Equatable, Sendable {
    /// The positions at which the second and later runs begin, ascending.
    private(set) var positions = PackedColumn<Position>()
    /// The recording time of the last event if it was lost.
    private var timeOfLoss: Timestamp?

    /// Whether ``apply(_:at:)`` must see the next event, if it is of this kind: few change a run.
    @inline(__always)
    func needs(_ kind: EventKind?) -> Bool { kind == .clockCorrected || kind == .lost || timeOfLoss != nil }

    mutating func apply(_ event: EventRow, at position: Position) {
        if event.kind == .clockCorrected || timeOfLoss.map({ event.recordedAt < $0 }) == true {
            positions.append(position)
        }
        // The end of a repair has the time of the event before it.
        if event.kind != .historyRepaired { timeOfLoss = event.kind == .lost ? event.recordedAt : nil }
    }
}

extension ClockCorrections: CheckpointComponent {
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError) {
        try positions.visit(&visitor, atMost: Int(clamping: head), ascendingTo: head)
        var (isAfterLoss, time) = (timeOfLoss != nil, timeOfLoss ?? Timestamp(millisecondsSince1970: 0))
        try visitor.visit(&isAfterLoss)
        try visitor.visit(&time.bits)
        timeOfLoss = isAfterLoss ? time : nil
    }
}

extension ReadModels {
    /// The positions at which a run of recording times begins, other than the first event's,
    /// ascending.
    package var runStarts: [Position] {
        let positions = views.corrections.positions
        return positions.indices.map { positions[$0] }
    }
}
