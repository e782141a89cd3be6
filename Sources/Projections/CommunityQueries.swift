package import ChatDomain
import Columns

/// A user's mute or ban in a thread as of a position.
package struct SanctionRecord: Hashable, Sendable {
    /// The user.
    package var user: UserID
    /// The user's name; nil if erased.
    package var username: String?
    /// Whether it is a ban; otherwise it is a mute.
    package var isBan: Bool
    /// The position of its event, which has the acting user, the reason and the end.
    package var position: Position
}

/// A user's standing in a thread as of a position, as the positions of the events that decide it.
package struct StandingRecord: Hashable, Sendable {
    /// The role; nil if the user was no member.
    package var role: ThreadRole?
    /// The position since which the user had the role.
    package var since: Position?
    /// The position of the latest departure of a user who was no member.
    package var departure: Position?
    /// The position of a mute that no command had ended.
    package var mute: Position?
    /// The position of a ban that no command had ended.
    package var ban: Position?

    /// The standing of a user whom no event of the thread concerns.
    package init() {}
}

/// A report of a post.
package struct ReportRecord: Hashable, Sendable {
    /// The position of the report's event, which has the reason.
    package var position: Position
    /// The reporter.
    package var reporter: UserID
    /// The message or the reply.
    package var post: PostID

    /// Creates a report.
    package init(position: Position, reporter: UserID, post: PostID) {
        self.position = position
        self.reporter = reporter
        self.post = post
    }
}

/// The users whom a user has blocked, for the unread counts of a query.
package struct BlockedUsers: Sendable {
    let indexes: [UInt32]

    /// The number of users.
    package var count: Int { indexes.count }

    /// No user.
    package static let none = BlockedUsers(indexes: [])
}

extension ReadModels {
    /// Returns the author of a post; nil if it is unknown.
    package func authorID(of post: PostID) -> UserID? {
        switch post {
        case .message(let id): identities.messages.find(id.bits).map { identities.userID(identities.messageFacts.author($0)) }
        case .reply(let id): identities.replies.find(id.bits).map { identities.userID(identities.replyFacts.author($0)) }
        }
    }

    /// Returns the policy with which a thread was opened.
    package func openingPolicy(of thread: ThreadID) -> ThreadPolicy? {
        identities.index(ofThread: thread).map { policyAndHistory(ofThread: $0, asOf: openingPosition(of: thread) + 1).policy }
    }

    /// Whether the thread of a row is a named one that an import left open, and that never was
    /// `inviteOnly` since.
    package func isOpenImportedThread(_ thread: Int, asOf position: Position) -> Bool {
        guard views.timelines.threads[thread].isImported, identities.threadID(thread).outwardCode == nil else { return false }
        return views.community.privacy.version(of: thread, asOf: position) == nil
    }

    /// Returns the position after which operators could read a thread: that at which it last ceased
    /// to be `inviteOnly`, 0 if it never was, and nil while it was.
    func disclosurePosition(ofThread thread: Int, asOf position: Position) -> Position? {
        guard let version = views.community.privacy.version(of: thread, asOf: position) else { return 0 }
        return version.value == 0 ? version.position : nil
    }

    /// Returns the position of a thread's opening; 0 if it was lost.
    package func openingPosition(of thread: ThreadID) -> Position {
        identities.index(ofThread: thread).map { views.timelines.threads[$0].openedAt } ?? 0
    }

    /// Returns a thread's policy and history.
    func policyAndHistory(ofThread thread: Int, asOf position: Position) -> (policy: ThreadPolicy, history: ThreadHistory) {
        if let version = views.community.policies.version(of: thread, asOf: position) {
            return EventRow.policyAndHistory(version.value)
        }
        return (identities.threadID(thread).outwardCode == nil ? .open : .residents, .all)
    }

    /// Whether a user was an operator of the community.
    package func isOperator(_ user: UserID, asOf position: Position) -> Bool {
        operatorSince(user, asOf: position) != nil
    }

    /// Returns the position at which an operator became one; nil for other users.
    package func operatorSince(_ user: UserID, asOf position: Position) -> Position? {
        identities.index(ofUser: user).flatMap { views.community.operators.version(of: $0, asOf: position) }
            .flatMap { $0.value != 0 ? $0.position : nil }
    }

