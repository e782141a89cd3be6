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
