import ChatDomain
import Columns
import Primitives

/// Roles, sanctions, invitations, levels of notifications, policies, locks, pins, reports, blocks,
/// operators and texts about users, as of any position.
///
/// Few users, threads and posts have any of these, so each history is sparse. The position of a
/// version is that of its event, which has the acting user, the reason and the end.
struct CommunityHistory: Equatable, Sendable {
    /// Lets a query borrow the history where it is.
    private var addressOnly = AddressOnly()
    /// By membership: the role's code; 0 for a plain member and for other users.
    var roles = SparseChains<UInt8>()
    /// By membership: 1 for a mute that was not ended by a command, otherwise 0.
    var mutes = SparseChains<UInt8>()
    /// By membership: 1 for a ban that was not ended by a command, otherwise 0.
    var bans = SparseChains<UInt8>()
    /// By membership: 1 for an invitation.
    var invitations = SparseChains<UInt8>()
    /// By membership: the ``LimitedLevel`` that the user set last.
    var notifications = SparseChains<UInt64>()
    /// By thread: its owners and moderators, in the order in which they got their role; not stored,
    /// because it follows from the roles.
    var moderators: [UInt32: [UInt32]] = [:]
    /// The users whose content was erased; not stored, because the rules have them.
    var erasedUsers: Set<Int> = []
    /// The ends of levels that have not passed; not stored, because they follow from the levels.
    var levelEnds = LevelEnds()
    /// By thread: the policy and the history, as one number, or ``doubt``.
    var policies = SparseChains<UInt64>()
    /// What a repair lost, until its end.
    var losses = Losses()
    /// By thread: 1 while it is `inviteOnly`.
    var privacy = SparseChains<UInt8>()
    /// By thread: the bits of ``Lock``.
    var locks = SparseChains<UInt8>()
    /// By user: 1 for an operator.
    var operators = SparseChains<UInt8>()
    /// By message: 1 for a pinned message.
    var pins = SparseChains<UInt8>()
    /// By thread: the messages ever pinned, as rows of ``pins``.
    var pinsOfThread = RowLists()
    /// The pairs of a user and another user whom they have ever blocked.
    var blockPairs = PairInterner()
    /// By pair: 1 for a block.
    var blocks = SparseChains<UInt8>()
    /// By user: the pairs of ``blockPairs``, as its rows; not stored, because it follows from the
    /// pairs.
    var blocksByUser = RowLists()
    /// By user: the users whom they have blocked, ascending; not stored, because it follows from
    /// the blocks.
    var blockedUsers: [UInt32: [UInt32]] = [:]
    /// The reports, in order.
    var reports = ReportHistory()
    /// By user: 1 for a text about them, which the event of the version has.
    var profiles = SparseChains<UInt8>()
    /// The openers of threads whose first join has not been applied, by thread.
    var awaitedOpeners: [UInt32: UInt32] = [:]

    enum Lock {
        static let locked: UInt8 = 1
        static let closed: UInt8 = 2
    }

