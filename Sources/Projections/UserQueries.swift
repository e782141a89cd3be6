package import ChatDomain
import Columns

/// A user in a thread or an outward code, and since which position.
package struct Membership: Hashable, Sendable {
    /// The user.
    package var user: UserID
    /// The user's name, nil if it has been erased.
    package var username: String?
    /// Since which position.
    package var since: Position
    /// Where the user lived, nil if unknown or erased.
    package var postcode: Postcode?
}

/// A stretch of positions in which a user could read a thread.
package struct Access: Hashable, Sendable {
    /// The thread.
    package var thread: ThreadID
    /// The position of the join.
    package var from: Position
    /// The position of the departure, nil if the user was still a member.
    package var to: Position?

    /// Makes a stretch.
    package init(thread: ThreadID, from: Position, to: Position? = nil) {
        self.thread = thread
        self.from = from
        self.to = to
    }
}

extension ReadModels {
    /// Whether a user could read a thread: the members of the moment read all of it, nobody else reads any of it.
    ///
    /// The one place that decides this.
    package func mayRead(_ viewer: UserID, _ thread: ThreadID, asOf position: Position) -> Bool {
        memberSince(viewer, in: thread, asOf: position) != nil
    }

    /// The position of the latest join of a user who was in a thread; nil for anybody else.
    package func memberSince(_ user: UserID, in thread: ThreadID, asOf position: Position) -> Position? {
        membershipNumber(user, thread).flatMap { views.membership.since($0, asOf: position) }
    }

    /// How far a user had marked a thread as read, 0 if not at all.
    package func readUpTo(_ user: UserID, in thread: ThreadID, asOf position: Position) -> Position {
        membershipNumber(user, thread).map { views.membership.readUpTo($0, asOf: position) } ?? 0
    }

    /// Who was in a thread, in the order in which they joined.
    ///
    /// - Complexity: O(*n* log *n*) in those who ever were in it.
    package func members(of thread: ThreadID, asOf position: Position) -> [Membership] {
        compactMap(scan(membershipsOf: thread)) { stay(ofMembership: $0, asOf: position) }.sorted { $0.since < $1.since }
            .map { membership($0, asOf: position) }
    }

    /// Who could read a thread, in the order in which they joined.
    ///
    /// - Complexity: As ``members(of:asOf:)``: nobody but a member can.
    package func readers(of thread: ThreadID, asOf position: Position) -> [Membership] {
        members(of: thread, asOf: position).filter { mayRead($0.user, thread, asOf: position) }
    }

    /// Who lived in an outward code, in the order in which they moved there.
    ///
    /// - Complexity: O(*n* log *n*) in those who ever lived there.
    package func residents(of code: OutwardCode, asOf position: Position) -> [Membership] {
        compactMap(scan(residencesOf: code)) { stay(ofResidence: $0, asOf: position) }.sorted { $0.since < $1.since }
            .map { membership($0, asOf: position) }
    }

    /// The threads that a user was in and since when, in the order in which they were joined.
    package func threads(of user: UserID, asOf position: Position) -> [(thread: ThreadID, since: Position)] {
        compactMap(scan(membershipsOf: user)) { stay(ofMembership: $0, asOf: position) }.sorted { $0.since < $1.since }
            .map { (identities.threadID($0.thread), $0.since) }
    }

    /// The threads that a user has ever been in, in no order, as of the latest event.
    ///
    /// - Complexity: O(*n*) in the threads, however often the user came and went.
    package func threadsEver(of user: UserID) -> [ThreadID] { compactMap(scan(membershipsOf: user)) { threadID(ofMembership: $0) } }

    /// When a user gained and lost each thread, in the order in which they were gained.
    package func access(of user: UserID, asOf position: Position) -> [Access] {
        compactMap(scan(membershipsOf: user)) { access(ofMembership: $0, changes: 1..<changeCount(ofMembership: $0, asOf: position) + 1) }
            .joined().sorted { $0.from < $1.from }
    }

    /// How many users there were.
    package func userCount(asOf position: Position) -> Int { views.users.count(asOf: position) }

