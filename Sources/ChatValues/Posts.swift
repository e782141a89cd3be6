public import ChatDomain
import Primitives

/// A message or a reply, ready for display.
public struct Post: Hashable, Sendable, Identifiable {
    /// The position of the event that posted it; the key of pagination.
    ///
    /// From `Position.firstPending` on, the place in the outbox of a client (``isPending``).
    public var position: Position
    /// The id of the message or reply.
    public var id: PostID
    /// The thread of a message; nil for a reply, which is in the thread of the message it answers.
    public var thread: ThreadID?
    /// The message itself, or the message that a reply answers.
    public var message: MessageID
    /// The author.
    public var author: UserSummary
    /// The text; nil if it is retracted, removed, erased or withheld from the viewer.
    ///
    /// A query as of an earlier point withholds a text that another user has edited or retracted,
    /// or a moderator removed, since.
    public var body: String?
    /// The display time of creation.
    public var createdAt: Timestamp
    /// The time of the latest edit; nil if never edited.
    public var editedAt: Timestamp?
    /// The position of the latest edit; nil if never edited.
    ///
    /// With ``position``, it is what an edit names as the text that it replaces.
    public var editPosition: Position?
    /// Whether its author retracted it.
    public var isRetracted: Bool
    /// Whether a moderator removed it.
    public var isRemoved = false
    /// Whether the viewer has blocked its author.
    public var isFromBlockedUser = false
    /// The number of replies that are neither retracted nor removed; 0 for a reply.
    public var replyCount: Int
    /// The reactions and the mentions, which most posts lack.
    ///
    /// One reference, because a copy of a post retains even an empty array (Benchmarks/README.md,
    /// R2).
    @usableFromInline var lists = PostLists.none
}

extension Position {
    /// The first position of a post that is in the outbox of a client, and in no journal yet: 2⁶³.
    ///
    /// Such positions follow the order of the outbox. No journal reaches this position.
    public static var firstPending: Position { 1 << 63 }
}

extension Post {
    /// Whether the post is in the outbox of a client, and no server has confirmed it.
    ///
    /// Once it is confirmed, the post has the same id and the position of its event. A store never
    /// returns a pending post.
    public var isPending: Bool { position >= .firstPending }

    /// The present reactions, by emoji, in the order of the first one that is still present; none
    /// if the post is withdrawn.
    public var reactions: [PostReaction] {
        get { lists.reactions }
        set { lists = .of(newValue, lists.mentions) }
    }

    /// The users whom the text mentions, in the order of the command; empty if the post is
    /// retracted or removed, or if its text is withheld from the viewer.
    ///
    /// They stay if the text is erased.
    public var mentions: [UserID] {
        get { lists.mentions }
        set { lists = .of(lists.reactions, newValue) }
    }
}

/// The reactions and the mentions of a post; `none` if both are empty, so that equal posts are
/// stored alike.
///
/// Usable from inline, so that other modules inline the initializer of a post, which must be short.
@usableFromInline indirect enum PostLists: Hashable, Sendable {
    case none
    case some([PostReaction], [UserID])

    @inline(never) @usableFromInline static func of(_ reactions: [PostReaction], _ mentions: [UserID]) -> PostLists {
        reactions.isEmpty && mentions.isEmpty ? .none : .some(reactions, mentions)
    }

    var reactions: [PostReaction] { if case .some(let reactions, _) = self { reactions } else { [] } }
    var mentions: [UserID] { if case .some(_, let mentions) = self { mentions } else { [] } }
}

