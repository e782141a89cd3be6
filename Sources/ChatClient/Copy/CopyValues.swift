#if Client || canImport(SQLite3)
    package import ChatDomain
    package import ChatValues
    package import LocalStorage

    /// Why the file of a copy cannot be used.
    package enum CopyError: Hashable, Sendable {
        case storage(DatabaseError)
        /// The file belongs to another user or another server.
        case anotherOwner
        /// A newer version has written the file.
        case newerVersion
        /// A row does not decode.
        case damaged
        /// The answer is not what the server may send: nothing of it was kept.
        case invalidAnswer(String)
    }

    extension CopyError: DatabaseFailure {
        package init(_ error: DatabaseError) { self = .storage(error) }
    }

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

    /// An answer of the server that the copy keeps whole.
    package enum KeptAnswer: Hashable, Sendable {
        case me, threads, inbox
        case members(ThreadID)

        var key: String {
            switch self {
            case .me: "me"
            case .threads: "threads"
            case .inbox: "inbox"
            case .members(let thread): "members \(thread)"
            }
        }

        init?(key: String) {
            switch key {
            case "me": self = .me
            case "threads": self = .threads
            case "inbox": self = .inbox
            default:
                guard key.hasPrefix("members "), let thread = ThreadID(String(key.dropFirst(8))) else { return nil }
                self = .members(thread)
            }
        }
    }

    /// The answer about an inbox: its latest page, and the number of unread entries.
    package struct InboxAnswer: Codable, Hashable, Sendable {
        package var page: Page<InboxEntry>
        package var unread: InboxCount

        private enum CodingKeys: CodingKey { case unread }

        package init(from decoder: any Decoder) throws {
            page = try Page(from: decoder)
            unread = try decoder.container(keyedBy: CodingKeys.self).decode(InboxCount.self, forKey: .unread)
        }

        package func encode(to encoder: any Encoder) throws {
            try page.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(unread, forKey: .unread)
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
        /// The answers that are out of date or were read again.
        package var answers: Set<KeptAnswer> = []
        /// The threads of which nothing may be shown any more.
        package var lostThreads: Set<ThreadID> = []
        /// Whether texts or names were erased.
        package var isErasure = false
        /// Whether the client has connected: what the copy lacks can be read.
        package var isConnection = false
        /// What has happened to commands of the outbox.
        package var outbox: [OutboxChange] = []

        package init() {}

        mutating func add(_ post: PostID, in list: PostList) { posts[list, default: []].insert(post) }
    }

    /// A part of a list in the copy, oldest first.
    package struct CopiedPosts: Equatable, Sendable {
        package var posts: [Post]
        /// Whether the list begins with the first one.
        package var reachesBeginning: Bool
        /// Whether nothing is missing: there are as many as were asked for, or the list has no more.
        package var isComplete: Bool
    }

    extension EntityID {
        /// The sixteen bytes of the id.
        var bytes: [UInt8] { (0..<16).map { UInt8(truncatingIfNeeded: bits >> (120 - 8 * UInt128($0))) } }

        init(bytes: some Sequence<UInt8>) { self.init(bits: bytes.reduce(0) { $0 << 8 | UInt128($1) }) }

        var value: SQLValue { .blob(bytes) }
    }

    extension PostID {
        /// The id as a message or a reply; ids of both are unique together.
        var value: SQLValue {
            switch self {
            case .message(let id): id.value
            case .reply(let id): id.value
            }
        }
    }
#endif
