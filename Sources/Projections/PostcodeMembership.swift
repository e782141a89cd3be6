import ChatDomain
import Columns

/// Memberships of threads, residences in outward codes, and read markers, as of any position.
struct PostcodeMembership: Equatable, Sendable {
    /// By membership index (``ChatDomain/Identities/memberships``): the newest links of the two
    /// chains.
    var presence = PackedColumn<UInt32>()
    var presences = Versions<UInt32>()
    var marker = PackedColumn<UInt32>()
    var markers = Versions<Position>()
    /// By thread: every membership that ever existed, in order of first join.
    var membershipsOfThread = RowLists()
    /// By user: every membership that ever existed, in order of first join.
    var membershipsOfUser = RowLists()

    /// By user: the newest link of the chain of the user's postcode threads.
    var residenceOfUser = Column<UInt32>()
    var residences = Versions<UInt32>()
    /// The pairs of a user and a postcode thread in whose outward code they ever lived.
    var residencePairs = PairIndex()
    /// By thread: the indexes of those pairs, in order of first occurrence.
    var residencesOfThread = RowLists()

    /// Applies the next event.
    ///
    /// - Returns: The event's change to the thread's number of members.
    mutating func apply(_ event: EventRow, at position: Position, _ indexes: EventIndexes) -> Int {
        switch event.kind {
        case .threadJoined, .threadLeft:
            addRow(indexes)
            let isMember: UInt32 = event.kind == .threadJoined ? 1 : 0
            let newest = presence[indexes.membership]
            guard (newest == 0 ? 0 : presences.value(newest)) != isMember else { return 0 }
            presences.append(isMember, at: position, to: &presence[indexes.membership])
            return isMember == 1 ? 1 : -1
        case .threadRead:
            addRow(indexes)
            let newest = marker[indexes.membership]
            if (newest == 0 ? 0 : markers.value(newest)) != event.number {
                markers.append(event.number, at: position, to: &marker[indexes.membership])
            }
        case .postcodeSet: move(indexes.user, to: indexes.thread, at: position)
        default: break
        }
        return 0
    }

    /// Adds the row of a new membership.
    private mutating func addRow(_ indexes: EventIndexes) {
        guard indexes.membership == presence.count else { return }
        presence.append(0)
        marker.append(0)
        membershipsOfThread.append(to: indexes.thread)
        membershipsOfUser.append(to: indexes.user)
    }

    /// A move within an outward code continues the residence.
    private mutating func move(_ user: Int, to thread: Int, at position: Position) {
        let newest = user < residenceOfUser.count ? residenceOfUser[user] : 0
        guard newest == 0 || residences.value(newest) != UInt32(thread) else { return }
        residenceOfUser.element(user, default: 0) { residences.append(UInt32(thread), at: position, to: &$0) }
        if residencePairs.insert(user, thread).isNew { residencesOfThread.append(to: thread) }
    }
}

extension PostcodeMembership {
    /// Returns the start of a membership as of a position; nil if it did not hold.
    func since(_ membership: Int, asOf position: Position) -> Position? {
        guard membership < presence.count, let version = presences.version(presence[membership], asOf: position), version.value == 1
        else { return nil }
        return version.position
    }

    /// Returns a member's read marker as of a position; 0 if never set.
    func readUpTo(_ membership: Int, asOf position: Position) -> Position {
        guard membership < marker.count else { return 0 }
        return markers.version(marker[membership], asOf: position)?.value ?? 0
    }

    /// Returns the number of joins and departures of a membership as of a position.
    func changeCount(_ membership: Int, asOf position: Position) -> Int {
        membership < presence.count ? presences.count(presence[membership], asOf: position) : 0
    }

    /// Returns the periods of a membership for a range of its changes, by rank from 1.
    ///
    /// The first change must be a join. The last period may be open.
    func intervals(_ membership: Int, changes: Range<Int>) -> [(from: Position, to: Position?)] {
        var intervals: [(from: Position, to: Position?)] = []
        for version in presences.versions(presence[membership], ranks: changes) {
            if version.value == 1 {
                intervals.append((version.position, nil))
            } else if !intervals.isEmpty {
                intervals[intervals.count - 1].to = version.position
            }
        }
        return intervals
    }

    /// Returns the start of a residence as of a position; nil if the user lived elsewhere.
    func residentSince(_ residence: Int, asOf position: Position) -> Position? {
        let (user, thread) = residencePairs.pair(residence)
        guard let residence = residences.version(residenceOfUser[user], asOf: position), residence.value == UInt32(thread) else {
            return nil
        }
        return residence.position
    }
}

extension Column {
    /// Mutates the element at an index, after extending the column to that index.
    mutating func element(_ index: Int, default filler: @autoclosure () -> Element, _ change: (inout Element) -> Void) {
        while count <= index { append(filler()) }
        change(&self[index])
    }
}

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
