package import ChatDomain
import Columns

/// Until when a user could look up another one, who is a member of a thread in common.
package enum Acquaintance: Hashable, Sendable {
    /// They had a thread in common as of this position, and later none.
    case until(Position)
    /// They had none.
    case never
    /// There are too many memberships to tell.
    case unknown
}

extension ReadModels {
    /// Returns the index of a user.
    package func userIndex(_ user: UserID) -> Int? { identities.index(ofUser: user) }

    /// Returns the name of a user by their index as of a position; nil if unknown.
    package func name(ofUser user: Int, asOf position: Position) -> String? {
        views.users.name(user, asOf: position)?.text
    }

    /// Whether every author of a thread is a member of it as of now, and was one as of every point
    /// since their first post.
    package func hasMembersOnly(_ thread: ThreadID) -> Bool {
        guard let thread = identities.index(ofThread: thread), thread < views.timelines.threads.count else {
            return false
        }
        return !views.timelines.threads[thread].mayHaveOutsiders
    }

    /// Whether a user, by their index, was a member of a thread.
    package func isMember(_ user: Int, of thread: ThreadID, asOf position: Position) -> Bool {
        identities.index(ofThread: thread).flatMap { identities.memberships.find(user, $0) }
            .map { views.membership.joinPosition($0, asOf: position) != nil } ?? false
    }

    /// Returns the last position, at most a given one, as of which a user, by their index, was a
    /// member of a thread; nil if they never were.
    package func lastMembership(_ user: Int, of thread: ThreadID, asOf position: Position) -> Position? {
        guard let membership = identities.index(ofThread: thread).flatMap({ identities.memberships.find(user, $0) })
        else { return nil }
        if views.membership.joinPosition(membership, asOf: position) != nil { return position }
        return views.membership.departure(membership, asOf: position).map { $0 - 1 }
    }

    /// Returns until when a user could look up another one, both by their indexes.
    ///
    /// - Parameter steps: The number of memberships and their changes that can still be looked at.
    /// - Complexity: O(*n*) in the smaller number of threads that one of the two ever joined.
    package func acquaintance(_ user: Int, _ other: Int, asOf position: Position, _ steps: inout Int) -> Acquaintance {
        let table = views.membership
        var (own, others) = (table.membershipsOfUser.last(of: user), table.membershipsOfUser.last(of: other))
        var last: Position?
        // Both lists at once: the shorter one has every thread in common.
        while let first = own, let second = others {
            steps -= 2
            for (row, partner) in [(first, other), (second, user)] {
                guard let paired = identities.memberships.find(partner, identities.memberships.pair(row).second),
                    let end = table.lastOverlap(row, paired, asOf: position, &steps)
                else { continue }
                if end == position { return .until(end) }
                last = max(last ?? 0, end)
            }
            guard steps > 0 else { return .unknown }
            (own, others) = (table.membershipsOfUser.row(before: first), table.membershipsOfUser.row(before: second))
        }
        return last.map { .until($0) } ?? .never
    }
}
