public import ChatDomain

/// The queries of a store for one viewer, as of one point: who asks is said once.
///
/// Every query has the rules, the errors and the costs of the one of ``ChatStore`` with the same
/// name. A reader holds no state of the store: as of ``AsOf/now``, each query shows what is durable
/// then.
public struct ChatReader: Sendable {
    /// The store.
    public let store: ChatStore
    /// Who asks.
    public let viewer: Viewer
    /// The point in the history to read as of.
    public let point: AsOf
}

extension ChatStore {
    /// Returns the queries for one viewer, as of one point.
    public func reader(as viewer: Viewer, asOf point: AsOf = .now) -> ChatReader {
        ChatReader(store: self, viewer: viewer, point: point)
    }
}

/// Threads and posts.
extension ChatReader {
    /// Returns a page of the threads.
    public func threads(page: PageRequest = PageRequest()) throws(ChatError) -> Page<ThreadSummary> {
        try store.threads(page: page, as: viewer, asOf: point)
    }

    /// Returns a page of the directory.
    public func directory(page: PageRequest = PageRequest()) throws(ChatError) -> Page<DirectoryEntry> {
        try store.directory(page: page, as: viewer, asOf: point)
    }

    /// Returns one thread.
    public func thread(_ id: ThreadID) throws(ChatError) -> ThreadSummary {
        try store.thread(id, as: viewer, asOf: point)
    }

    /// Returns the threads with a name.
    public func threadIDs(named name: String) throws(ChatError) -> [ThreadID] {
        try store.threadIDs(named: name, as: viewer, asOf: point)
    }

    /// Returns a page of a thread's messages.
    public func timeline(_ thread: ThreadID, page: PageRequest = PageRequest()) throws(ChatError) -> Page<Post> {
        try store.timeline(thread, page: page, as: viewer, asOf: point)
    }

    /// Returns the number of messages on each of the last days, and of their authors, in a thread.
    public func activity(in thread: ThreadID, days: Int = 28) throws(ChatError) -> ThreadActivity {
        try store.activity(in: thread, days: days, as: viewer, asOf: point)
    }

    /// Returns one message.
    public func message(_ id: MessageID) throws(ChatError) -> Post { try store.message(id, as: viewer, asOf: point) }

    /// Returns one reply.
    public func reply(_ id: ReplyID) throws(ChatError) -> Post { try store.reply(id, as: viewer, asOf: point) }

    /// Returns a page of the replies to a message.
    public func replies(to message: MessageID, page: PageRequest = PageRequest()) throws(ChatError) -> Page<Post> {
        try store.replies(to: message, page: page, as: viewer, asOf: point)
    }

    /// Returns a post with its history.
    public func details(of post: PostID, edits limit: Int = 50) throws(ChatError) -> PostDetails {
        try store.details(of: post, edits: limit, as: viewer, asOf: point)
    }

    /// Returns a page of the reactions to a post.
    public func reactions(to post: PostID, emoji: Emoji? = nil, page: PageRequest = PageRequest()) throws(ChatError)
        -> Page<Reaction>
    {
        try store.reactions(to: post, emoji: emoji, page: page, as: viewer, asOf: point)
    }

    /// Returns the pinned messages of a thread.
    public func pins(in thread: ThreadID) throws(ChatError) -> [Post] {
        try store.pins(in: thread, as: viewer, asOf: point)
    }
}

/// People.
extension ChatReader {
    /// Returns a user with their threads.
    public func user(_ id: UserID, threads page: PageRequest = .all) throws(ChatError) -> UserDetails {
        try store.user(id, threads: page, as: viewer, asOf: point)
    }

    /// Returns a page of the threads of a user.
    public func threads(of user: UserID, page: PageRequest = .all) throws(ChatError) -> Page<UserThread> {
        try store.threads(of: user, page: page, as: viewer, asOf: point)
    }

    /// Returns a page of the people of one's threads whose names begin with a text.
    public func people(named prefix: String = "", page: PageRequest = PageRequest()) throws(ChatError) -> Page<
        PersonSummary
    > {
        try store.people(named: prefix, page: page, as: viewer, asOf: point)
    }

    /// Returns what the viewer is shown of a person, with a page of the threads in common.
    public func person(_ user: UserID, threads page: PageRequest = PageRequest()) throws(ChatError) -> PersonDetails {
        try store.person(user, threads: page, as: viewer, asOf: point)
    }

    /// Returns when a user could read which thread.
    public func access(of user: UserID) throws(ChatError) -> [ThreadAccess] {
        try store.access(of: user, as: viewer, asOf: point)
    }

    /// Returns a page of the members of a thread.
    public func members(of thread: ThreadID, page: PageRequest = .all) throws(ChatError) -> Page<ThreadMember> {
        try store.members(of: thread, page: page, as: viewer, asOf: point)
    }

    /// Returns a page of the residents of an outward code.
    public func residents(of code: OutwardCode, page: PageRequest = .all) throws(ChatError) -> Page<Resident> {
        try store.residents(of: code, page: page, as: viewer, asOf: point)
    }

    /// Returns a page of the owners and the moderators of a thread.
    public func roles(in thread: ThreadID, page: PageRequest = .all) throws(ChatError) -> Page<RoleHolder> {
        try store.roles(in: thread, page: page, as: viewer, asOf: point)
    }

    /// Returns a page of the operators of the community.
    public func operators(page: PageRequest = .all) throws(ChatError) -> Page<CommunityOperator> {
        try store.operators(page: page, as: viewer, asOf: point)
    }

    /// Returns what a user is and may do in a thread.
    public func standing(of user: UserID, in thread: ThreadID) throws(ChatError) -> ThreadStanding {
        try store.standing(of: user, in: thread, as: viewer, asOf: point)
    }

    /// Returns a page of the mutes and the bans of a thread.
    public func sanctions(in thread: ThreadID, page: PageRequest = .all) throws(ChatError) -> Page<ThreadSanction> {
        try store.sanctions(in: thread, page: page, as: viewer, asOf: point)
    }

    /// Returns a page of the open reports of a thread.
    public func reports(in thread: ThreadID, page: PageRequest = .all) throws(ChatError) -> Page<PostReport> {
        try store.reports(in: thread, page: page, as: viewer, asOf: point)
    }

    /// Returns a page of a user's inbox, newest entry first.
    public func inbox(of user: UserID, page: PageRequest = PageRequest()) throws(ChatError) -> Page<InboxEntry> {
        try store.inbox(of: user, page: page, as: viewer, asOf: point)
    }

    /// Returns the number of unread entries of a user's inbox.
    public func unreadInboxCount(of user: UserID) throws(ChatError) -> InboxCount {
        try store.unreadInboxCount(of: user, as: viewer, asOf: point)
    }

    /// Returns a page of the users whom a user has blocked.
    public func blocks(by user: UserID, page: PageRequest = .all) throws(ChatError) -> Page<UserBlock> {
        try store.blocks(by: user, page: page, as: viewer, asOf: point)
    }

    /// Returns a page of the invitations of a user.
    public func invitations(of user: UserID, page: PageRequest = .all) throws(ChatError) -> Page<ThreadInvitation> {
        try store.invitations(of: user, page: page, as: viewer, asOf: point)
    }

    /// Returns a page of the invitations to a thread.
    public func invitations(to thread: ThreadID, page: PageRequest = .all) throws(ChatError) -> Page<ThreadInvitation> {
        try store.invitations(to: thread, page: page, as: viewer, asOf: point)
    }
}