    /// Applies the next event, other than a new message.
    ///
    /// - Parameters:
    ///   - isOpening: Whether the event opens its thread, and is the first to do so.
    ///   - membersChange: The event's change to the thread's number of members.
    mutating func apply(
        _ event: EventRow, at position: Position, _ indexes: EventIndexes, isOpening: Bool, membersChange: Int
    ) {
        let (thread, membership, post) = (indexes.thread, indexes.membership, indexes.secondIndex)
        switch event.kind {
        case .threadOpened:
            guard isOpening, !event.isImported, ThreadID(bits: event.thread).outwardCode == nil else { return }
            awaitedOpeners[UInt32(thread)] = UInt32(indexes.user)
        case .directOpened:
            guard isOpening else { return }
            policies.set(EventRow.value(.inviteOnly, .all), at: position, of: thread)
            privacy.set(1, at: position, of: thread)
        case .threadJoined:
            let opener = awaitedOpeners.isEmpty ? nil : awaitedOpeners.removeValue(forKey: UInt32(thread))
            if opener == UInt32(indexes.user), membersChange == 1, event.number <= ThreadRow.maximumNumberOfOpenersJoin
            {
                setRole(.owner, at: position, indexes)
            }
            invitations.clear(at: position, of: membership)
        case .threadLeft, .memberRemoved: setRole(.member, at: position, indexes)
        case .threadPolicySet:
            policies.set(event.value, at: position, of: thread)
            // The values alternate, as `disclosedPeriods` needs.
            if event.policyAndHistory.policy != .inviteOnly {
                privacy.clear(at: position, of: thread)
            } else if privacy.value(of: thread) == 0 {
                privacy.set(1, at: position, of: thread)
            }
        case .notificationsSet: setLevel(LimitedLevel(event.level, until: event.until), at: position, of: membership)
        case .userInvited: invitations.set(1, at: position, of: membership)
        case .invitationDeclined, .invitationRevoked: invitations.clear(at: position, of: membership)
        case .roleSet: setRole(ThreadRole(code: event.value) ?? .member, at: position, indexes)
        case .userMuted: mutes.set(1, at: position, of: membership)
        case .userUnmuted: mutes.clear(at: position, of: membership)
        case .userBanned:
            bans.set(1, at: position, of: membership)
            invitations.clear(at: position, of: membership)
        case .userUnbanned: bans.clear(at: position, of: membership)
        // Grants and revocations alternate, as `operatorPeriods` needs.
        case .operatorGranted:
            if operators.value(of: indexes.user) == 0 { operators.set(1, at: position, of: indexes.user) }
        case .operatorRevoked: operators.clear(at: position, of: indexes.user)
        case .userErased: erasedUsers.insert(indexes.user)
        case .messagePinned:
            guard post >= 0 else { return }
            if pins.set(1, at: position, of: post) { pinsOfThread.append(to: thread) }
        case .messageUnpinned, .messageRetracted, .messageRemoved: if post >= 0 { pins.clear(at: position, of: post) }
        case .threadLocked: locks.set(locks.value(of: thread) | Lock.locked, at: position, of: thread)
        case .threadUnlocked: locks.set(locks.value(of: thread) & ~Lock.locked, at: position, of: thread)
        case .threadClosed: locks.set(locks.value(of: thread) | Lock.closed, at: position, of: thread)
        case .messageReported, .replyReported:
            if let post = indexes.post(of: event) { reports.append(post, by: indexes.user, thread, at: position) }
        case .messageReportsResolved, .replyReportsResolved:
            if let post = indexes.post(of: event) { reports.resolve(post, at: position) }
        case .userBlocked:
            blocks.set(1, at: position, of: blockPair(indexes.user, post))
            setBlocked(post, by: indexes.user, true)
        case .userUnblocked:
            blocks.clear(at: position, of: blockPair(indexes.user, post))
            setBlocked(post, by: indexes.user, false)
        case .profileSet: profiles.set(1, at: position, of: indexes.user)
        default: break
        }
    }
}

extension CommunityHistory: CheckpointComponent {
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError) {
        let (users, threads, memberships) = (ids.users.count, ids.threads.count, ids.memberships.count)
        try roles.visit(&visitor, entries: memberships, below: 4, head: head)
        try mutes.visit(&visitor, entries: memberships, below: 2, head: head)
        try bans.visit(&visitor, entries: memberships, below: 2, head: head)
        try invitations.visit(&visitor, entries: memberships, below: 2, head: head)
        try notifications.visit(&visitor, entries: memberships, below: LimitedLevel.valueBound, head: head)
        try policies.visit(&visitor, entries: threads, below: 1 << 16, head: head)
        try losses.visit(&visitor, threads: threads, head: head)
        try privacy.visit(&visitor, entries: threads, below: 2, head: head)
        try locks.visit(&visitor, entries: threads, below: 4, head: head)
        try operators.visit(&visitor, entries: users, below: 2, head: head)
        try pins.visit(&visitor, entries: ids.posts.messages.count, below: 2, head: head)
        try pinsOfThread.visit(&visitor, rows: pins.rows.count, owners: threads)
        try blockPairs.visit(&visitor, below: users, users)
        try blocks.visit(&visitor, entries: blockPairs.count, below: 2, head: head)
        try reports.visit(&visitor, ids, head: head)
        try visitAwaitedOpeners(&visitor, ids)
        try profiles.visit(&visitor, entries: users, below: 2, head: head)
        if visitor.isReading {
            readModerators(ids)
            readLevelEnds()
            for row in 0..<blockPairs.count {
                let pair = blockPairs.pair(row)
                blocksByUser.append(to: pair.first)
                if blocks.value(of: row) != 0 { setBlocked(pair.second, by: pair.first, true) }
            }
        }
    }

    private mutating func visitAwaitedOpeners(_ visitor: inout ColumnVisitor, _ ids: Identities)
        throws(ColumnError)
    {
        try visitor.visit(
            &awaitedOpeners,
            write: { openers, writer in
                let openers = openers.sorted { $0.key < $1.key }
                writer.write(openers.count)
                writer.write(openers.indices) { openers[$0].key }
                writer.write(openers.indices) { openers[$0].value }
            },
            read: { (openers, reader) throws(ColumnError) in
                let count = try reader.readCount()
                try require(count <= ids.threads.count, "\(count) threads without their first join")
                let threads: [UInt32] = try reader.readArray(count)
                let users: [UInt32] = try reader.readArray(count)
                for (thread, user) in zip(threads, users) {
                    try require(
                        thread < ids.threads.count && user < ids.users.count, "an opener that does not exist")
                    openers[thread] = user
                }
            })
    }
}
