import ChatDomain
import ChatValues
import Projections

/// The names under which a viewer is shown people; each person is looked for once for a page.
///
/// A user has their name as of the queried position if the viewer could look them up then
/// (``ChatReader/person(_:threads:)``). A person whom they could not look up has the name as
/// of the last position at which they could; without one, as of the last position at which the
/// person was a member of the thread that is shown, which the viewer may read, or else as of the
/// event that is shown; in a thread that they never could read, as of their invitation.
///
/// An erased name is in no read model: they are built again without it (`ChatStore+Erase`).
struct ShownNames {
    /// The maximum number of memberships and their changes that are looked at for a page; people
    /// beyond it have no name.
    static let maximumStepCount = 20_000

    private let viewpoint: Viewpoint
    /// The people who are not members of a thread together with the viewer, by index.
    private var acquaintances: [Int: Acquaintance] = [:]
    private var steps = Self.maximumStepCount
    /// The thread of the page, of which the viewer is a member.
    private var ownThread: ThreadID?
    /// The index of the last person who was found there.
    private var lastMember = -1

    init(from viewpoint: Viewpoint) { self.viewpoint = viewpoint }

    /// Returns the name of a user; nil if they have none.
    ///
    /// - Parameters:
    ///   - thread: The thread that is shown; nil for none.
    ///   - event: The position of the event that is shown; nil for the queried one.
    mutating func name(
        of user: Int, in thread: ThreadID?, at event: Position? = nil, _ models: ReadModels
    ) -> String? {
        position(of: user, in: thread, at: event, models).flatMap { models.name(ofUser: user, asOf: $0) }
    }

    /// Returns the id and the name of a user.
    mutating func summary(
        of user: UserID, in thread: ThreadID?, at event: Position? = nil, _ models: ReadModels
    ) -> UserSummary {
        UserSummary(id: user, username: models.userIndex(user).flatMap { name(of: $0, in: thread, at: event, models) })
    }

    /// Returns the id and the name of the user of a membership of the thread that is shown, or of a
    /// residence.
    mutating func summary(of row: IndexedMembership, in thread: ThreadID, _ models: ReadModels) -> UserSummary {
        // A resident whom the viewer never met has the name as of the postcode.
        UserSummary(id: models.userID(row), username: name(of: row.user, in: thread, at: row.since, models))
    }

    /// Replaces the names of the people of a direct thread.
    mutating func show(_ people: inout [UserSummary]?, ofDirect thread: ThreadID, _ models: ReadModels) {
        guard let known = people, !areMembersOnly(in: thread, models) else { return }
        people = known.map { summary(of: $0.id, in: thread, models) }
    }

    /// Returns the position as of which a user is named; nil for no name.
    mutating func position(
        of user: Int, in thread: ThreadID?, at event: Position? = nil, _ models: ReadModels
    ) -> Position? {
        let position = viewpoint.position
        guard let viewer = viewpoint.viewer.user, let own = models.userIndex(viewer), own != user else {
            return position
        }
        if let thread, isMember(user, of: thread, beside: own, models) { return position }
        switch acquaintance(user, own, models) {
        case .until(let last): return last
        case .unknown: return nil
        case .never:
            guard let thread else { return event ?? position }
            guard models.mayRead(thread, from: viewpoint) else {
                return models.toldPosition(of: thread, at: event ?? position, from: viewpoint)
            }
            return models.lastMembership(user, of: thread, asOf: position) ?? event ?? position
        }
    }

    /// Whether the viewer, and so everybody who posted, is a member of a thread that nobody has
    /// left.
    func areMembersOnly(in thread: ThreadID, _ models: ReadModels) -> Bool {
        guard let viewer = viewpoint.viewer.user else { return true }
        return models.hasMembersOnly(thread) && models.joinPosition(viewer, in: thread, asOf: viewpoint.position) != nil
    }

    /// Whether a user and the viewer are members of the thread that is shown, as most people are.
    private mutating func isMember(_ user: Int, of thread: ThreadID, beside viewer: Int, _ models: ReadModels) -> Bool {
        if thread != ownThread {
            guard models.isMember(viewer, of: thread, asOf: viewpoint.position) else { return false }
            (ownThread, lastMember) = (thread, -1)
        }
        if user == lastMember { return true }
        guard models.isMember(user, of: thread, asOf: viewpoint.position) else { return false }
        lastMember = user
        return true
    }

    private mutating func acquaintance(_ user: Int, _ viewer: Int, _ models: ReadModels) -> Acquaintance {
        if let known = acquaintances[user] { return known }
        let found = models.acquaintance(viewer, user, asOf: viewpoint.position, &steps)
        acquaintances[user] = found
        return found
    }
}
