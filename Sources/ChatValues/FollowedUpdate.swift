public import ChatDomain

/// What a client must know to show a viewer what they may see, and no more: an element of
/// `ChatUpdates`.
public enum FollowedUpdate: Hashable, Sendable {
    /// An event in the form that `EventFilter.viewer` describes.
    case event(FollowedEvent)
    /// Content of earlier events was erased: forget it.
    case erased(ErasedContent, ResumeToken)
    /// The viewer can no longer read a thread, or no longer all that they could read of it: forget
    /// everything in the thread. If the thread can still be read, read it again.
    case accessLost(ThreadID, ResumeToken)

    /// Continues after the update.
    ///
    /// A notice before the event that caused it has the token before that event, and is repeated if
    /// a client continues there.
    public var resumeToken: ResumeToken {
        switch self {
        case .event(let event): event.resumeToken
        case .erased(_, let token), .accessLost(_, let token): token
        }
    }
}

/// What an erasure removed of the content that a viewer could be shown.
///
/// An erasure of more content is told in several pieces.
public struct ErasedContent: Hashable, Sendable {
    /// The maximum number of events in a piece.
    public static let maximumEventCount = 200

    /// The events that have lost their content: forget their texts, names, reasons and payloads.
    public var positions = PositionSet()
    /// The messages and replies that have lost a text, the current one or an earlier one.
    ///
    /// Their order has no meaning; in JSON the messages come first.
    public var posts: [PostID] = []
    /// The threads of the events.
    public var threads: [ThreadID] = []
    /// The users of the events, and the user whose content was erased.
    public var users: [UserID] = []
    /// The threads among ``threads`` that have no name any more.
    public var namelessThreads: [ThreadID] = []
    /// The users among ``users`` who have no name any more, as the viewer is shown it: who cannot be
    /// looked up any more is shown with a name of before.
    public var namelessUsers: [UserID] = []

    /// Creates an empty piece.
    public init() {}

    /// Whether the piece names nothing.
    public var isEmpty: Bool { positions.isEmpty && posts.isEmpty && threads.isEmpty && users.isEmpty }
}

extension ErasedContent: Codable {
    private enum CodingKeys: CodingKey {
        case positions, messages, replies, threads, users, namelessThreads, namelessUsers
    }

    /// Encodes the positions as ranges `[first, last]`, the posts as `messages` and `replies`, and
    /// every other field.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(positions, forKey: .positions)
        try container.encode(posts.filter { !$0.isReply }.map(\.idText), forKey: .messages)
        try container.encode(posts.filter(\.isReply).map(\.idText), forKey: .replies)
        try container.encode(threads, forKey: .threads)
        try container.encode(users, forKey: .users)
        try container.encode(namelessThreads, forKey: .namelessThreads)
        try container.encode(namelessUsers, forKey: .namelessUsers)
    }

    /// Decodes the form that `encode(to:)` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        positions = try container.decode(PositionSet.self, forKey: .positions)
        posts =
            try container.decode([MessageID].self, forKey: .messages).map(PostID.message)
            + container.decode([ReplyID].self, forKey: .replies).map(PostID.reply)
        threads = try container.decode([ThreadID].self, forKey: .threads)
        users = try container.decode([UserID].self, forKey: .users)
        namelessThreads = try container.decode([ThreadID].self, forKey: .namelessThreads)
        namelessUsers = try container.decode([UserID].self, forKey: .namelessUsers)
    }
}
