import ChatDomain
import Columns

extension PostcodeMembership: ReadModelComponent {
    func write(to writer: inout ColumnWriter) {
        presence.write(to: &writer)
        presences.write(to: &writer)
        marker.write(to: &writer)
        markers.write(to: &writer)
        membershipsOfThread.write(to: &writer)
        membershipsOfUser.write(to: &writer)
        residenceOfUser.write(to: &writer)
        residences.write(to: &writer)
        residencePairs.write(to: &writer)
        residencesOfThread.write(to: &writer)
    }

    init(from reader: inout ColumnReader, _ state: ChatState) throws(ColumnError) {
        let count = state.memberships.count
        presence = try PackedColumn(from: &reader, atMost: count)
        presences = try Versions(from: &reader, head: state.head)
        try presence.check(below: presences.count + 1)
        marker = try PackedColumn(from: &reader, atMost: count)
        markers = try Versions(from: &reader, head: state.head)
        try marker.check(below: markers.count + 1)
        try require(presence.count == count && marker.count == count, "\(presence.count) memberships for \(count)")
        membershipsOfThread = try RowLists(from: &reader, rows: count, owners: state.threads.count)
        membershipsOfUser = try RowLists(from: &reader, rows: count, owners: state.users.count)
        residenceOfUser = try Column(from: &reader)
        try require(residenceOfUser.count <= state.users.count, "residences of \(residenceOfUser.count) users")
        residences = try Versions(from: &reader, head: state.head)
        try residences.check(below: state.threads.count)
        for newest in residenceOfUser { try residences.check(newest) }
        residencePairs = try PairIndex(from: &reader)
        try residencePairs.check(firstBelow: residenceOfUser.count, secondBelow: state.threads.count)
        residencesOfThread = try RowLists(from: &reader, rows: residencePairs.count, owners: state.threads.count)
    }
}
