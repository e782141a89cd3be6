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

extension ReadModels {
    /// Returns the position of a member's latest join; nil if the user was not a member.
    package func joinPosition(_ user: UserID, in thread: ThreadID, asOf position: Position) -> Position? {
        membershipIndex(user, thread).flatMap { views.membership.joinPosition($0, asOf: position) }
    }

    /// Returns the position of a user's read marker; 0 if never set.
    package func readMarker(_ user: UserID, in thread: ThreadID, asOf position: Position) -> Position {
        membershipIndex(user, thread).map { views.membership.readMarker($0, asOf: position) } ?? 0
    }

    /// Returns a user's threads with the positions of the joins, in joining order.
    package func threads(of user: UserID, asOf position: Position) -> [(thread: ThreadID, since: Position)] {
        compactMap(scan(membershipsOf: user)) { indexedMembership(ofMembership: $0, asOf: position) }.sorted {
            $0.since < $1.since
        }
        .map { (identities.threadID($0.thread), $0.since) }
    }

    /// Returns every thread that a user has ever joined, in no particular order.
    ///
    /// - Complexity: O(*n*) in the number of those threads, regardless of the number of joins.
    package func everJoinedThreads(of user: UserID) -> [ThreadID] {
        compactMap(scan(membershipsOf: user)) { threadID(ofMembership: $0) }
    }

    /// Whether a user has ever joined a thread.
    package func hasBeenMember(_ user: UserID, of thread: ThreadID, asOf position: Position) -> Bool {
        membershipIndex(user, thread).map { views.membership.changeCount($0, asOf: position) > 0 } ?? false
    }

    /// Whether a user lived in the outward code of a thread.
    package func isResident(_ user: UserID, of thread: ThreadID, asOf position: Position) -> Bool {
        guard let user = identities.index(ofUser: user), let thread = identities.index(ofThread: thread),
            let residence = views.membership.residencePairs.find(user, thread)
        else { return false }
        return views.membership.residenceStart(residence, asOf: position) != nil
    }

    /// Returns the row of a membership; nil if the user never was a member, or invited, muted or
    /// banned.
    ///
    /// It takes as long for a user who does not exist, so that the time of an answer does not tell
    /// whether one does.
    package func membershipIndex(_ user: UserID, _ thread: ThreadID) -> Int? {
        // No user has the index after the last one.
        let user = identities.index(ofUser: user) ?? identities.users.count
        return identities.index(ofThread: thread).flatMap { identities.memberships.find(user, $0) }
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

    private func threadID(ofMembership row: Int) -> ThreadID {
        identities.threadID(identities.memberships.pair(row).second)
    }

    /// Returns the number of joins and departures of a membership as of a position, which
    /// alternate.
    package func changeCount(ofMembership row: Int, asOf position: Position) -> Int {
        views.membership.changeCount(row, asOf: position)
    }

    /// Returns the access periods for a range of a membership's changes, the first of which is a
    /// join.
    package func access(ofMembership row: Int, changes: Range<Int>) -> [Access] {
        let thread = threadID(ofMembership: row)
        return views.membership.intervals(row, changes: changes).map {
            Access(thread: thread, from: $0.from, to: $0.to)
        }
    }
}
