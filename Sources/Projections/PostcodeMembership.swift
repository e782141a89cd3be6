import ChatDomain
import Columns

/// Who was in which thread and who lived in which outward code from which position to which, and how far they had read.
struct PostcodeMembership: Equatable, Sendable {
    /// By the numbers of ``ChatDomain/ChatState/dependents.memberships``: the newest links of the chains of the two that follow.
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

    /// Takes in the next event.
    mutating func apply(_ event: EventRow, at position: Position, _ numbers: EventNumbers) {
        switch event.kind {
        case .threadJoined, .threadLeft:
            note(numbers)
            guard numbers.isNew else { return }
            let isMember: UInt32 = event.kind == .threadJoined ? 1 : 0
            presences.append(isMember, at: position, to: &presence[numbers.membership])
        case .threadRead:
            note(numbers)
            if numbers.isNew { markers.append(event.number, at: position, to: &marker[numbers.membership]) }
        case .postcodeSet: move(numbers.user, to: numbers.thread, at: position)
        default: break
        }
    }

    /// Takes in the next events.
    mutating func apply(_ events: NumberedEvents) {
        let (rows, numbers) = (events.events.rows, events.numbers)
        events.forEachOther(
            joins: { joins in
                let first = joins.startIndex
                let link = UInt32(truncatingIfNeeded: presences.count)
                presence.append(count: joins.count) { link + 1 + UInt32(truncatingIfNeeded: $0) }
                marker.append(count: joins.count) { _ in 0 }
                membershipsOfThread.append(count: joins.count) { numbers[joins[first + $0]].thread }
                membershipsOfUser.append(count: joins.count) { numbers[joins[first + $0]].user }
                presences.begin(count: joins.count, with: 1) { events.position(joins[first + $0]) }
            }, other: { index, _ in apply(rows[index], at: events.position(index), numbers[index]) })
    }

    /// Makes the row of a membership that has just come up.
    private mutating func note(_ numbers: EventNumbers) {
        guard numbers.membership == presence.count else { return }
        presence.append(0)
        marker.append(0)
        membershipsOfThread.append(to: numbers.thread)
        membershipsOfUser.append(to: numbers.user)
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

    /// The stretches of positions in which a membership held, up to a position: the last one is open if it did then.
    func intervals(_ membership: Int, asOf position: Position) -> [(from: Position, to: Position?)] {
        guard membership < presence.count else { return [] }
        let newest = presence[membership]
        let count = presences.count(newest, asOf: position)
        var intervals: [(from: Position, to: Position?)] = []
        for version in presences.versions(newest, ranks: 1..<count + 1) {
            if version.value == 1 {
                intervals.append((version.position, nil))
            } else if !intervals.isEmpty {
                intervals[intervals.count - 1].to = version.position
            }
        }
        return intervals
    }

    /// Who lived in the outward code of a thread as of a position and since which one, in the order in which they moved there.
    func residents(ofThread thread: Int, asOf position: Position) -> [(user: Int, since: Position)] {
        residencesOfThread.rows(of: thread).compactMap { pair -> (user: Int, since: Position)? in
            let user = residencePairs.pair(pair).first
            guard let residence = residences.version(residenceOfUser[user], asOf: position), residence.value == UInt32(thread) else {
                return nil
            }
            return (user, residence.position)
        }.sorted { $0.since < $1.since }
    }
}

extension Column {
    /// Changes the element at an index, after filling up the column as far as that.
    mutating func element(_ index: Int, default filler: @autoclosure () -> Element, _ change: (inout Element) -> Void) {
        while count <= index { append(filler()) }
        change(&self[index])
    }
}