// In an extension, in another order than the properties, so that the struct keeps the initializer
// that the compiler makes: one written in the struct copies each post of a page once more
// (Benchmarks/README.md, R2).
extension Post {
    /// Creates a post, for example in a test.
    public init(
        id: PostID, position: Position, thread: ThreadID? = nil, message: MessageID, author: UserSummary,
        body: String? = nil,
        createdAt: Timestamp, editedAt: Timestamp? = nil, editPosition: Position? = nil, isRetracted: Bool,
        isRemoved: Bool = false,
        isFromBlockedUser: Bool = false, replyCount: Int, reactions: [PostReaction] = [], mentions: [UserID] = []
    ) {
        self.init(
            position: position, id: id, thread: thread, message: message, author: author, body: body,
            createdAt: createdAt,
            editedAt: editedAt, editPosition: editPosition, isRetracted: isRetracted, isRemoved: isRemoved,
            isFromBlockedUser: isFromBlockedUser, replyCount: replyCount, lists: .of(reactions, mentions))
    }
}

/// A message or a reply with its full history and the users who could read it when it was posted.
public struct PostDetails: Hashable, Sendable {
    /// The message or reply.
    public var post: Post
    /// The thread.
    public var thread: ThreadID
    /// The thread's name; nil if erased.
    public var threadName: String?
    /// The events that posted, edited, retracted and removed it, oldest first, redacted for the
    /// viewer.
    ///
    /// Limited to the latest edits.
    public var history: [RecordedEvent]
    /// The users who could read the post when it was posted, in joining order; nil for a viewer.
    public var readers: [ThreadMember]?

    /// Creates the details of a post, for example in a test.
    public init(
        post: Post, thread: ThreadID, threadName: String? = nil, history: [RecordedEvent],
        readers: [ThreadMember]? = nil
    ) {
        (self.post, self.thread, self.threadName, self.history, self.readers) = (
            post, thread, threadName, history, readers
        )
    }
}

extension Post: Codable {
    fileprivate enum CodingKeys: String, AbsentAsNullKey {
        case position, id, thread, threadName, message, author, body, createdAt, editedAt, editPosition
        case isRetracted = "retracted"
        case isRemoved = "removed"
        case isFromBlockedUser = "blocked"
        case replyCount, reactions, mentions, history, readers
        static let omittedIfFalse = [isRemoved, isFromBlockedUser]
    }

    /// Decodes the form that `encode(to:)` writes: a reply has a field `message`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        position = try container.decode(Position.self, forKey: .position)
        if let answered = try container.decodeIfPresent(MessageID.self, forKey: .message) {
            (id, message) = (.reply(try container.decode(ReplyID.self, forKey: .id)), answered)
        } else {
            message = try container.decode(MessageID.self, forKey: .id)
            id = .message(message)
        }
        thread = try container.decodeIfPresent(ThreadID.self, forKey: .thread)
        author = try container.decode(UserSummary.self, forKey: .author)
        body = try container.decodeIfPresent(String.self, forKey: .body)
        createdAt = try container.decode(Timestamp.self, forKey: .createdAt)
        editedAt = try container.decodeIfPresent(Timestamp.self, forKey: .editedAt)
        editPosition = try container.decodeIfPresent(Position.self, forKey: .editPosition)
        isRetracted = try container.decode(Bool.self, forKey: .isRetracted)
        isRemoved = try container.decode(Bool.self, forKey: .isRemoved)
        isFromBlockedUser = try container.decode(Bool.self, forKey: .isFromBlockedUser)
        replyCount = try container.decodeIfPresent(Int.self, forKey: .replyCount) ?? 0
        reactions = try container.decodeIfPresent([PostReaction].self, forKey: .reactions) ?? []
        mentions = try container.decodeIfPresent([UserID].self, forKey: .mentions) ?? []
    }

    /// Encodes a message with ``thread`` and ``replyCount``, and a reply with ``message``.
    ///
    /// Other absent values are null; `editPosition`, `reactions` and `mentions` are encoded only if
    /// there are any, `removed` and `blocked` only if they are true.
    public func encode(to encoder: any Encoder) throws { try encode(to: encoder, nil) }

    fileprivate func encode(to encoder: any Encoder, _ details: PostDetails?) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(position, forKey: .position)
        try container.encode(id.idText, forKey: .id)
        if let thread = details?.thread ?? thread { try container.encode(thread, forKey: .thread) }
        if let details { try container.encode(details.threadName, forKey: .threadName) }
        if id.isReply {
            try container.encode(message, forKey: .message)
        } else if details != nil {
            try container.encodeNil(forKey: .message)
        }
        try container.encode(author, forKey: .author)
        try container.encode(body, forKey: .body)
        try container.encode(createdAt, forKey: .createdAt)
        try container.encode(editedAt, forKey: .editedAt)
        if let editPosition { try container.encode(editPosition, forKey: .editPosition) }
        try container.encode(isRetracted, forKey: .isRetracted)
        try container.encode(isRemoved, forKey: .isRemoved)
        try container.encode(isFromBlockedUser, forKey: .isFromBlockedUser)
        if !id.isReply || details != nil { try container.encode(replyCount, forKey: .replyCount) }
        if !reactions.isEmpty { try container.encode(reactions, forKey: .reactions) }
        if !mentions.isEmpty { try container.encode(mentions, forKey: .mentions) }
        if let details {
            try container.encode(details.history, forKey: .history)
            try container.encode(details.readers, forKey: .readers)
        }
    }
}

