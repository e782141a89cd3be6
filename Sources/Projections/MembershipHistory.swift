import ChatDomain
import Columns

/// Memberships of threads, residences in outward codes, and read markers, as of any position.
struct MembershipHistory: Equatable, Sendable {
    /// Lets a query borrow the history where it is.
    private var addressOnly = AddressOnly()
    /// By membership index (``ChatDomain/Identities/memberships``): the newest link of the chain of
    /// joins and departures.
    var presenceLinks = PackedColumn<UInt32>()
    /// The joins, as 1, and the departures, as 0.
    var presenceVersions = VersionChains<UInt32>()
    /// By membership index: the newest link of the chain of read markers.
    var markerLinks = MostlyZeroColumn<UInt32>()
    /// The read markers.
    var markerVersions = VersionChains<Position>()
    /// By thread: every membership that an event has named, in order of the first such event.
    var membershipsOfThread = RowLists()
    /// By user: every membership that an event has named, in order of the first such event.
    var membershipsOfUser = RowLists()

    /// By user: the newest link of the chain of the user's postcode threads.
    var residenceLinks = Column<UInt32>()
    var residenceVersions = VersionChains<UInt32>()
    /// The pairs of a user and a postcode thread in whose outward code they ever lived.
    var residencePairs = PairInterner()
    /// By thread: the indexes of those pairs, in order of first occurrence.
    var residencesOfThread = RowLists()

    /// Applies the next event.
    ///
    /// - Returns: The event's change to the thread's number of members.
    mutating func apply(_ event: EventRow, at position: Position, _ indexes: EventIndexes) -> Int {
        switch event.kind {
        case .threadJoined, .threadLeft, .memberRemoved:
            addRow(indexes)
            let isMember: UInt32 = event.kind == .threadJoined ? 1 : 0
            let newest = presenceLinks[indexes.membership]
            guard (newest == 0 ? 0 : presenceVersions.value(newest)) != isMember else { return 0 }
            presenceVersions.append(isMember, at: position, to: &presenceLinks[indexes.membership])
            return isMember == 1 ? 1 : -1
        case .threadRead, .threadMarkedUnread:
            addRow(indexes)
            let newest = markerLinks[indexes.membership]
            if (newest == 0 ? 0 : markerVersions.value(newest)) != event.number {
                markerVersions.append(event.number, at: position, to: &markerLinks[indexes.membership])
            }
        case .postcodeSet: changeResidence(indexes.user, to: indexes.thread, at: position)
        case .userInvited, .invitationDeclined, .invitationRevoked, .roleSet, .userMuted, .userUnmuted, .userBanned,
            .userUnbanned,
            .notificationsSet:
            addRow(indexes)
        default: break
        }
        return 0
    }

    /// Adds the row of a new membership.
    private mutating func addRow(_ indexes: EventIndexes) {
        guard indexes.membership == presenceLinks.count else { return }
        presenceLinks.append(0)
        markerLinks.appendZero()
        membershipsOfThread.append(to: indexes.thread)
        membershipsOfUser.append(to: indexes.user)
    }

    /// A move within an outward code continues the residence.
    private mutating func changeResidence(_ user: Int, to thread: Int, at position: Position) {
        let newest = user < residenceLinks.count ? residenceLinks[user] : 0
        guard newest == 0 || residenceVersions.value(newest) != UInt32(thread) else { return }
        residenceLinks.updateElement(user, default: 0) {
            residenceVersions.append(UInt32(thread), at: position, to: &$0)
        }
        if residencePairs.insert(user, thread).isNew { residencesOfThread.append(to: thread) }
    }
}

extension MembershipHistory {
    /// Returns the start of a membership as of a position; nil if it did not hold.
    func joinPosition(_ membership: Int, asOf position: Position) -> Position? {
        guard membership < presenceLinks.count,
            let version = presenceVersions.version(presenceLinks[membership], asOf: position),
            version.value == 1
        else { return nil }
        return version.position
    }

