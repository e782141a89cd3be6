public import ChatDomain
import Columns

/// A user in a thread or an outward code, and since which position.
public struct Membership: Hashable, Sendable {
    /// The user.
    public var user: UserID
    /// The user's name, nil if it has been erased.
    public var username: String?
    /// Since which position.
    public var since: Position
    /// Where the user lived, nil if unknown or erased.
    public var postcode: Postcode?
}

/// A stretch of positions in which a user could read a thread.
public struct Access: Hashable, Sendable {
    /// The thread.
    public var thread: ThreadID
    /// The position of the join.
    public var from: Position
    /// The position of the departure, nil if the user was still a member.
    public var to: Position?

    /// Makes a stretch.
    public init(thread: ThreadID, from: Position, to: Position? = nil) {
        self.thread = thread
        self.from = from
        self.to = to
    }
}

extension ReadModels {
    /// Whether a user could read a thread: the members of the moment read all of it, nobody else reads any of it.
    ///
    /// The one place that decides this.
    public func mayRead(_ viewer: UserID, _ thread: ThreadID, asOf position: Position) -> Bool {
        memberSince(viewer, in: thread, asOf: position) != nil
    }

    /// The position of the latest join of a user who was in a thread; nil for anybody else.
    public func memberSince(_ user: UserID, in thread: ThreadID, asOf position: Position) -> Position? {
        membershipNumber(user, thread).flatMap { views.membership.since($0, asOf: position) }
    }

    /// How far a user had marked a thread as read, 0 if not at all.
    public func readUpTo(_ user: UserID, in thread: ThreadID, asOf position: Position) -> Position {
        membershipNumber(user, thread).map { views.membership.readUpTo($0, asOf: position) } ?? 0
    }

    /// Who was in a thread, in the order in which they joined.
    ///
    /// - Complexity: O(*n* log *n*) in those who ever were in it.
    public func members(of thread: ThreadID, asOf position: Position) -> [Membership] {
        guard let thread = identities.index(ofThread: thread) else { return [] }
        return views.membership.membershipsOfThread.rows(of: thread).compactMap { number -> (user: Int, since: Position)? in
            views.membership.since(number, asOf: position).map { (identities.memberships.pair(number).first, $0) }
        }.sorted { $0.since < $1.since }.map { record($0.user, since: $0.since, asOf: position) }
    }

    /// Who could read a thread, in the order in which they joined.
    ///
    /// - Complexity: As ``members(of:asOf:)``: nobody but a member can.
    public func readers(of thread: ThreadID, asOf position: Position) -> [Membership] {
        members(of: thread, asOf: position).filter { mayRead($0.user, thread, asOf: position) }
    }

    /// Who lived in an outward code, in the order in which they moved there.
    ///
    /// - Complexity: O(*n* log *n*) in those who ever lived there.
    public func residents(of code: OutwardCode, asOf position: Position) -> [Membership] {
        guard let thread = identities.index(ofThread: ThreadID(code)) else { return [] }
        return views.membership.residents(ofThread: thread, asOf: position).map { record($0.user, since: $0.since, asOf: position) }
    }

    /// The threads that a user was in and since when, in the order in which they were joined.
    public func threads(of user: UserID, asOf position: Position) -> [(thread: ThreadID, since: Position)] {
        guard let user = identities.index(ofUser: user) else { return [] }
        return views.membership.membershipsOfUser.rows(of: user).compactMap { number -> (thread: ThreadID, since: Position)? in
            views.membership.since(number, asOf: position).map {
                (identities.threadID(identities.memberships.pair(number).second), $0)
            }
        }.sorted { $0.since < $1.since }
    }

    /// The threads that a user has ever been in, in no order, as of the latest event.
    ///
    /// - Complexity: O(*n*) in the threads, however often the user came and went.
    package func threadsEver(of user: UserID) -> [ThreadID] {
        guard let user = identities.index(ofUser: user) else { return [] }
        return views.membership.membershipsOfUser.rows(of: user).map { identities.threadID(identities.memberships.pair($0).second) }
    }

    /// When a user gained and lost each thread, in the order in which they were gained.
    public func access(of user: UserID, asOf position: Position) -> [Access] {
        guard let user = identities.index(ofUser: user) else { return [] }
        return views.membership.membershipsOfUser.rows(of: user).flatMap { number in
            let thread = identities.threadID(identities.memberships.pair(number).second)
            return views.membership.intervals(number, asOf: position).map { Access(thread: thread, from: $0.from, to: $0.to) }
        }.sorted { $0.from < $1.from }
    }

    /// How many users there were.
    public func userCount(asOf position: Position) -> Int { views.users.count(asOf: position) }

    /// One user, nil if there was none of this id.
    public func profile(_ user: UserID, asOf position: Position) -> UserProfile? {
        identities.index(ofUser: user).flatMap { views.users.profile($0, identities, asOf: position) }
    }

    /// The position of the event that gave a user the name that they bore; nil if there was none.
    package func namePosition(of user: UserID, asOf position: Position) -> Position? {
        identities.index(ofUser: user).flatMap { views.users.namePosition($0, asOf: position) }
    }

    /// The user who bore a username, compared as usernames are: under full case folding.
    public func user(named username: String, asOf position: Position) -> UserID? {
        bearer(of: Username.foldKey(username), asOf: position)
    }

    /// The user whom the identity provider called by this subject.
    public func user(withSubject subject: String, asOf position: Position) -> UserID? {
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
        membershipNumber(user, thread).map { !views.membership.intervals($0, asOf: position).isEmpty } ?? false
    }

    private func membershipNumber(_ user: UserID, _ thread: ThreadID) -> Int? {
        guard let user = identities.index(ofUser: user), let thread = identities.index(ofThread: thread) else { return nil }
        return identities.memberships.find(user, thread)
    }

    private func record(_ user: Int, since: Position, asOf position: Position) -> Membership {
        Membership(
            user: identities.userID(user), username: views.users.name(user, asOf: position)?.text, since: since,
            postcode: views.users.postcode(user, asOf: position))
    }
}
