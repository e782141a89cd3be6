import ChatDomain
import ChatValues
import Projections

// Which entries an inbox shows, and what of their threads.

// MARK: The inbox

extension ReadModels {
    /// Returns what a row of the viewer's inbox is about; nil if it has no entry, or one about a
    /// post that they may not read, or about a report that they do not decide.
    ///
    /// What moderators did to the viewer stays, also after they can no longer read the thread.
    ///
    /// - Parameter viewpoint: That of the user whose inbox it is.
    func shownInboxItem(_ rank: Int, of user: UserID, except blocked: BlockedUsers, from viewpoint: Viewpoint)
        -> InboxItem?
    {
        guard let item = inboxItem(rank, of: user, except: blocked, asOf: viewpoint.position) else { return nil }
        guard let post = item.post else { return item }
        if item.reason == .report, isDirect(item.thread) {
            return decidesReports(user, of: post, in: item.thread, from: viewpoint) ? item : nil
        }
        guard let start = readingStart(item.thread, from: viewpoint),
            let posted = messagePosition(of: post, asOf: viewpoint.position), posted > start
        else { return nil }
        if item.reason == .report,
            !moderates(user, item.thread, at: viewpoint.position, current: viewpoint.currentPosition)
        {
            return nil
        }
        return item
    }

    /// Returns the name of the thread of an entry and, of a direct one, its people.
    ///
    /// A user who may not read the thread is shown no people, and the name that it had at the
    /// entry (``toldPosition(of:at:from:)``), unless the entry is an invitation, which holds.
    func shownThread(
        of item: InboxItem, from viewpoint: Viewpoint, _ names: inout ShownNames
    ) -> (name: String?, people: [UserSummary]?) {
        guard item.reason == .invitation || mayRead(item.thread, from: viewpoint) else {
            let told = toldPosition(of: item.thread, at: item.position, from: viewpoint)
            return (told.flatMap { thread(item.thread, asOf: $0)?.name }, nil)
        }
        return shownThread(item.thread, from: viewpoint, &names).map { ($0.name, $0.people) } ?? (nil, nil)
    }

    /// The position as of which an event names a thread and its people to a viewer who may not read
    /// the thread: that of the event for who was a member and for operators.
    ///
    /// All others know what their invitation told them, while it holds: sanctions that follow one
    /// another would tell them each name in between.
    func toldPosition(of thread: ThreadID, at event: Position, from viewpoint: Viewpoint) -> Position? {
        guard let viewer = viewpoint.viewer.user, !isOperator(viewer, asOf: viewpoint.position),
            !hasBeenMember(viewer, of: thread, asOf: viewpoint.position)
        else { return event }
        return invitationPosition(of: viewer, to: thread, asOf: viewpoint.position)
    }
}
