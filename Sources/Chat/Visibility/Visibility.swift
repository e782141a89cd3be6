import ChatDomain
import EventJournal
import Projections

// The access rules: every query, page and live view checks them here and in `PostVisibility.swift`,
// `InboxVisibility.swift` and `PeopleVisibility.swift`, every event sequence in
// `EventVisibility.swift`, with its notices (`NoticeVisibility.swift`), and a repeated receipt in
// `ReceiptVisibility.swift`. The default is to deny. `WhoIsShownWhat.md` has the table.

/// The viewer, the queried position and the current position, which together determine visibility.
struct Viewpoint {
    /// Who asks.
    let viewer: Viewer
    /// The position that the query reads as of.
    let position: Position
    /// The last visible position of the store; at least ``position``.
    let currentPosition: Position
}

// MARK: Who could read a thread

/// Who could read a thread as of a position: the other rules ask it as of the queried position and
/// as of now.
extension ReadModels {
    /// Returns the position after which a user could read the messages of a thread; nil if they
    /// could read none of it.
    ///
    /// - A member can read every message (0), or those after their latest join, by the thread's
    ///   history at that join.
    /// - A member who came back to a direct thread of three people or more can read those after that
    ///   join.
    /// - An operator can read those after the thread last ceased to be `inviteOnly`, unless it is.
    /// - Other users can read nothing.
    ///
    /// Every access check uses this function.
    func readingStart(_ viewer: UserID, _ thread: ThreadID, asOf position: Position) -> Position? {
        guard let index = index(ofThread: thread, asOf: position) else { return nil }
        var start: Position?
        if isOperator(viewer, asOf: position) {
            start = disclosurePosition(ofThread: index, asOf: position)
            if start == 0 { return 0 }
        }
        guard let join = joinPosition(viewer, in: thread, asOf: position) else { return start }
        let beginsThere =
            policyAndHistory(ofThread: index, asOf: join).history == .sinceJoining
            || hasReturned(viewer, toGroup: index, asOf: position)
        let asMember = beginsThere ? join : 0
        return start.map { min($0, asMember) } ?? asMember
    }

    /// Whether a thread existed for a user: unless it is `inviteOnly` for everyone, otherwise for
    /// its members and for the users with an invitation.
    ///
    /// The rules have the same condition for commands (`RuleState.isKnown`).
    func isKnown(_ thread: ThreadID, to user: UserID, asOf position: Position) -> Bool {
        guard let index = index(ofThread: thread, asOf: position) else { return false }
        if policyAndHistory(ofThread: index, asOf: position).policy != .inviteOnly { return true }
        return joinPosition(user, in: thread, asOf: position) != nil
            || membershipIndex(user, thread).flatMap { invitation(ofMembership: $0, asOf: position) } != nil
    }

    /// Whether a user could read a thread.
    func mayRead(_ viewer: UserID, _ thread: ThreadID, asOf position: Position) -> Bool {
        readingStart(viewer, thread, asOf: position) != nil
    }

    /// Returns the operators of the community who could read a thread without being a member, in
    /// the order in which they could read it first.
    func readingOperators(of thread: ThreadID, asOf position: Position) -> [Membership] {
        let opening = openingPosition(of: thread)
        return operators(asOf: position).filter { reader in
            mayRead(reader.user, thread, asOf: position) && joinPosition(reader.user, in: thread, asOf: position) == nil
        }.map { reader in
            var reader = reader
            reader.since = max(reader.since, opening, readingStart(reader.user, thread, asOf: position) ?? 0)
            return reader
        }.sorted { $0.since < $1.since }
    }

    /// Whether a user could ever read a thread as an operator, as their own access shows it.
    func hasOperated(_ user: UserID, _ thread: ThreadID, asOf position: Position) -> Bool {
        let changes = operatorChangeCount(of: user, asOf: position)
        guard changes > 0, let index = identities.index(ofThread: thread),
            let operated = operatedThread(index, asOf: position)
        else {
            return false
        }
        let disclosed = disclosedPeriods(of: operated, changes: 0..<operated.changeCount + 1)
        return !operated.access(in: operatorPeriods(of: user, changes: 1..<changes + 1), disclosed: disclosed).isEmpty
    }
}

// MARK: Threads and posts

extension ReadModels {
    /// Whether the viewer may read a thread now and as of the queried position.
    func mayRead(_ thread: ThreadID, from viewpoint: Viewpoint) -> Bool { readingStart(thread, from: viewpoint) != nil }

    /// Returns the position after which the viewer may read the messages of a thread; nil if they
    /// may read none of it.
    ///
    /// The rights of both points count: a query as of an earlier point applies the rights of that
    /// time, and a user who has left may not read the thread as of any point. In a thread whose
    /// history begins with the latest join, the current join counts as of every point.
    func readingStart(_ thread: ThreadID, from viewpoint: Viewpoint) -> Position? {
        guard let viewer = viewpoint.viewer.user else { return 0 }
        return readingStart(viewer, thread, at: viewpoint.position, current: viewpoint.currentPosition)
    }

