package import ChatDomain
import Columns

/// The ends of levels of notifications that have not passed.
struct LevelEnds: Equatable, Sendable {
    struct End: Equatable, Comparable {
        var time: Timestamp
        var membership: Int

        static func < (first: End, second: End) -> Bool { (first.time, first.membership) < (second.time, second.membership) }
    }

    /// The earliest end; later than every recordable time without one.
    private(set) var next = Timestamp(millisecondsSince1970: .max)
    /// The ends, latest first.
    private var ends: [End] = []

    mutating func insert(_ end: End) {
        ends.insert(end, at: index(of: end))
        next = ends[ends.count - 1].time
    }

    mutating func remove(_ end: End) {
        let index = index(of: end)
        if index < ends.count, ends[index] == end { ends.remove(at: index) }
        next = ends.last?.time ?? Timestamp(millisecondsSince1970: .max)
    }

    /// Removes and returns the earliest end, if it has passed at a time.
    mutating func pop(at time: Timestamp) -> End? {
        guard let end = ends.last, end.time <= time else { return nil }
        remove(end)
        return end
    }

    private func index(of end: End) -> Int { ends.indices.partitioningIndex { ends[$0] <= end } }
}

extension RareHistory {
    /// Sets the level of a membership.
    mutating func setLevel(_ level: LimitedLevel, at position: Position, of membership: Int) {
        if let until = LimitedLevel(rawValue: notifications.value(of: membership)).until {
            levelEnds.remove(.init(time: until, membership: membership))
        }
        notifications.set(level.rawValue, at: position, of: membership)
        if let until = level.until { levelEnds.insert(.init(time: until, membership: membership)) }
    }

    /// Ends the levels whose end has passed at the recording time of an event, which they do not concern
    /// any more.
    mutating func endLevels(at position: Position, _ time: Timestamp) {
        while let end = levelEnds.pop(at: time) { notifications.clear(at: position, of: end.membership) }
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
    /// - Parameter membership: A membership of the identities; the level of a user who has left counts.
    /// - Complexity: O(log *n*) in the number of the levels that the user set in the thread.
    package func notifications(ofMembership membership: Int, asOf position: Position, at time: Timestamp) -> LimitedLevel {
        LimitedLevel(rawValue: views.rare.notifications.value(of: membership, asOf: position)).inEffect(at: time)
    }

    /// Returns the level that a user had set in a thread as of a position, whose end may have passed.
    package func notifications(of user: UserID, in thread: ThreadID, asOf position: Position) -> LimitedLevel {
        let membership = membershipIndex(user, thread)
        return LimitedLevel(rawValue: membership.map { views.rare.notifications.value(of: $0, asOf: position) } ?? 0)
    }
}
