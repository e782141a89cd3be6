import ChatDomain
import EventJournal
import Projections

// The access rules: every query, page and live view checks them here, and every event sequence in
// `EventVisibility.swift`. The default is to deny. `WhoIsShownWhat.md` has the table.

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
    /// Members can read every message (0), or those after their latest join, by the thread's
    /// history at that join; who came back to a direct thread of three people or more, those after
    /// it. Operators can read the messages of a thread that is not `inviteOnly`, after it last
    /// ceased to be. Other users can read nothing. Every access check uses this function.
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

    /// Throws `unknownMessage` or `unknownReply` for a post that is unknown, whose message is before
    /// the viewer's history, or in a thread that does not exist for the viewer, and `notAMember` if
    /// they may not read its thread.
    ///
    /// - Returns: The thread.
    @discardableResult
    func requireReadable(_ post: PostID, from viewpoint: Viewpoint) throws(ChatError) -> ThreadID {
        // First, so that an unknown viewer has the same answer whether or not the post exists.
        try requireViewer(of: viewpoint)
        guard let thread = thread(of: post, asOf: viewpoint.position),
            let posted = messagePosition(of: post, asOf: viewpoint.position)
        else {
            throw .rejected(.unknown(post))
        }
        let start: Position
        do throws(ChatError) { start = try requireReadable(thread, from: viewpoint) } catch {
            if case .rejected(.unknownThread) = error { throw .rejected(.unknown(post)) }
            throw error
        }
        guard posted > start else { throw .rejected(.unknown(post)) }
        return thread
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

    /// Finds the thread of a post that the viewer may be shown: one that they may read, or the one
    /// post of a direct thread whose report they decide.
    ///
    /// - Returns: The thread, and whether the viewer is shown the post alone.
    /// - Throws: As ``requireReadable(_:from:)``.
    func requireShown(_ post: PostID, from viewpoint: Viewpoint) throws(ChatError) -> (thread: ThreadID, isAlone: Bool)
    {
        do throws(ChatError) {
            return (try requireReadable(post, from: viewpoint), false)
        } catch {
            guard let viewer = viewpoint.viewer.user, let thread = thread(of: post, asOf: viewpoint.position),
                decidesReports(viewer, of: post, in: thread, from: viewpoint)
            else { throw error }
            return (thread, true)
        }
    }

    func moderates(_ viewer: UserID, _ thread: ThreadID, at position: Position, current: Position) -> Bool {
        moderates(viewer, thread, asOf: position) && (position == current || moderates(viewer, thread, asOf: current))
    }

    /// Marks posts in a thread for the viewer: names of authors, texts that are withheld, blocked
    /// authors, and reactions.
    func marking(_ rows: consuming [PostRecord], in thread: ThreadID, from viewpoint: Viewpoint) -> [PostRecord] {
        mark(&rows, thread, from: viewpoint)
        return rows
    }

    func mark(_ rows: inout [PostRecord], _ thread: ThreadID, from viewpoint: Viewpoint) {
        var names = ShownNames(from: viewpoint)
        mark(&rows, thread, from: viewpoint, &names)
    }

    /// Another user's text is withheld if its author has edited or retracted it, or a moderator
    /// removed it, since the queried position.
    func mark(_ rows: inout [PostRecord], _ thread: ThreadID, from viewpoint: Viewpoint, _ names: inout ShownNames) {
        for index in rows.indices where rows[index].mayHaveReactions && !rows[index].isWithdrawn {
            let present = reactions(to: rows[index].id, of: viewpoint.viewer.user, asOf: viewpoint.position)
            if !present.isEmpty { rows[index].reactions = present }
        }
        guard let viewer = viewpoint.viewer.user else { return }
        // The names as of the position are those of people whom the viewer could look up.
        if !names.areMembersOnly(in: thread, self) {
            for index in rows.indices {
                let position = names.position(of: rows[index].authorIndex, in: thread, at: rows[index].position, self)
                guard position != viewpoint.position else { continue }
                rows[index].authorName = position.flatMap { name(ofUser: rows[index].authorIndex, asOf: $0) }
            }
        }
        // The blocks as of now count, whatever the queried position.
        for index in rows.indices where isBlocked(rows[index].author, by: viewer, asOf: viewpoint.currentPosition) {
            rows[index].isBlocked = true
        }
        // A query as of now reads the current texts only.
        guard viewpoint.position < viewpoint.currentPosition else { return }
        let seesRemoved = moderates(viewer, thread, asOf: viewpoint.currentPosition)
        for index in rows.indices where rows[index].author != viewer {
            let written = rows[index].editPosition ?? rows[index].position
            rows[index].isWithheld = !isCurrentText(
                of: rows[index].id, writtenAt: written, includesRemoved: seesRemoved, current: viewpoint.currentPosition
            )
        }
    }

    /// Whether the event at a position wrote the post's current text.
    func isCurrentText(of post: PostID, writtenAt position: Position, includesRemoved: Bool, current: Position) -> Bool
    {
        textPosition(of: post, includesRemoved: includesRemoved, asOf: current) == position
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

// MARK: People

extension ReadModels {
    /// Returns a thread with the names of its people that the viewer is shown; nil if it did not
    /// exist.
    ///
    /// - Parameter start: Only later messages are counted.
    func shownThread(
        _ id: ThreadID, after start: Position = 0, from viewpoint: Viewpoint, _ names: inout ShownNames
    ) -> ThreadRecord? {
        guard var thread = thread(id, asOf: viewpoint.position, after: start) else { return nil }
        names.show(&thread.people, ofDirect: id, self)
        return thread
    }

    /// Whether the reason of what a moderator did is shown to the user concerned: to whom is or was
    /// a member of the thread by then.
    func isReasonShown(to user: UserID, in thread: ThreadID, at position: Position) -> Bool {
        hasBeenMember(user, of: thread, asOf: position)
    }

    /// Returns a membership that holds as of the queried position and, for a user who asks, also
    /// now; nil if it does not.
    func membership(_ row: Int, from viewpoint: Viewpoint) -> IndexedMembership? {
        guard let then = indexedMembership(ofMembership: row, asOf: viewpoint.position) else { return nil }
        if viewpoint.viewer == .host || viewpoint.position == viewpoint.currentPosition { return then }
        return indexedMembership(ofMembership: row, asOf: viewpoint.currentPosition) == nil ? nil : then
    }

    /// Returns the membership of a person in the thread of one of the viewer's memberships; nil
    /// unless both hold.
    ///
    /// Reading the thread as an operator does not count. For the host, the row is one of the
    /// person's.
    func commonMembership(_ row: Int, of person: UserID, from viewpoint: Viewpoint) -> IndexedMembership? {
        guard let own = membership(row, from: viewpoint) else { return nil }
        return membershipIndex(person, threadID(own)).flatMap { membership($0, from: viewpoint) }
    }

    /// Whether a viewer may see a person now: themself, or one with whom they have a thread in
    /// common.
    func maySee(person: UserID, _ viewer: UserID, current: Position) -> Bool {
        if person == viewer { return true }
        let viewpoint = Viewpoint(viewer: .user(viewer), position: current, currentPosition: current)
        var (scan, isFound) = (scan(membershipsOf: viewer), false)
        forEach(&scan) { row in isFound = isFound || commonMembership(row, of: person, from: viewpoint) != nil }
        return isFound
    }

    /// Returns the position of the event with the text about a user that the viewer is shown; nil
    /// if none.
    ///
    /// The viewer may see the user. Another user's text is withheld if it is not the current one.
    func shownAboutPosition(of user: UserID, from viewpoint: Viewpoint) -> Position? {
        let position = aboutPosition(of: user, asOf: viewpoint.position)
        if viewpoint.viewer.isHost(or: user) || viewpoint.position == viewpoint.currentPosition { return position }
        return aboutPosition(of: user, asOf: viewpoint.currentPosition) == position ? position : nil
    }
}

// MARK: Queries about a user

/// Throws `notAllowed` unless the viewer is the user or the host.
func requireSelf(_ viewer: Viewer, _ user: UserID) throws(ChatError) {
    guard viewer.isHost(or: user) else { throw .rejected(.notAllowed) }
}

extension Membership {
    /// The postcode; nil unless the viewer is the user or the host.
    func postcode(shownTo viewer: Viewer) -> Postcode? { viewer.isHost(or: user) ? postcode : nil }
}