extension PostDetails: Codable {
    /// Encodes the fields of the post and of the details as one object.
    ///
    /// Absent values are null, also `message` of a message; `removed` and `blocked` are encoded
    /// only if they are true.
    public func encode(to encoder: any Encoder) throws { try post.encode(to: encoder, self) }

    /// Decodes the form that `encode(to:)` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Post.CodingKeys.self)
        var post = try Post(from: decoder)
        // Here a reply has its thread too.
        if post.id.isReply { post.thread = nil }
        self.init(
            post: post, thread: try container.decode(ThreadID.self, forKey: .thread),
            threadName: try container.decodeIfPresent(String.self, forKey: .threadName),
            history: try container.decode([RecordedEvent].self, forKey: .history),
            readers: try container.decodeIfPresent([ThreadMember].self, forKey: .readers))
    }
}

extension Post: PageEntry {
    /// The position that bounds its pages: ``position``.
    public var pageKey: Position { position }
}

/// The messages of a thread, oldest first.
public struct TimelineQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<Post>
    /// The name and the path.
    public static let name = "timeline", path = "/v1/threads/{thread}/timeline"

    /// The thread.
    public var thread: ThreadID
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(thread: ThreadID, page: PageRequest = .latest()) { (self.thread, self.page) = (thread, page) }
}

/// One message.
public struct MessageQuery: ChatQuery {
    /// The answer.
    public typealias Answer = Post
    /// The name and the path.
    public static let name = "message", path = "/v1/messages/{message}"

    /// The message.
    public var message: MessageID

    /// Creates the query.
    public init(message: MessageID) { self.message = message }
}

/// One reply.
public struct ReplyQuery: ChatQuery {
    /// The answer.
    public typealias Answer = Post
    /// The name and the path.
    public static let name = "reply", path = "/v1/replies/{reply}"

    /// The reply.
    public var reply: ReplyID

    /// Creates the query.
    public init(reply: ReplyID) { self.reply = reply }
}

/// The replies to a message, oldest first.
public struct RepliesQuery: PageQuery {
    /// The answer.
    public typealias Answer = Page<Post>
    /// The name and the path.
    public static let name = "replies", path = "/v1/messages/{message}/replies"

    /// The message.
    public var message: MessageID
    /// The part of the list.
    public var page: PageRequest

    /// Creates the query.
    public init(message: MessageID, page: PageRequest = .latest()) { (self.message, self.page) = (message, page) }
}

/// The pinned messages of a thread, in the order in which they were pinned.
public struct PinsQuery: ChatQuery {
    /// The answer.
    public typealias Answer = ItemList<Post>
    /// The name and the path.
    public static let name = "pins", path = "/v1/threads/{thread}/pins"

    /// The thread.
    public var thread: ThreadID

    /// Creates the query.
    public init(thread: ThreadID) { self.thread = thread }
}