    /// Returns the position of the latest departure of a user who was no member then; nil for a
    /// member and for a user who never was one.
    func departure(_ membership: Int, asOf position: Position) -> Position? {
        guard membership < presenceLinks.count,
            let version = presenceVersions.version(presenceLinks[membership], asOf: position),
            version.value == 0
        else { return nil }
        return version.position
    }

    /// Returns the last position, at most a given one, as of which two memberships held at once;
    /// nil if they never did, or if that takes more steps than are left.
    ///
    /// - Parameter steps: The number of changes that can still be looked at.
    func lastOverlap(_ membership: Int, _ other: Int, asOf position: Position, _ steps: inout Int) -> Position? {
        guard max(membership, other) < presenceLinks.count else { return nil }
        var position = position
        while steps > 0 {
            steps -= 1
            guard let first = presenceVersions.version(presenceLinks[membership], asOf: position),
                let second = presenceVersions.version(presenceLinks[other], asOf: position)
            else { return nil }
            if first.value == 1, second.value == 1 { return position }
            // Until the departure its user was a member.
            position = min(first.value == 0 ? first.position : .max, second.value == 0 ? second.position : .max) - 1
        }
        return nil
    }

    /// Returns a member's read marker as of a position; 0 if never set.
    func readMarker(_ membership: Int, asOf position: Position) -> Position {
        guard membership < markerLinks.count else { return 0 }
        return markerVersions.version(markerLinks[membership], asOf: position)?.value ?? 0
    }

    /// Returns the number of joins and departures of a membership as of a position.
    func changeCount(_ membership: Int, asOf position: Position) -> Int {
        membership < presenceLinks.count ? presenceVersions.count(presenceLinks[membership], asOf: position) : 0
    }

    /// Returns the periods of a membership for a range of its changes, by rank from 1.
    ///
    /// The first change must be a join. The last period may be open.
    func intervals(_ membership: Int, changes: Range<Int>) -> [(from: Position, to: Position?)] {
        var intervals: [(from: Position, to: Position?)] = []
        for version in presenceVersions.versions(presenceLinks[membership], ranks: changes) {
            if version.value == 1 {
                intervals.append((version.position, nil))
            } else if !intervals.isEmpty {
                intervals[intervals.count - 1].to = version.position
            }
        }
        return intervals
    }

    /// Returns the start of a residence as of a position; nil if the user lived elsewhere.
    func residenceStart(_ residence: Int, asOf position: Position) -> Position? {
        let (user, thread) = residencePairs.pair(residence)
        guard let residence = residenceVersions.version(residenceLinks[user], asOf: position),
            residence.value == UInt32(thread)
        else {
            return nil
        }
        return residence.position
    }
}

extension MembershipHistory: CheckpointComponent {
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError) {
        let (users, threads, count) = (ids.users.count, ids.threads.count, ids.memberships.count)
        try presenceLinks.visit(&visitor, rows: count)
        try presenceVersions.visit(&visitor, head: head)
        try markerLinks.visit(&visitor, rows: count)
        try markerVersions.visit(&visitor, head: head)
        if visitor.isReading {
            try presenceLinks.check(below: presenceVersions.count + 1)
            try markerLinks.check(below: markerVersions.count + 1)
        }
        try membershipsOfThread.visit(&visitor, rows: count, owners: threads)
        try membershipsOfUser.visit(&visitor, rows: count, owners: users)
        try residenceLinks.visit(&visitor, atMost: users)
        try residenceVersions.visit(&visitor, head: head, below: threads)
        if visitor.isReading {
            for newest in residenceLinks { try residenceVersions.check(newest) }
        }
        try residencePairs.visit(&visitor, below: residenceLinks.count, threads)
        try residencesOfThread.visit(&visitor, rows: residencePairs.count, owners: threads)
    }
}
