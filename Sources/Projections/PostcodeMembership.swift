import ChatDomain
import Columns

/// Who was in which thread and who lived in which outward code from which position to which, and how far they had read.
struct PostcodeMembership: Equatable, Sendable {
    /// By the indexes of ``ChatDomain/Identities/memberships``: the newest links of the chains of the two that follow.
    var presence = PackedColumn<UInt32>()
    var presences = Versions<UInt32>()
    var marker = PackedColumn<UInt32>()
    var markers = Versions<Position>()
    /// By the thread: the memberships that there ever were, in the order in which they began first.
    var membershipsOfThread = RowLists()
    /// By the user, likewise.
    var membershipsOfUser = RowLists()

    /// By the user: the thread of the outward code where they lived.
    var residenceOfUser = Column<UInt32>()
    var residences = Versions<UInt32>()
    /// The pairs of a user and a thread of an outward code where they ever lived.
    var residencePairs = PairIndex()
    /// By the thread: those pairs, in the order in which they came first.
    var residencesOfThread = RowLists()

    /// Applies the next event.
    ///
    /// - Returns: By how much it changes the number of members of its thread.
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

    /// Adds the row of a membership that is new.
    private mutating func addRow(_ indexes: EventIndexes) {
        guard indexes.membership == presence.count else { return }
        presence.append(0)
        marker.append(0)
        membershipsOfThread.append(to: indexes.thread)
        membershipsOfUser.append(to: indexes.user)
    }

    /// A move within an outward code goes on with the same residence.
    private mutating func move(_ user: Int, to thread: Int, at position: Position) {
        let newest = user < residenceOfUser.count ? residenceOfUser[user] : 0
        guard newest == 0 || residences.value(newest) != UInt32(thread) else { return }
        residenceOfUser.element(user, default: 0) { residences.append(UInt32(thread), at: position, to: &$0) }
        if residencePairs.insert(user, thread).isNew { residencesOfThread.append(to: thread) }
    }
}

extension PostcodeMembership {
    /// Since which position a membership held as of a position, nil if it did not.
    func since(_ membership: Int, asOf position: Position) -> Position? {
        guard membership < presence.count, let version = presences.version(presence[membership], asOf: position), version.value == 1
        else { return nil }
        return version.position
    }

    /// How far a member had read as of a position, 0 if they had not marked anything.
    func readUpTo(_ membership: Int, asOf position: Position) -> Position {
        guard membership < marker.count else { return 0 }
        return markers.version(marker[membership], asOf: position)?.value ?? 0
    }

    /// How many times a membership began or ended up to a position.
    func changeCount(_ membership: Int, asOf position: Position) -> Int {
        membership < presence.count ? presences.count(presence[membership], asOf: position) : 0
    }

    /// The stretches of positions in which a membership held, of some of its changes by their numbers from 1: the first of them begins one, and the last stretch may be open.
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

    /// Since which position the user of a residence lived in its outward code as of a position, nil if elsewhere.
    func residentSince(_ residence: Int, asOf position: Position) -> Position? {
        let (user, thread) = residencePairs.pair(residence)
        guard let residence = residences.version(residenceOfUser[user], asOf: position), residence.value == UInt32(thread) else {
            return nil
        }
        return residence.position
    }
}

extension Column {
    /// Changes the element at an index, after filling up the column as far as that.
    mutating func element(_ index: Int, default filler: @autoclosure () -> Element, _ change: (inout Element) -> Void) {
        while count <= index { append(filler()) }
        change(&self[index])
    }
}
