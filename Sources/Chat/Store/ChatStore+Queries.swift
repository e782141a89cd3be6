public import ChatDomain
public import Projections

/// The queries of ``ChatReader``, with the viewer and the point of each call.
extension ChatStore {
    /// As ``ChatReader/blocks(by:page:)``.
    public func blocks(by user: UserID, page: PageRequest = .all, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> Page<UserBlock>
    {
        try reader(as: viewer, asOf: point).blocks(by: user, page: page)
    }

    /// As ``ChatReader/directory(page:)``.
    public func directory(page: PageRequest = PageRequest(), as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> Page<DirectoryEntry>
    {
        try reader(as: viewer, asOf: point).directory(page: page)
    }

    /// As ``ChatReader/inbox(of:page:)``.
    public func inbox(of user: UserID, page: PageRequest = PageRequest(), as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> Page<InboxEntry>
    {
        try reader(as: viewer, asOf: point).inbox(of: user, page: page)
    }

    /// As ``ChatReader/invitations(of:page:)``.
    public func invitations(of user: UserID, page: PageRequest = .all, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> Page<ThreadInvitation>
    {
        try reader(as: viewer, asOf: point).invitations(of: user, page: page)
    }

    /// As ``ChatReader/invitations(to:page:)``.
    public func invitations(to thread: ThreadID, page: PageRequest = .all, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> Page<ThreadInvitation>
    {
        try reader(as: viewer, asOf: point).invitations(to: thread, page: page)
    }

    /// As ``ChatReader/members(of:page:)``.
    public func members(of thread: ThreadID, page: PageRequest = .all, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> Page<ThreadMember>
    {
        try reader(as: viewer, asOf: point).members(of: thread, page: page)
    }

    /// As ``ChatReader/residents(of:page:)``.
    public func residents(of code: OutwardCode, page: PageRequest = .all, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> Page<Resident>
    {
        try reader(as: viewer, asOf: point).residents(of: code, page: page)
    }

    /// As ``ChatReader/people(named:page:)``.
    public func people(
        named prefix: String = "", page: PageRequest = PageRequest(), as viewer: Viewer, asOf point: AsOf = .now
    ) throws(ChatError) -> Page<PersonSummary> {
        try reader(as: viewer, asOf: point).people(named: prefix, page: page)
    }

    /// As ``ChatReader/person(_:threads:)``.
    public func person(
        _ user: UserID, threads page: PageRequest = PageRequest(), as viewer: Viewer, asOf point: AsOf = .now
    ) throws(ChatError) -> PersonDetails {
        try reader(as: viewer, asOf: point).person(user, threads: page)
    }

    /// As ``ChatReader/pins(in:)``.
    public func pins(in thread: ThreadID, as viewer: Viewer, asOf point: AsOf = .now) throws(ChatError) -> [Post] {
        try reader(as: viewer, asOf: point).pins(in: thread)
    }

    /// As ``ChatReader/timeline(_:page:)``.
    public func timeline(
        _ thread: ThreadID, page: PageRequest = PageRequest(), as viewer: Viewer, asOf point: AsOf = .now
    ) throws(ChatError) -> Page<Post> {
        try reader(as: viewer, asOf: point).timeline(thread, page: page)
    }

    /// As ``ChatReader/message(_:)``.
    public func message(_ id: MessageID, as viewer: Viewer, asOf point: AsOf = .now) throws(ChatError) -> Post {
        try reader(as: viewer, asOf: point).message(id)
    }

    /// As ``ChatReader/reply(_:)``.
    public func reply(_ id: ReplyID, as viewer: Viewer, asOf point: AsOf = .now) throws(ChatError) -> Post {
        try reader(as: viewer, asOf: point).reply(id)
    }

    /// As ``ChatReader/replies(to:page:)``.
    public func replies(
        to message: MessageID, page: PageRequest = PageRequest(), as viewer: Viewer, asOf point: AsOf = .now
    ) throws(ChatError) -> Page<Post> {
        try reader(as: viewer, asOf: point).replies(to: message, page: page)
    }

    /// As ``ChatReader/reports(in:page:)``.
    public func reports(in thread: ThreadID, page: PageRequest = .all, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> Page<PostReport>
    {
        try reader(as: viewer, asOf: point).reports(in: thread, page: page)
    }

    /// As ``ChatReader/roles(in:page:)``.
    public func roles(in thread: ThreadID, page: PageRequest = .all, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> Page<RoleHolder>
    {
        try reader(as: viewer, asOf: point).roles(in: thread, page: page)
    }

    /// As ``ChatReader/operators(page:)``.
    public func operators(page: PageRequest = .all, as viewer: Viewer, asOf point: AsOf = .now) throws(ChatError)
        -> Page<CommunityOperator>
    {
        try reader(as: viewer, asOf: point).operators(page: page)
    }

    /// As ``ChatReader/sanctions(in:page:)``.
    public func sanctions(in thread: ThreadID, page: PageRequest = .all, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> Page<ThreadSanction>
    {
        try reader(as: viewer, asOf: point).sanctions(in: thread, page: page)
    }

    /// As ``ChatReader/standing(of:in:)``.
    public func standing(of user: UserID, in thread: ThreadID, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> ThreadStanding
    {
        try reader(as: viewer, asOf: point).standing(of: user, in: thread)
    }

    /// As ``ChatReader/threads(page:)``.
    public func threads(page: PageRequest = PageRequest(), as viewer: Viewer, asOf point: AsOf = .now) throws(ChatError)
        -> Page<ThreadSummary>
    {
        try reader(as: viewer, asOf: point).threads(page: page)
    }

    /// As ``ChatReader/thread(_:)``.
    public func thread(_ id: ThreadID, as viewer: Viewer, asOf point: AsOf = .now) throws(ChatError) -> ThreadSummary {
        try reader(as: viewer, asOf: point).thread(id)
    }

    /// As ``ChatReader/threadIDs(named:)``.
    public func threadIDs(named name: String, as viewer: Viewer, asOf point: AsOf = .now) throws(ChatError)
        -> [ThreadID]
    {
        try reader(as: viewer, asOf: point).threadIDs(named: name)
    }

    /// As ``ChatReader/user(_:threads:)``.
    public func user(_ id: UserID, threads page: PageRequest = .all, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> UserDetails
    {
        try reader(as: viewer, asOf: point).user(id, threads: page)
    }

    /// As ``ChatReader/threads(of:page:)``.
    public func threads(of user: UserID, page: PageRequest = .all, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> Page<UserThread>
    {
        try reader(as: viewer, asOf: point).threads(of: user, page: page)
    }

    /// As ``ChatReader/access(of:)``.
    public func access(of user: UserID, as viewer: Viewer, asOf point: AsOf = .now) throws(ChatError) -> [ThreadAccess]
    {
        try reader(as: viewer, asOf: point).access(of: user)
    }

    /// As ``ChatReader/details(of:edits:)``.
    public func details(of post: PostID, edits limit: Int = 50, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> PostDetails
    {
        try reader(as: viewer, asOf: point).details(of: post, edits: limit)
    }

    /// As ``ChatReader/activity(in:days:)``.
    public func activity(in thread: ThreadID, days: Int = 28, as viewer: Viewer, asOf point: AsOf = .now)
        throws(ChatError) -> ThreadActivity
    {
        try reader(as: viewer, asOf: point).activity(in: thread, days: days)
    }

    /// As ``ChatReader/reactions(to:emoji:page:)``.
    public func reactions(
        to post: PostID, emoji: Emoji? = nil, page: PageRequest = PageRequest(), as viewer: Viewer,
        asOf point: AsOf = .now
    ) throws(ChatError) -> Page<Reaction> {
        try reader(as: viewer, asOf: point).reactions(to: post, emoji: emoji, page: page)
    }

    /// As ``ChatReader/unreadInboxCount(of:)``.
    public func unreadInboxCount(of user: UserID, as viewer: Viewer, asOf point: AsOf = .now) throws(ChatError)
        -> InboxCount
    {
        try reader(as: viewer, asOf: point).unreadInboxCount(of: user)
    }
}
