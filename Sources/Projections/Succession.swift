import ChatDomain
import Columns
import Primitives

/// The end of a user's role in a thread, and who becomes an owner then.
package struct Succession: Equatable, Sendable {
    /// The user whose role ends.
    package let user: Int
    package let thread: Int
    /// The member who becomes an owner; nil if the thread has another owner, or no other member.
    package let successor: Int?
}

extension ReadModels {
    /// The users whose content was erased.
    package var erasedUsers: Set<Int> { views.community.erasedUsers }

    /// Returns the roles that erased users have, at most one of each thread, with the successors of
    /// those who are the only owners.
    ///
    /// The successor is the moderator who joined first or, without one, the member who joined
    /// first; the latest join of each counts.
    ///
    /// - Parameters:
    ///   - erased: The erased users.
    ///   - limit: The maximum number of roles.
    /// - Complexity: O(*n* + *m*), where *n* is the number of users who ever had a role in a
    ///   thread, and *m* that of the members whom the threads without another owner and moderator
    ///   ever had.
    package func successions(of erased: Set<Int>, limit: Int) -> [Succession] {
        let roles = views.community.roles
        var found: [Succession] = []
        var threads: Set<Int> = []
        for row in 0..<roles.rows.count where found.count < limit {
            let membership = roles.rows.entry(row)
            let (user, thread) = identities.memberships.pair(membership)
            let role = roles.value(of: membership)
            guard role != 0, erased.contains(user), threads.insert(thread).inserted else { continue }
            let isOwner = UInt64(role) == ThreadRole.owner.code
            found.append(
                Succession(user: user, thread: thread, successor: isOwner ? successor(in: thread, erased) : nil))
        }
        return found
    }

    /// Returns the erased users who are operators of the community.
    package func operators(of erased: Set<Int>) -> [Int] {
        views.community.operators(asOf: .max).map(\.user).filter(erased.contains)
    }

    /// Returns the member who succeeds an erased owner; nil if the thread has another owner, also
    /// an erased one, or no other member.
    private func successor(in thread: Int, _ erased: Set<Int>) -> Int? {
        let staff = (views.community.moderators[UInt32(truncatingIfNeeded: thread)] ?? []).map { Int($0) }
        let known = staff.compactMap { user in
            identities.memberships.find(user, thread).map { (user: user, membership: $0) }
        }
        let ownerCode = UInt8(ThreadRole.owner.code)
        let owners = known.filter { views.community.roles.value(of: $0.membership) == ownerCode }
        // Of several erased owners, each commit ends the role of one, and the last one has a
        // successor.
        if owners.count > 1 { return nil }
        if let moderator = earliest(known.filter { !erased.contains($0.user) }.map(\.membership)) { return moderator }
        return earliest(memberships(of: thread, without: erased))
    }

    /// Returns the owner who joined a thread first or, without one, the member who did; nil without
    /// members.
    ///
    /// Erased users are none.
    ///
    /// - Complexity: O(*n*) in the number of users who ever were members.
    package func firstOwnerOrMember(of thread: Int) -> Int? {
        let memberships = memberships(of: thread, without: erasedUsers)
        let ownerCode = UInt8(ThreadRole.owner.code)
        return earliest(memberships.filter { views.community.roles.value(of: $0) == ownerCode })
            ?? earliest(memberships)
    }

    /// Returns the memberships that a thread ever had, without those of erased users.
    private func memberships(of thread: Int, without erased: Set<Int>) -> [Int] {
        var memberships: [Int] = []
        var next = views.membership.membershipsOfThread.last(of: thread)
        while let membership = next {
            if !erased.contains(identities.memberships.pair(membership).first) { memberships.append(membership) }
            next = views.membership.membershipsOfThread.row(before: membership)
        }
        return memberships
    }

    /// Returns the user of the membership that began first of those that hold.
    private func earliest(_ memberships: [Int]) -> Int? {
        var earliest: (membership: Int, since: Position)?
        for membership in memberships {
            guard let since = views.membership.joinPosition(membership, asOf: .max), since < earliest?.since ?? .max
            else { continue }
            earliest = (membership, since)
        }
        return earliest.map { identities.memberships.pair($0.membership).first }
    }
}
