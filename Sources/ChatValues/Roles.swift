public import ChatDomain

/// A moderator or an owner of a thread.
public struct RoleHolder: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserSummary
    /// The role.
    public var role: ThreadRole
    /// The position of the event that gave the role.
    public var since: Position

    /// Creates a holder of a role, for example in a test.
    public init(user: UserSummary, role: ThreadRole, since: Position) {
        (self.user, self.role, self.since) = (user, role, since)
    }
}

/// An operator of the community.
public struct CommunityOperator: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserSummary
    /// The position of the event that made the user an operator.
    public var since: Position

    /// Creates an operator, for example in a test.
    public init(user: UserSummary, since: Position) { (self.user, self.since) = (user, since) }
}

extension RoleHolder: PageEntry {
    /// The position that bounds its pages: ``since``.
    public var pageKey: Position { since }
}

extension CommunityOperator: PageEntry {
    /// The position that bounds its pages: ``since``.
    public var pageKey: Position { since }
}

/// The owners and moderators of a thread, in the order in which they got their roles.
public struct RolesQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<RoleHolder>
    /// The name and the path.
    public static let name = "roles", path = "/v1/threads/{thread}/roles"

    /// The thread.
    public var thread: ThreadID
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(thread: ThreadID, page: PageRequest = .latest()) { (self.thread, self.page) = (thread, page) }
}