    func readingStart(_ viewer: UserID, _ thread: ThreadID, at position: Position, current: Position) -> Position? {
        guard let then = readingStart(viewer, thread, asOf: position) else { return nil }
        if position == current { return then }
        return readingStart(viewer, thread, asOf: current).map { max(then, $0) }
    }

    /// Throws `unknownUser` for an unknown viewer.
    func requireViewer(of viewpoint: Viewpoint) throws(ChatError) {
        if let viewer = viewpoint.viewer.user { try requireUser(viewer, asOf: viewpoint.position) }
    }

    /// Throws `unknownUser` for an unknown user.
    func requireUser(_ user: UserID, asOf position: Position) throws(ChatError) {
        guard profile(user, asOf: position) != nil else { throw .rejected(.unknownUser) }
    }

    /// Throws `unknownThread` for a thread that is unknown or that does not exist for the viewer
    /// now, and `notAMember` if the viewer may not read it.
    ///
    /// - Returns: The position after which the viewer may read its messages.
    @discardableResult
    func requireReadable(_ thread: ThreadID, from viewpoint: Viewpoint) throws(ChatError) -> Position {
        try requireViewer(of: viewpoint)
        guard hasThread(thread, asOf: viewpoint.position) else { throw .rejected(.unknownThread) }
        if let start = readingStart(thread, from: viewpoint) { return start }
        try requireKnown(thread, from: viewpoint)
        throw .rejected(.notAMember)
    }

    /// Throws `unknownThread` for a thread that does not exist for the viewer now.
    func requireKnown(_ thread: ThreadID, from viewpoint: Viewpoint) throws(ChatError) {
        guard let user = viewpoint.viewer.user, !isKnown(thread, to: user, asOf: viewpoint.currentPosition) else {
            return
        }
        throw .rejected(.unknownThread)
    }

    /// Throws `unknownUser` for an unknown viewer, and `notAnOperator` for a user who is not an
    /// operator of the community now and as of the queried position.
    func requireOperator(from viewpoint: Viewpoint) throws(ChatError) {
        try requireViewer(of: viewpoint)
        guard let user = viewpoint.viewer.user else { return }
        guard isOperator(user, asOf: viewpoint.position), isOperator(user, asOf: viewpoint.currentPosition) else {
            throw .rejected(.notAnOperator)
        }
    }

    /// Throws as ``requireReadable(_:from:)-(ThreadID,_)``, and `notAModerator` if the viewer does
    /// not moderate the thread now and as of the queried position.
    ///
    /// - Returns: The position after which the viewer may read its messages.
    @discardableResult
    func requireModerated(_ thread: ThreadID, from viewpoint: Viewpoint) throws(ChatError) -> Position {
        let start = try requireReadable(thread, from: viewpoint)
        guard let viewer = viewpoint.viewer.user else { return start }
        guard moderates(viewer, thread, at: viewpoint.position, current: viewpoint.currentPosition) else {
            throw .rejected(.notAModerator)
        }
        return start
    }

    /// Throws as ``requireModerated(_:from:)``, but for an operator who is asked for the reports of
    /// a direct thread.
    ///
    /// - Returns: The position after which the viewer is shown reports of messages.
    func requireReportsShown(of thread: ThreadID, from viewpoint: Viewpoint) throws(ChatError) -> Position {
        try requireViewer(of: viewpoint)
        if let viewer = viewpoint.viewer.user, decidesReports(viewer, in: thread, from: viewpoint) { return 0 }
        return try requireModerated(thread, from: viewpoint)
    }

    /// Whether a user decides an open report of a direct thread, now and as of the queried
    /// position: as an operator who is no member of it.
    ///
    /// - Parameter post: The post; nil for any.
    func decidesReports(_ user: UserID, of post: PostID? = nil, in thread: ThreadID, from viewpoint: Viewpoint) -> Bool
    {
        guard isDirect(thread) else { return false }
        return Set([viewpoint.position, viewpoint.currentPosition]).allSatisfy {
            isOperator(user, asOf: $0) && joinPosition(user, in: thread, asOf: $0) == nil
                && hasOpenReport(post, in: thread, asOf: $0)
        }
    }

    func moderates(_ viewer: UserID, _ thread: ThreadID, at position: Position, current: Position) -> Bool {
        moderates(viewer, thread, asOf: position) && (position == current || moderates(viewer, thread, asOf: current))
    }
}

// MARK: The directory

extension ReadModels {
    /// Whether a thread is in the directory, now and as of the queried position; the bans of the
    /// viewer are not considered.
    func isListed(_ thread: Int, from viewpoint: Viewpoint) -> Bool {
        isListed(thread, asOf: viewpoint.position)
            && (viewpoint.viewer == .host || isListed(thread, asOf: viewpoint.currentPosition))
    }

    /// Returns the positions of the bans of the viewer from a thread, as of the queried position
    /// and now, which may have ended by themselves.
    func banPositions(_ thread: Int, from viewpoint: Viewpoint) -> (then: Position?, now: Position?) {
        guard let viewer = viewpoint.viewer.user else { return (nil, nil) }
        return (
            banPosition(viewer, thread, asOf: viewpoint.position),
            banPosition(viewer, thread, asOf: viewpoint.currentPosition)
        )
    }
}
