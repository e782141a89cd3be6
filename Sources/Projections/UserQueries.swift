package import ChatDomain
import Columns

/// A user's membership of a thread, or residence in an outward code.
package struct Membership: Hashable, Sendable {
    /// The user.
    package var user: UserID
    /// The user's name; nil if erased.
    package var username: String?
    /// The position at which it began.
    package var since: Position
    /// The user's postcode; nil if unknown or erased.
    package var postcode: Postcode?
}

/// A range of positions during which a user could read a thread.
package struct Access: Hashable, Sendable {
    /// The thread.
    package var thread: ThreadID
    /// The position of the join.
    package var from: Position
    /// The position of the departure; nil for a member.
    package var to: Position?

    /// Creates a range.
    package init(thread: ThreadID, from: Position, to: Position? = nil) {
        self.thread = thread
        self.from = from
        self.to = to
    }

    /// Returns the ranges with overlapping ones of the same thread merged, ordered by start and
    /// thread.
    package static func merged(_ ranges: [Access]) -> [Access] {
        var merged: [Access] = []
        for range in ranges.sorted(by: { ($0.thread, $0.from) < ($1.thread, $1.from) }) {
            if let last = merged.last, last.thread == range.thread, last.to.map({ range.from <= $0 }) ?? true {
                if let end = last.to { merged[merged.count - 1].to = range.to.map { max(end, $0) } }
            } else {
                merged.append(range)
            }
        }
        return merged.sorted { ($0.from, $0.thread) < ($1.from, $1.thread) }
    }
}

/// A thread that operators of the community could read without being members, while it was not
/// `inviteOnly`.
package struct OperatedThread: Sendable {
    let thread: ThreadID
    let index: Int
    /// The position of its first event.
    let openedAt: Position
    /// The number of times it became or ceased to be `inviteOnly`.
    package let changeCount: Int

    /// The whole time of a thread that never was `inviteOnly`.
    package var wholePeriod: [(from: Position, to: Position?)] { [(openedAt, nil)] }

    /// Returns the ranges in which an operator could read the thread.
    ///
    /// - Parameters:
    ///   - periods: The periods in which the user was an operator.
    ///   - disclosed: The periods in which the thread was not `inviteOnly`.
    package func access(
        in periods: [(from: Position, to: Position?)], disclosed: [(from: Position, to: Position?)]
    ) -> [Access] {
        periods.flatMap { period in
            disclosed.compactMap { disclosed in
                let from = max(period.from, disclosed.from)
                let to = min(period.to ?? .max, disclosed.to ?? .max)
                return from < to ? Access(thread: thread, from: from, to: to == .max ? nil : to) : nil
            }
        }
    }
}

extension ReadModels {
    /// Returns the position after which a user could read the messages of a thread; nil if they
    /// could read none of it.
    ///
    /// Members can read every message (0), or those after their latest join, by the thread's
    /// history at that join. Operators can read the messages of a thread that is not `inviteOnly`,
    /// after it last ceased to be. Other users can read nothing. Every access check uses this
    /// function.
    package func readingStart(_ viewer: UserID, _ thread: ThreadID, asOf position: Position) -> Position? {
        guard let index = identities.index(ofThread: thread) else { return nil }
        var start: Position?
        if isOperator(viewer, asOf: position), hasThread(thread, asOf: position) {
            start = disclosurePosition(ofThread: index, asOf: position)
            if start == 0 { return 0 }
        }
        guard let join = joinPosition(viewer, in: thread, asOf: position) else { return start }
        let asMember = policyAndHistory(ofThread: index, asOf: join).history == .sinceJoining ? join : 0
        return start.map { min($0, asMember) } ?? asMember
    }

    /// Whether a thread existed for a user: unless it is `inviteOnly` for everyone, otherwise for its
    /// members and for the users with an invitation.
    ///
    /// The rules have the same condition for commands (`RuleState.isKnown`).
    package func isKnown(_ thread: ThreadID, to user: UserID, asOf position: Position) -> Bool {
        guard let index = index(ofThread: thread, asOf: position) else { return false }
        if policyAndHistory(ofThread: index, asOf: position).policy != .inviteOnly { return true }
        guard let membership = membershipIndex(user, thread) else { return false }
        return views.membership.joinPosition(membership, asOf: position) != nil
            || invitation(ofMembership: membership, asOf: position) != nil
    }

