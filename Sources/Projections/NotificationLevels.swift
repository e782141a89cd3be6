package import ChatDomain
import Columns

/// The ends of levels of notifications, earliest first: a binary heap, because every member can
/// have one.
///
/// A level that was set again leaves its former end behind, which then has no effect.
struct LevelEnds: Sendable {
    struct End: Comparable {
        var time: Timestamp
        var membership: Int

        static func < (first: End, second: End) -> Bool { first.time < second.time }
    }

    /// The earliest end; later than every recordable time without one.
    private(set) var next = Timestamp(millisecondsSince1970: .max)
    private var heap: [End] = []

    /// Adds an end.
    ///
    /// - Complexity: O(log *n*) in the number of ends.
    mutating func insert(_ end: End) {
        heap.append(end)
        var child = heap.count - 1
        while child > 0, heap[child] < heap[(child - 1) / 2] {
            heap.swapAt(child, (child - 1) / 2)
            child = (child - 1) / 2
        }
        next = heap[0].time
    }

    /// Removes and returns the earliest end, if it has passed at a time.
    ///
    /// - Complexity: O(log *n*) in the number of ends.
    mutating func pop(at time: Timestamp) -> End? {
        guard let end = heap.first, end.time <= time else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            let children = (2 * parent + 1..<2 * parent + 3).filter { $0 < heap.count }
            guard let child = children.min(by: { heap[$0] < heap[$1] }), heap[child] < heap[parent] else { break }
            heap.swapAt(parent, child)
            parent = child
        }
        next = heap.first?.time ?? Timestamp(millisecondsSince1970: .max)
        return end
    }
}

extension LevelEnds: Equatable {
    /// Always true: the ends follow from the levels, which are compared.
    static func == (first: LevelEnds, second: LevelEnds) -> Bool { true }
}

extension CommunityHistory {
    /// Sets the level of a membership.
    mutating func setLevel(_ level: LimitedLevel, at position: Position, of membership: Int) {
        notifications.set(level.rawValue, at: position, of: membership)
        if let until = level.until { levelEnds.insert(.init(time: until, membership: membership)) }
    }

    /// Ends the levels whose end is at or before the recording time of an event, so that they do
    /// not apply to that event.
    mutating func endLevels(at position: Position, _ time: Timestamp) {
        while let end = levelEnds.pop(at: time) {
            guard LimitedLevel(rawValue: notifications.value(of: end.membership)).until == end.time else { continue }
            notifications.clear(at: position, of: end.membership)
        }
    }

    /// Finds the ends that have not passed by the levels.
    mutating func readLevelEnds() {
        for row in 0..<notifications.rows.count {
            let membership = notifications.rows.entry(row)
            guard let until = LimitedLevel(rawValue: notifications.value(of: membership)).until else { continue }
            levelEnds.insert(.init(time: until, membership: membership))
        }
    }
}

extension ReadModels {
    /// Returns what of a thread notified a user as of a position, as judged at a time.
    ///
    /// After the end of a level, the level is `all` without an end.
    ///
    /// - Parameter membership: A membership of the identities; the level of a user who has left
    ///   counts.
    /// - Complexity: O(log *n*) in the number of the levels that the user set in the thread.
    package func notifications(ofMembership membership: Int, asOf position: Position, at time: Timestamp)
        -> LimitedLevel
    {
        LimitedLevel(rawValue: views.community.notifications.value(of: membership, asOf: position)).inEffect(at: time)
    }

    /// Returns the level that a user had set in a thread as of a position, whose end may have
    /// passed.
    package func notifications(of user: UserID, in thread: ThreadID, asOf position: Position) -> LimitedLevel {
        let membership = membershipIndex(user, thread)
        return LimitedLevel(
            rawValue: membership.map { views.community.notifications.value(of: $0, asOf: position) } ?? 0)
    }
}