    /// Returns the operators and the positions at which they became that, in this order.
    ///
    /// - Complexity: O(*n* log *n*) in the number of users who ever were operators.
    package func operators(asOf position: Position) -> [Membership] {
        let users = views.community.operators
        return (0..<users.rows.count).compactMap { row in
            let user = users.rows.entry(row)
            guard let version = users.version(of: user, asOf: position), version.value != 0 else { return nil }
            return membership(IndexedMembership(user: user, thread: 0, since: version.position), asOf: position)
        }.sorted { $0.since < $1.since }
    }

    /// Returns the number of times a user became or ceased to be an operator, which alternate.
    package func operatorChangeCount(of user: UserID, asOf position: Position) -> Int {
        identities.index(ofUser: user).map { views.community.operators.count(of: $0, asOf: position) } ?? 0
    }

    /// Returns the periods in which a user was an operator.
    ///
    /// - Parameter changes: A range of the user's changes, from 1, the first of which begins a
    ///   period.
    package func operatorPeriods(of user: UserID, changes: Range<Int>) -> [(from: Position, to: Position?)] {
        guard let user = identities.index(ofUser: user) else { return [] }
        var periods: [(from: Position, to: Position?)] = []
        for version in views.community.operators.versions(of: user, ranks: changes) {
            if version.value != 0 {
                periods.append((version.position, nil))
            } else if !periods.isEmpty {
                periods[periods.count - 1].to = version.position
            }
        }
        return periods
    }

    /// Returns a thread and the number of changes of its privacy, which alternate; nil if the thread
    /// did not exist.
    package func operatedThread(_ thread: Int, asOf position: Position) -> OperatedThread? {
        guard sortKey(ofThread: thread, asOf: position) != nil else { return nil }
        return OperatedThread(
            thread: identities.threadID(thread), index: thread, openedAt: firstPosition(ofThread: thread),
            changeCount: views.community.privacy.count(of: thread, asOf: position))
    }

    /// Returns the periods of a thread that begin with these changes of its privacy, and in which it
    /// was not `inviteOnly`.
    ///
    /// The first change, of rank 1, makes the thread `inviteOnly`. The period before it has the rank
    /// 0; a thread that was opened with that policy has none.
    package func disclosedPeriods(of thread: OperatedThread, changes: Range<Int>) -> [(from: Position, to: Position?)] {
        var periods: [(from: Position, to: Position?)] = changes.lowerBound == 0 ? [(thread.openedAt, nil)] : []
        for version in views.community.privacy.versions(of: thread.index, ranks: max(1, changes.lowerBound)..<changes.upperBound) {
            if version.value == 0 {
                periods.append((version.position, nil))
            } else if !periods.isEmpty {
                periods[periods.count - 1].to = version.position
            }
        }
        if changes.lowerBound == 0, periods[0].to == thread.openedAt + 1 { periods.removeFirst() }
        return periods
    }

    /// Returns a member's role and the position since which they have it; nil for other users.
    package func role(of user: UserID, in thread: ThreadID, asOf position: Position) -> (role: ThreadRole, since: Position)? {
        guard let user = identities.index(ofUser: user), let thread = identities.index(ofThread: thread),
            let membership = identities.memberships.find(user, thread)
        else { return nil }
        return role(ofMembership: membership, asOf: position)
    }

    /// Returns the role of a membership and the position since which it holds; nil if the
    /// membership did not hold.
    package func role(ofMembership membership: Int, asOf position: Position) -> (role: ThreadRole, since: Position)? {
        guard let join = views.membership.joinPosition(membership, asOf: position) else { return nil }
        guard let version = views.community.roles.version(of: membership, asOf: position), version.position >= join else {
            return (.member, join)
        }
        return (ThreadRole(code: UInt64(version.value)) ?? .member, version.position)
    }

    /// Whether a user moderated a thread: as a moderator, an owner or an operator.
    package func moderates(_ user: UserID, _ thread: ThreadID, asOf position: Position) -> Bool {
        if let role = role(of: user, in: thread, asOf: position)?.role, role >= .moderator { return true }
        return isOperator(user, asOf: position)
    }

    /// Whether a user had blocked another one.
    package func isBlocked(_ user: UserID, by blocker: UserID, asOf position: Position) -> Bool {
        if views.community.blockPairs.count == 0 { return false }
        guard let user = identities.index(ofUser: user), let blocker = identities.index(ofUser: blocker),
            let pair = views.community.blockPairs.find(blocker, user)
        else { return false }
        return views.community.blocks.value(of: pair, asOf: position) != 0
    }

