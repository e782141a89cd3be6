package import ChatDomain
import Columns

extension CommunityHistory {
    /// Sets the role of the user of an event in its thread; `member` ends another one.
    mutating func setRole(_ role: ThreadRole, at position: Position, _ indexes: EventIndexes) {
        let (user, thread) = (UInt32(truncatingIfNeeded: indexes.user), UInt32(truncatingIfNeeded: indexes.thread))
        if roles.value(of: indexes.membership) != 0 {
            moderators[thread]?.removeAll { $0 == user }
            if moderators[thread]?.isEmpty == true { moderators[thread] = nil }
        }
        guard role != .member else { return roles.clear(at: position, of: indexes.membership) }
        roles.set(UInt8(role.code), at: position, of: indexes.membership)
        moderators[thread, default: []].append(user)
    }

    /// Finds the owners and moderators by their roles.
    mutating func readModerators(_ ids: Identities) {
        let holders = (0..<roles.rows.count).compactMap { row in
            roles.version(of: roles.rows.entry(row), asOf: .max).flatMap { version in
                version.value == 0
                    ? nil : (since: version.position, membership: ids.memberships.pair(roles.rows.entry(row)))
            }
        }
        for holder in holders.sorted(by: { $0.since < $1.since }) {
            let (user, thread) = holder.membership
            moderators[UInt32(truncatingIfNeeded: thread), default: []].append(UInt32(truncatingIfNeeded: user))
        }
    }

    /// Returns the users to whom reports in a thread go: its owners and moderators or, if it has
    /// none, the operators of the community, in the order in which they became that; no erased
    /// users.
    func reportRecipients(in thread: Int) -> [Int] {
        let moderators = moderators[UInt32(truncatingIfNeeded: thread), default: []].map { Int($0) }.filter {
            !erasedUsers.contains($0)
        }
        return moderators.isEmpty ? operatorsWithoutErased : moderators
    }

    /// The operators of the community who are not erased, in the order in which they became that.
    var operatorsWithoutErased: [Int] {
        operators(asOf: .max).map(\.user).filter { !erasedUsers.contains($0) }
    }

    /// Returns the operators of the community and the positions at which they became that, in this
    /// order.
    ///
    /// - Complexity: O(*n* log *n*) in the number of users who ever were operators.
    func operators(asOf position: Position) -> [(user: Int, since: Position)] {
        (0..<operators.rows.count).compactMap { row in
            let user = operators.rows.entry(row)
            return operators.version(of: user, asOf: position).flatMap {
                $0.value == 0 ? nil : (user: user, since: $0.position)
            }
        }.sorted { $0.since < $1.since }
    }
}

extension ReadModels {
    /// Whether a user exists to whom reports of a post go; true for an unknown post.
    package func hasReportRecipient(_ post: PostID) -> Bool {
        identities.find(post).map { hasReportRecipient(in: identities.thread(of: $0)) } ?? true
    }

    /// Whether a user exists to whom reports in a thread go; in a direct thread, an operator who is
    /// no member.
    private func hasReportRecipient(in thread: Int) -> Bool {
        let recipients = views.community.reportRecipients(in: thread)
        guard identities.directs.contains(thread) else { return !recipients.isEmpty }
        return recipients.contains { user in
            identities.memberships.find(user, thread).flatMap { views.membership.joinPosition($0, asOf: .max) } == nil
        }
    }

    /// The number of posts with open reports that no moderator and no operator can read.
    ///
    /// - Complexity: O(*n* *m* log *m*) in the number of threads with open reports, and of the
    ///   users who ever were operators.
    package var unattendedReportCount: Int {
        views.community.reports.openPostCounts.reduce(0) { hasReportRecipient(in: Int($1.key)) ? $0 : $0 + $1.value }
    }

    /// Whether a user was an operator of the community.
    package func isOperator(_ user: UserID, asOf position: Position) -> Bool {
        operatorSince(user, asOf: position) != nil
    }

    /// Returns the position at which an operator became one; nil for other users.
    package func operatorSince(_ user: UserID, asOf position: Position) -> Position? {
        identities.index(ofUser: user).flatMap { views.community.operators.version(of: $0, asOf: position) }
            .flatMap { $0.value != 0 ? $0.position : nil }
    }

    /// Returns the operators and the positions at which they became that, in this order.
    ///
    /// - Complexity: O(*n* log *n*) in the number of users who ever were operators.
    package func operators(asOf position: Position) -> [Membership] {
        views.community.operators(asOf: position).compactMap {
            membership(IndexedMembership(user: $0.user, thread: 0, since: $0.since), asOf: position)
        }
    }

    /// Returns the number of times a user became or ceased to be an operator, which alternate.
    package func operatorChangeCount(of user: UserID, asOf position: Position) -> Int {
        identities.index(ofUser: user).map { views.community.operators.count(of: $0, asOf: position) } ?? 0
    }

    /// Returns the periods in which a user was an operator.
    ///
    /// - Parameter changes: A range of the user's changes, from 1, the first of which begins a
    ///   period.
    package func operatorPeriods(of user: UserID, changes: Range<Int>) -> [(from: Position, to: Position?)] {
        guard let user = identities.index(ofUser: user) else { return [] }
        var periods: [(from: Position, to: Position?)] = []
        for version in views.community.operators.versions(of: user, ranks: changes) {
            if version.value != 0 {
                periods.append((version.position, nil))
            } else if !periods.isEmpty {
                periods[periods.count - 1].to = version.position
            }
        }
        return periods
    }

    /// Returns a member's role and the position since which they have it; nil for other users.
    package func role(of user: UserID, in thread: ThreadID, asOf position: Position) -> (
        role: ThreadRole, since: Position
    )? {
        guard let user = identities.index(ofUser: user), let thread = identities.index(ofThread: thread),
            let membership = identities.memberships.find(user, thread)
        else { return nil }
        return role(ofMembership: membership, asOf: position)
    }

    /// Returns the role of a membership and the position since which it holds; nil if the
    /// membership did not hold.
    package func role(ofMembership membership: Int, asOf position: Position) -> (role: ThreadRole, since: Position)? {
        guard let join = views.membership.joinPosition(membership, asOf: position) else { return nil }
        guard let version = views.community.roles.version(of: membership, asOf: position), version.position >= join
        else {
            return (.member, join)
        }
        return (ThreadRole(code: UInt64(version.value)) ?? .member, version.position)
    }

    /// Whether a user moderated a thread: as a moderator, an owner or an operator, who moderates no
    /// direct thread.
    package func moderates(_ user: UserID, _ thread: ThreadID, asOf position: Position) -> Bool {
        if let role = role(of: user, in: thread, asOf: position)?.role, role >= .moderator { return true }
        return isOperator(user, asOf: position) && !isDirect(thread)
            && !(index(ofThread: thread, asOf: position).map { isInDoubt($0, asOf: position) } ?? false)
    }
}
