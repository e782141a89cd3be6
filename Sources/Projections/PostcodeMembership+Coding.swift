import ChatDomain
import Columns

extension PostcodeMembership.Chains: PlainElement {}

extension PostcodeMembership: ReadModelComponent {
    func write(to writer: inout ColumnWriter) {
        memberships.write(to: &writer)
        presences.write(to: &writer)
        markers.write(to: &writer)
        for lists in [membershipsOfThread, membershipsOfUser] {
            writer.write(lists.count)
            writer.write(lists.indices, list: { lists[$0] })
        }
        residenceOfUser.write(to: &writer)
        residences.write(to: &writer)
        residencePairs.write(to: &writer)
        writer.write(residentsOfThread.count)
        writer.write(residentsOfThread.indices, list: { residentsOfThread[$0] })
    }

    init(from reader: inout ColumnReader, _ state: ChatState) throws(ColumnError) {
        memberships = try Column(from: &reader)
        try require(memberships.count == state.memberships.count, "\(memberships.count) memberships for \(state.memberships.count)")
        presences = try Versions(from: &reader, head: state.head)
        markers = try Versions(from: &reader, head: state.head)
        var newest = Chains()
        memberships.forEachPiece { piece in
            for chain in piece {
                newest.presence = max(newest.presence, chain.presence)
                newest.marker = max(newest.marker, chain.marker)
            }
        }
        try presences.check(newest.presence)
        try markers.check(newest.marker)
        membershipsOfThread = try Self.lists(from: &reader, atMost: state.threads.count, below: memberships.count)
        membershipsOfUser = try Self.lists(from: &reader, atMost: state.users.count, below: memberships.count)
        residenceOfUser = try Column(from: &reader)
        try require(residenceOfUser.count <= state.users.count, "residences of \(residenceOfUser.count) users")
        residences = try Versions(from: &reader, head: state.head)
        try residences.check(below: state.threads.count)
        for newest in residenceOfUser { try residences.check(newest) }
        residencePairs = try PairIndex(from: &reader)
        try residencePairs.check(firstBelow: state.users.count, secondBelow: state.threads.count)
        residentsOfThread = try Self.lists(from: &reader, atMost: state.threads.count, below: residenceOfUser.count)
    }

    private static func lists(
        from reader: inout ColumnReader, atMost most: Int, below bound: Int
    ) throws(ColumnError) -> Column<Column<UInt32>> {
        let count = try reader.readCount()
        try require(count <= most, "\(count) lists for \(most) rows")
        return Column(try reader.readLists(count, below: bound))
    }
}
