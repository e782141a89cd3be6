#if Client || canImport(SQLite3)
    package import ChatDomain
    package import ChatValues
    internal import LocalStorage

    /// A list of posts: the messages of a thread, or the replies to a message.
    package enum PostList: Hashable, Sendable {
        case messages(ThreadID)
        case replies(MessageID)

        /// A byte for the kind, and the id.
        var key: SQLValue {
            switch self {
            case .messages(let id): .blob([0] + id.bytes)
            case .replies(let id): .blob([1] + id.bytes)
            }
        }

        init?(key: SQLValue) {
            guard case .blob(let bytes) = key, bytes.count == 17 else { return nil }
            switch bytes[0] {
            case 0: self = .messages(ThreadID(bytes: bytes.dropFirst()))
            case 1: self = .replies(MessageID(bytes: bytes.dropFirst()))
            default: return nil
            }
        }
    }

    /// What a change of the copy means for what is shown of it.
    package struct CopyChanges: Equatable, Sendable {
        /// The posts to read again.
        package var posts: [PostList: Set<PostID>] = [:]
        /// The lists to read again as a whole.
        package var lists: Set<PostList> = []
        /// The users whose name or block has changed.
        package var users: Set<UserID> = []
        /// The kept answers that are others now.
        package var answers: Set<KeptAnswer> = []
        /// Whether something is out of date, and is to be read again.
        package var isOutdated = false
        /// The threads of which nothing may be shown any more.
        package var lostThreads: Set<ThreadID> = []
        /// The lists that the server refuses to show.
        package var lostLists: Set<PostList> = []
        /// The lists that cannot be read, for a reason that does not pass by itself.
        package var unreadableLists: Set<PostList> = []
        /// The threads with new custom events.
        package var customEvents: Set<ThreadID> = []
        /// The threads of which the user can be shown more than before.
        package var threadsToReadAgain: Set<ThreadID> = []
        /// Whether that can be any thread, or a block has begun or ended.
        package var readsAllThreadsAgain = false
        /// Whether texts or names were erased.
        package var isErasure = false
        /// Whether lists that are shown may lack posts that can be read now: the client has
        /// connected, or has not understood an event.
        package var hasGaps = false
        /// Whether the copy is followed from here on: no update tells of what was erased since something
        /// was read before.
        package var isFirst = false
        /// What has happened to commands of the outbox.
        package var outbox: [OutboxChange] = []
        /// Whether something was taken away whose bytes may be left in the log of the file.
        var takesContent = false

        package init() {}

        /// Whether posts of a list may be others now.
        func concerns(_ list: PostList) -> Bool { posts[list] != nil || lists.contains(list) }

        mutating func add(_ post: PostID, in list: PostList) { posts[list, default: []].insert(post) }

        /// Adds the changes that were made after these.
        mutating func add(_ later: CopyChanges) {
            posts.merge(later.posts) { $0.union($1) }
            lists.formUnion(later.lists)
            users.formUnion(later.users)
            answers.formUnion(later.answers)
            lostThreads.formUnion(later.lostThreads)
            lostLists.formUnion(later.lostLists)
            unreadableLists.formUnion(later.unreadableLists)
            customEvents.formUnion(later.customEvents)
            threadsToReadAgain.formUnion(later.threadsToReadAgain)
            readsAllThreadsAgain = readsAllThreadsAgain || later.readsAllThreadsAgain
            isOutdated = isOutdated || later.isOutdated
            isErasure = isErasure || later.isErasure
            hasGaps = hasGaps || later.hasGaps
            isFirst = isFirst || later.isFirst
            takesContent = takesContent || later.takesContent
            outbox += later.outbox
        }
    }

    /// A part of a list in the copy, oldest first.
    package struct CopiedPosts: Equatable, Sendable {
        package var posts: [Post]
        /// Whether the list begins with the first one.
        package var reachesBeginning: Bool
        /// Whether nothing is missing: there are as many as were asked for, or the list has no
        /// more.
        package var isComplete: Bool
    }

    extension EntityID {
        /// The sixteen bytes of the id.
        var bytes: [UInt8] { (0..<16).map { UInt8(truncatingIfNeeded: bits >> (120 - 8 * UInt128($0))) } }

        init(bytes: some Sequence<UInt8>) { self.init(bits: bytes.reduce(0) { $0 << 8 | UInt128($1) }) }

        var value: SQLValue { .blob(bytes) }
    }

    extension PostID {
        /// A byte for the kind, and the id: a message and a reply can have the same one.
        var value: SQLValue { .blob([isReply ? 1 : 0] + MessageID(bits: bits).bytes) }
    }
#endif