    /// Whether a user could read a thread.
    package func mayRead(_ viewer: UserID, _ thread: ThreadID, asOf position: Position) -> Bool {
        readingStart(viewer, thread, asOf: position) != nil
    }

    /// Returns the position of a member's latest join; nil if the user was not a member.
    package func joinPosition(_ user: UserID, in thread: ThreadID, asOf position: Position) -> Position? {
        membershipIndex(user, thread).flatMap { views.membership.joinPosition($0, asOf: position) }
    }

    /// Returns the position of a user's read marker; 0 if never set.
    package func readMarker(_ user: UserID, in thread: ThreadID, asOf position: Position) -> Position {
        membershipIndex(user, thread).map { views.membership.readMarker($0, asOf: position) } ?? 0
    }

    /// Returns the operators of the community who could read a thread without being a member, in
    /// the order in which they could read it first.
    package func readingOperators(of thread: ThreadID, asOf position: Position) -> [Membership] {
        let opening = openingPosition(of: thread)
        return operators(asOf: position).filter { reader in
            mayRead(reader.user, thread, asOf: position) && joinPosition(reader.user, in: thread, asOf: position) == nil
        }.map { reader in
            var reader = reader
            reader.since = max(reader.since, opening, readingStart(reader.user, thread, asOf: position) ?? 0)
            return reader
        }.sorted { $0.since < $1.since }
    }

    /// Returns a user's threads with the positions of the joins, in joining order.
    package func threads(of user: UserID, asOf position: Position) -> [(thread: ThreadID, since: Position)] {
        compactMap(scan(membershipsOf: user)) { indexedMembership(ofMembership: $0, asOf: position) }.sorted { $0.since < $1.since }
            .map { (identities.threadID($0.thread), $0.since) }
    }

    /// Returns every thread that a user has ever joined, in no particular order.
    ///
    /// - Complexity: O(*n*) in the number of those threads, regardless of the number of joins.
    package func everJoinedThreads(of user: UserID) -> [ThreadID] { compactMap(scan(membershipsOf: user)) { threadID(ofMembership: $0) } }

    /// Returns the number of users.
    package func userCount(asOf position: Position) -> Int { views.users.count(asOf: position) }

    /// Returns the profile of a user; nil if unknown.
    package func profile(_ user: UserID, asOf position: Position) -> UserProfile? {
        identities.index(ofUser: user).flatMap { views.users.profile($0, identities, asOf: position) }
    }

    /// Returns the position of the event that set a user's name; nil if none.
    package func namePosition(of user: UserID, asOf position: Position) -> Position? {
        identities.index(ofUser: user).flatMap { views.users.namePosition($0, asOf: position) }
    }

    /// Returns the user with a username, compared under full case folding.
    package func user(named username: String, asOf position: Position) -> UserID? {
        user(withFoldKey: Username.foldKey(username), asOf: position)
    }

    /// Returns the user with this subject of the identity provider.
    package func user(withSubject subject: String, asOf position: Position) -> UserID? {
        views.users.owner(ofSubject: identities.subjects.find(subject), asOf: position).map { identities.userID($0) }
    }

    /// Returns the owner of a name, by fold key.
    package func user(withFoldKey foldKey: String, asOf position: Position) -> UserID? {
        views.users.owner(ofName: identities.foldKeys.find(foldKey), asOf: position).map { identities.userID($0) }
    }

    /// Whether a user may have had a name by this position; erased names count as a match.
    ///
    /// - Complexity: O(*n*) in the number of the user's names.
    package func mayHaveHadName(_ foldKey: String, _ user: UserID, asOf position: Position) -> Bool {
        identities.index(ofUser: user).map { views.users.mayHaveHadName(identities.foldKeys.find(foldKey), $0, asOf: position) } ?? true
    }

    /// Whether a user has ever joined a thread.
    package func hasBeenMember(_ user: UserID, of thread: ThreadID, asOf position: Position) -> Bool {
        membershipIndex(user, thread).map { views.membership.changeCount($0, asOf: position) > 0 } ?? false
    }

