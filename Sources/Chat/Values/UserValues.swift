public import ChatDomain

/// A member of a thread.
public struct ThreadMember: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserSummary
    /// The position at which they joined.
    public var since: Position
}

/// A stretch of the journal in which a user could read a thread: all of it, also what is older than the stretch.
public struct ThreadAccess: Hashable, Sendable, Codable {
    /// The thread.
    public var thread: ThreadID
    /// nil if the name has been erased.
    public var name: String?
    /// The position at which the user joined.
    public var from: Position
    /// The position at which the user left, nil while they are a member.
    public var to: Position?

    private enum CodingKeys: CodingKey { case thread, name, from, to }

    /// Writes every field; what is not there is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(thread, forKey: .thread)
        try container.encode(name, forKey: .name)
        try container.encode(from, forKey: .from)
        try container.encode(to, forKey: .to)
    }
}

/// Somebody who lives in an outward code.
public struct Resident: Hashable, Sendable, Codable {
    /// The user.
    public var user: UserSummary
    /// The position since which they live in the outward code; a move within it does not begin anew.
    public var since: Position
    /// nil if it has been erased, or is another's than the viewer's own.
    public var postcode: Postcode?
    /// The outward code in which they live.
    public var outwardCode: OutwardCode

    private enum CodingKeys: CodingKey { case user, since, postcode, outwardCode }

    /// Writes every field; what is not there is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(user, forKey: .user)
        try container.encode(since, forKey: .since)
        try container.encode(postcode, forKey: .postcode)
        try container.encode(outwardCode, forKey: .outwardCode)
    }
}

/// A user's own view: who they are, where they live, and their threads.
public struct UserDetails: Hashable, Sendable, Codable, Identifiable {
    /// The id.
    public var id: UserID
    /// nil if it has been erased.
    public var username: String?
    /// nil if none was set, or if it has been erased.
    public var postcode: Postcode?
    /// When it was created, as shown.
    public var createdAt: Timestamp
    /// The threads of which the user is a member now, in the order in which they joined.
    public var threads: [UserThread]

    private enum CodingKeys: CodingKey { case id, username, postcode, createdAt, threads }

    /// Writes every field; what is not there is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(username, forKey: .username)
        try container.encode(postcode, forKey: .postcode)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encode(threads, forKey: .threads)
    }
}

/// A thread in a user's view.
public struct UserThread: Hashable, Sendable, Codable, Identifiable {
    /// The id.
    public var id: ThreadID
    /// nil if the name has been erased.
    public var name: String?
    /// How many messages the user has not read: after the later of read marker and last join, by others, not retracted.
    public var unread: Int
    /// The user's read marker, 0 if there is none.
    public var readUpTo: Position
    /// The thread's latest message, nil if there is none.
    public var lastMessage: TimelineEntry?

    private enum CodingKeys: CodingKey { case id, name, unread, readUpTo, lastMessage }

    /// Writes every field; what is not there is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encode(unread, forKey: .unread)
        try container.encode(readUpTo, forKey: .readUpTo)
        try container.encode(lastMessage, forKey: .lastMessage)
    }
}