    /// Returns the users whom a user has blocked now.
    package func blockedUsers(by blocker: UserID) -> BlockedUsers {
        let users = identities.index(ofUser: blocker).flatMap { views.community.blockedUsers[UInt32(truncatingIfNeeded: $0)] }
        return BlockedUsers(indexes: users ?? [])
    }

    /// Returns the sanctions of a membership that no command had ended.
    package func sanctions(ofMembership membership: Int, asOf position: Position) -> [SanctionRecord] {
        let user = identities.memberships.pair(membership).first
        func record(_ chains: SparseChains<UInt8>, isBan: Bool) -> SanctionRecord? {
            guard let version = chains.version(of: membership, asOf: position), version.value != 0 else { return nil }
            return SanctionRecord(
                user: identities.userID(user), username: views.users.name(user, asOf: position)?.text, isBan: isBan,
                position: version.position)
        }
        return [record(views.community.mutes, isBan: false), record(views.community.bans, isBan: true)].compactMap { $0 }
    }

    /// Returns a user's standing in a thread; nil if the user never was a member, muted, banned or
    /// invited.
    package func standing(of user: UserID, in thread: ThreadID, asOf position: Position) -> StandingRecord? {
        guard let membership = membershipIndex(user, thread) else { return nil }
        let community = views.community
        let (mute, ban) = (community.mutes.version(of: membership, asOf: position), community.bans.version(of: membership, asOf: position))
        guard
            views.membership.changeCount(membership, asOf: position) > 0 || mute != nil || ban != nil
                || community.invitations.version(of: membership, asOf: position) != nil
        else { return nil }
        var standing = StandingRecord()
        if let held = role(ofMembership: membership, asOf: position) { (standing.role, standing.since) = (held.role, held.since) }
        standing.departure = views.membership.departure(membership, asOf: position)
        standing.mute = mute.flatMap { $0.value != 0 ? $0.position : nil }
        standing.ban = ban.flatMap { $0.value != 0 ? $0.position : nil }
        return standing
    }

    /// Returns the position of the invitation of a membership; nil if the user was not invited.
    package func invitation(ofMembership membership: Int, asOf position: Position) -> Position? {
        views.community.invitations.version(of: membership, asOf: position).flatMap { $0.value != 0 ? $0.position : nil }
    }

    /// Returns the pinned messages of a thread, in the order in which they were pinned.
    ///
    /// - Complexity: O(*n* log *n*) in the number of messages that were ever pinned.
    package func pinnedMessages(of thread: ThreadID, asOf position: Position, after start: Position = 0) -> [PostRecord<MessageID>] {
        let index = identities.index(ofThread: thread)
        return compactMap(scan(pinsOf: thread)) { row -> (message: Int, pinnedAt: Position)? in
            let message = views.community.pins.rows.entry(row)
            // A forged event can pin a message of another thread, which the reader may not see.
            guard let version = views.community.pins.version(of: message, asOf: position), version.value != 0,
                identities.messageFacts.parent(message) == index, identities.messageFacts.position(message) > start
            else { return nil }
            return (message, version.position)
        }
        .sorted { $0.pinnedAt < $1.pinnedAt }
        .compactMap { self.message(MessageID(bits: identities.messages.id($0.message)), asOf: position) }
    }

    /// Returns a report that was open as of a position; nil if it was not, or if its post is in
    /// another thread or its message at or before `start`.
    package func openReport(_ row: Int, in thread: ThreadID, asOf position: Position, after start: Position = 0) -> ReportRecord? {
        guard views.community.reports.isOpen(row, asOf: position) else { return nil }
        let report = views.community.reports[row]
        let message = report.isReply ? identities.replyFacts.parent(report.post) : report.post
        // As for pins: a forged event can report a post of another thread.
        guard identities.messageFacts.parent(message) == identities.index(ofThread: thread),
            identities.messageFacts.position(message) > start
        else { return nil }
        let post: PostID =
            report.isReply
            ? .reply(ReplyID(bits: identities.replies.id(report.post))) : .message(MessageID(bits: identities.messages.id(report.post)))
        return ReportRecord(position: report.position, reporter: identities.userID(report.reporter), post: post)
    }
}
