public import ChatDomain

/// The built-in projections together, as a store keeps them.
public struct ReadModels: Projection, Equatable {
    /// The name of the projection.
    public static let name = "built-in"
    /// Names, postcodes and subjects; no bodies.
    public static let contents = ContentSelection.indexed

    /// What was said.
    public private(set) var timelines = ThreadTimelines()
    /// Who is where.
    public private(set) var membership = PostcodeMembership()
    /// Who the users are.
    public private(set) var users = UserViews()
    /// The position of the last event that the read models have taken in.
    public private(set) var position: Position = 0

    /// Makes the read models before the first event.
    public init() {}

    /// Takes in the next event.
    public mutating func apply(_ event: Event, at position: Position) {
        timelines.apply(event, at: position)
        membership.apply(event, at: position)
        users.apply(event, at: position)
        self.position = position
    }
}

extension ReadModels {
    /// Whether a user may read a thread: current members read all of it, nobody else reads any of it.
    ///
    /// The one place that decides this.
    public func mayRead(_ viewer: UserID, _ thread: ThreadID) -> Bool { membership.memberSince(viewer, in: thread) != nil }

    /// How many messages of a thread a member has not read: those after the later of read marker and last join, by others, not retracted.
    public func unreadCount(of user: UserID, in thread: ThreadID) -> Int {
        guard let since = membership.memberSince(user, in: thread) else { return 0 }
        return timelines.unreadCount(in: thread, after: max(since, users.readUpTo(user, in: thread)), by: user)
    }
}
