import ChatDomain
import Columns

extension PostcodeMembership: StoreComponent {
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

    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) {
        let count = ids.memberships.count
        presence = try PackedColumn(from: &reader, atMost: count)
        presences = try Versions(from: &reader, head: head)
        try presence.check(below: presences.count + 1)
        marker = try PackedColumn(from: &reader, atMost: count)
        markers = try Versions(from: &reader, head: head)
        try marker.check(below: markers.count + 1)
        try require(presence.count == count && marker.count == count, "\(presence.count) memberships for \(count)")
        membershipsOfThread = try RowLists(from: &reader, rows: count, owners: ids.threads.count)
        membershipsOfUser = try RowLists(from: &reader, rows: count, owners: ids.users.count)
        residenceOfUser = try Column(from: &reader)
        try require(residenceOfUser.count <= ids.users.count, "residences of \(residenceOfUser.count) users")
        residences = try Versions(from: &reader, head: head)
        try residences.check(below: ids.threads.count)
        for newest in residenceOfUser { try residences.check(newest) }
        residencePairs = try PairIndex(from: &reader)
        try residencePairs.check(firstBelow: residenceOfUser.count, secondBelow: ids.threads.count)
        residencesOfThread = try RowLists(from: &reader, rows: residencePairs.count, owners: ids.threads.count)
    }
}