    /// One user, nil if there was none of this id.
    package func profile(_ user: UserID, asOf position: Position) -> UserProfile? {
        identities.index(ofUser: user).flatMap { views.users.profile($0, identities, asOf: position) }
    }

    /// The position of the event that gave a user the name that they bore; nil if there was none.
    package func namePosition(of user: UserID, asOf position: Position) -> Position? {
        identities.index(ofUser: user).flatMap { views.users.namePosition($0, asOf: position) }
    }

    /// The user who bore a username, compared as usernames are: under full case folding.
    package func user(named username: String, asOf position: Position) -> UserID? {
        bearer(of: Username.foldKey(username), asOf: position)
    }

    /// The user whom the identity provider called by this subject.
    package func user(withSubject subject: String, asOf position: Position) -> UserID? {
        views.users.owner(ofSubject: identities.subjects.find(subject), asOf: position).map { identities.userID($0) }
    }

    /// The user who bore a name, by the name's fold key.
    package func bearer(of foldKey: String, asOf position: Position) -> UserID? {
        views.users.bearer(ofName: identities.names.find(foldKey), asOf: position).map { identities.userID($0) }
    }

    /// Whether a user ever bore a name as of a position, or bore one that is not known any more.
    ///
    /// - Complexity: O(*n*) in the names of the user.
    package func mayHaveBorne(_ foldKey: String, _ user: UserID, asOf position: Position) -> Bool {
        identities.index(ofUser: user).map { views.users.mayHaveBorne(identities.names.find(foldKey), $0, asOf: position) } ?? true
    }

    /// Whether a user has ever joined a thread.
    package func hasBeenMember(_ user: UserID, of thread: ThreadID, asOf position: Position) -> Bool {
        membershipNumber(user, thread).map { views.membership.changeCount($0, asOf: position) > 0 } ?? false
    }

    private func membershipNumber(_ user: UserID, _ thread: ThreadID) -> Int? {
        guard let user = identities.index(ofUser: user), let thread = identities.index(ofThread: thread) else { return nil }
        return identities.memberships.find(user, thread)
    }
}

/// A membership or a residence that held, by indexes.
package struct Stay: Sendable {
    package let user: Int
    package let thread: Int
    /// Since which position.
    package let since: Position
}

// Row by row, for questions that are asked in several sections.
extension ReadModels {
    /// A membership that held as of a position, nil if it did not.
    package func stay(ofMembership row: Int, asOf position: Position) -> Stay? {
        views.membership.since(row, asOf: position).map { since in
            let (user, thread) = identities.memberships.pair(row)
            return Stay(user: user, thread: thread, since: since)
        }
    }

    /// A residence that held as of a position, nil if it did not.
    package func stay(ofResidence row: Int, asOf position: Position) -> Stay? {
        views.membership.residentSince(row, asOf: position).map { since in
            let (user, thread) = views.membership.residencePairs.pair(row)
            return Stay(user: user, thread: thread, since: since)
        }
    }

    /// Who stayed.
    package func membership(_ stay: Stay, asOf position: Position) -> Membership {
        Membership(
            user: identities.userID(stay.user), username: views.users.name(stay.user, asOf: position)?.text, since: stay.since,
            postcode: views.users.postcode(stay.user, asOf: position))
    }

    /// The user of a stay.
    package func userID(_ stay: Stay) -> UserID { identities.userID(stay.user) }

    /// The thread of a stay.
    package func threadID(_ stay: Stay) -> ThreadID { identities.threadID(stay.thread) }

    private func threadID(ofMembership row: Int) -> ThreadID { identities.threadID(identities.memberships.pair(row).second) }

    /// How many times a membership began or ended up to a position: by turns.
    package func changeCount(ofMembership row: Int, asOf position: Position) -> Int { views.membership.changeCount(row, asOf: position) }

    /// When a user could read a thread, by some of the changes of the membership, of which the first is a beginning.
    package func access(ofMembership row: Int, changes: Range<Int>) -> [Access] {
        let thread = threadID(ofMembership: row)
        return views.membership.intervals(row, changes: changes).map { Access(thread: thread, from: $0.from, to: $0.to) }
    }
}
