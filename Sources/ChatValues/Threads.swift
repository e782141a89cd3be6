public import ChatDomain

/// A thread in the list of threads.
public struct ThreadSummary: Hashable, Sendable, Codable, Identifiable {
    /// The id.
    public var id: ThreadID
    /// The name; nil if erased, and for a direct thread.
    public var name: String?
    /// The people of a direct thread, of whom the opener is the first, also those who have left;
    /// nil for another thread.
    public var people: [UserSummary]?
    /// The outward code of a postcode thread; nil for a named thread.
    public var outwardCode: OutwardCode?
    /// The current number of members.
    public var memberCount: Int
    /// The number of messages in the timeline, including retracted and removed ones and excluding
    /// replies.
    public var messageCount: Int
    /// The position of the latest event other than a read marker; the key of pagination.
    public var lastPosition: Position
    /// The display time of creation.
    public var createdAt: Timestamp
    /// Who may join it.
    public var policy: ThreadPolicy
    /// The posts that its members may read.
    public var history = ThreadHistory.all
    /// Whether it is locked: no posts and no joins until a moderator unlocks it.
    public var isLocked = false
    /// Whether it is closed: no posts and no joins, permanently.
    public var isClosed = false

    /// Creates a thread, for example in a test.
    public init(
        id: ThreadID, name: String? = nil, people: [UserSummary]? = nil, outwardCode: OutwardCode? = nil,
        memberCount: Int,
        messageCount: Int, lastPosition: Position,
        createdAt: Timestamp, policy: ThreadPolicy, history: ThreadHistory = .all, isLocked: Bool = false,
        isClosed: Bool = false
    ) {
        (
            self.id, self.name, self.outwardCode, self.memberCount, self.messageCount, self.lastPosition,
            self.createdAt, self.policy,
            self.history, self.isLocked, self.isClosed
        ) = (
            id, name, outwardCode, memberCount, messageCount, lastPosition, createdAt, policy, history, isLocked,
            isClosed
        )
        self.people = people
    }

    private enum CodingKeys: String, CodingKey {
        case id, name, people, outwardCode
        case memberCount = "members"
        case messageCount = "messages"
        case lastPosition, createdAt, policy, history
        case isLocked = "locked"
        case isClosed = "closed"
    }

    /// Encodes every field; absent values are null.
    ///
    /// `policy` is encoded only if it is not the usual one (`residents` with an outward code, else
    /// `open`), `people` only for a direct thread, `history` only if it is `sinceJoining`, `locked`
    /// and `closed` only if they are true.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(name, forKey: .name)
        try container.encodeIfPresent(people, forKey: .people)
        try container.encode(outwardCode, forKey: .outwardCode)
        try container.encode(memberCount, forKey: .memberCount)
        try container.encode(messageCount, forKey: .messageCount)
        try container.encode(lastPosition, forKey: .lastPosition)
        try container.encode(createdAt, forKey: .createdAt)
        if policy != (outwardCode == nil ? .open : .residents) { try container.encode(policy, forKey: .policy) }
        if history != .all { try container.encode(history, forKey: .history) }
        if isLocked { try container.encode(true, forKey: .isLocked) }
        if isClosed { try container.encode(true, forKey: .isClosed) }
    }
}

extension ThreadSummary {
    /// Decodes the form that `encode(to:)` writes; a policy of a later version becomes
    /// `inviteOnly`, a history `sinceJoining`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let outwardCode = try container.decodeIfPresent(OutwardCode.self, forKey: .outwardCode)
        self.init(
            id: try container.decode(ThreadID.self, forKey: .id),
            name: try container.decodeIfPresent(String.self, forKey: .name),
            people: try container.decodeIfPresent([UserSummary].self, forKey: .people), outwardCode: outwardCode,
            memberCount: try container.decode(Int.self, forKey: .memberCount),
            messageCount: try container.decode(Int.self, forKey: .messageCount),
            lastPosition: try container.decode(Position.self, forKey: .lastPosition),
            createdAt: try container.decode(Timestamp.self, forKey: .createdAt),
            policy: try container.decodeKnown(forKey: .policy, orElse: ThreadPolicy.inviteOnly)
                ?? (outwardCode == nil ? .open : .residents),
            history: try container.decodeKnown(forKey: .history, orElse: ThreadHistory.sinceJoining) ?? .all,
            isLocked: try container.decodeIfPresent(Bool.self, forKey: .isLocked) ?? false,
            isClosed: try container.decodeIfPresent(Bool.self, forKey: .isClosed) ?? false)
    }
}

extension ThreadSummary: PageEntry {
    /// The position that bounds its pages: ``lastPosition``.
    public var pageKey: Position { lastPosition }
}

/// The threads that the viewer may read, ordered by their latest event.
public struct ThreadsQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<ThreadSummary>
    /// The name and the path.
    public static let name = "threads", path = "/v1/threads"

    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(page: PageRequest = .latest()) { self.page = page }
}

/// One thread.
public struct ThreadQuery: ChatQuery {
    /// The answer.
    public typealias Answer = ThreadSummary
    /// The name and the path.
    public static let name = "thread", path = "/v1/threads/{thread}"

    /// The thread.
    public var thread: ThreadID

    /// Creates the query.
    public init(thread: ThreadID) { self.thread = thread }
}