    /// Returns the position of a user's open invitation to a thread; nil if there is none.
    package func invitationPosition(of user: UserID, to thread: ThreadID, asOf position: Position) -> Position? {
        membershipIndex(user, thread).flatMap { invitation(ofMembership: $0, asOf: position) }
    }

    /// Whether a sanction of a user in a thread was imposed at a position and no command ended it.
    package func isSanctioned(_ user: UserID, in thread: ThreadID, since imposed: Position, asOf position: Position) -> Bool {
        membershipIndex(user, thread).map { sanctions(ofMembership: $0, asOf: position).contains { $0.position == imposed } } ?? false
    }

    /// Whether a user could ever read a thread as an operator, as their own access shows it.
    package func hasOperated(_ user: UserID, _ thread: ThreadID, asOf position: Position) -> Bool {
        let changes = operatorChangeCount(of: user, asOf: position)
        guard changes > 0, let index = identities.index(ofThread: thread), let operated = operatedThread(index, asOf: position) else {
            return false
        }
        let disclosed = disclosedPeriods(of: operated, changes: 0..<operated.changeCount + 1)
        return !operated.access(in: operatorPeriods(of: user, changes: 1..<changes + 1), disclosed: disclosed).isEmpty
    }

    /// Whether a user lived in the outward code of a thread.
    package func isResident(_ user: UserID, of thread: ThreadID, asOf position: Position) -> Bool {
        guard let user = identities.index(ofUser: user), let thread = identities.index(ofThread: thread),
            let residence = views.membership.residencePairs.find(user, thread)
        else { return false }
        return views.membership.residenceStart(residence, asOf: position) != nil
    }

    func membershipIndex(_ user: UserID, _ thread: ThreadID) -> Int? {
        guard let user = identities.index(ofUser: user), let thread = identities.index(ofThread: thread) else { return nil }
        return identities.memberships.find(user, thread)
    }
}

/// A membership or a residence as of a position, by dense indexes.
///
/// Unlike a ``Membership`` it has no name and no postcode, so it is cheap to collect and to sort.
package struct IndexedMembership: Sendable {
    package let user: Int
    package let thread: Int
    /// The position at which it began.
    package let since: Position
}

// Queries of one row each, so that a caller can release the models' lock between rows.
extension ReadModels {
    /// Returns a membership as of a position; nil if it did not hold.
    package func indexedMembership(ofMembership row: Int, asOf position: Position) -> IndexedMembership? {
        views.membership.joinPosition(row, asOf: position).map { since in
            let (user, thread) = identities.memberships.pair(row)
            return IndexedMembership(user: user, thread: thread, since: since)
        }
    }

    /// Returns a residence as of a position; nil if it did not hold.
    package func indexedMembership(ofResidence row: Int, asOf position: Position) -> IndexedMembership? {
        views.membership.residenceStart(row, asOf: position).map { since in
            let (user, thread) = views.membership.residencePairs.pair(row)
            return IndexedMembership(user: user, thread: thread, since: since)
        }
    }

    /// Returns a membership or residence with the user's id, name and postcode.
    package func membership(_ membership: IndexedMembership, asOf position: Position) -> Membership {
        Membership(
            user: identities.userID(membership.user), username: views.users.name(membership.user, asOf: position)?.text,
            since: membership.since,
            postcode: views.users.postcode(membership.user, asOf: position))
    }

    /// Returns the user of a membership or residence.
    package func userID(_ membership: IndexedMembership) -> UserID { identities.userID(membership.user) }

    /// Returns the thread of a membership or residence.
    package func threadID(_ membership: IndexedMembership) -> ThreadID { identities.threadID(membership.thread) }

    private func threadID(ofMembership row: Int) -> ThreadID { identities.threadID(identities.memberships.pair(row).second) }

    /// Returns the number of joins and departures of a membership as of a position, which
    /// alternate.
    package func changeCount(ofMembership row: Int, asOf position: Position) -> Int { views.membership.changeCount(row, asOf: position) }

    /// Returns the access periods for a range of a membership's changes, the first of which is a
    /// join.
    package func access(ofMembership row: Int, changes: Range<Int>) -> [Access] {
        let thread = threadID(ofMembership: row)
        return views.membership.intervals(row, changes: changes).map { Access(thread: thread, from: $0.from, to: $0.to) }
    }
}
