package import Columns

/// What the rules know of sanctions, visible history, operators, blocks, reports and erasures.
///
/// Most users have none of these, so each is kept for the few that do.
package struct CommunityState: Equatable, Sendable {
    /// The ends of mutes, by membership.
    var mutes = SparseColumn()
    /// The ends of bans, by membership.
    var bans = SparseColumn()
    /// The positions of the latest joins, by membership, in threads whose history begins there.
    var joins = SparseColumn()
    /// By user: 1 for an operator of the community.
    var operators = PackedColumn<UInt8>()
    /// The pairs of a user and another user whom they have ever blocked.
    var blockPairs = PairInterner()
    /// By pair: 1 if the block holds.
    var blocks = PackedColumn<UInt8>()
    /// The reports of messages.
    var messageReports = ReportTable()
    /// The reports of replies.
    var replyReports = ReportTable()
    /// The positions of the events that order erasures.
    package internal(set) var erasures = PackedColumn<Position>()
}

/// Numbers of few rows of a table; the other rows have 0.
struct SparseColumn: Equatable, Sendable {
    private var rows = SubsetInterner()
    private var values = PackedColumn<UInt64>()

    subscript(row: Int) -> UInt64 {
        get { rows.find(row).map { values[$0] } ?? 0 }
        set {
            let (index, isNew) = rows.insert(row)
            if isNew { values.append(newValue) } else { values[index] = newValue }
        }
    }
}

/// The open reports, by reporter and post.
///
/// A resolution closes all reports of its post: it begins a new round, and a report is open if it
/// was made in the post's current round.
struct ReportTable: Equatable, Sendable {
    /// By post: the number of resolutions.
    private var rounds = SparseColumn()
    /// By post: the number of reports in the current round.
    private var openCounts = SparseColumn()
    private var pairs = PairInterner()
    /// By pair of reporter and post: the round of the latest report, from 1.
    private var reportRounds = PackedColumn<UInt64>()

    func hasOpenReports(_ post: Int) -> Bool { openCounts[post] > 0 }

    func isReported(_ post: Int, by user: Int) -> Bool { pairs.find(user, post).map { reportRounds[$0] == rounds[post] &+ 1 } ?? false }

    mutating func report(_ post: Int, by user: Int) {
        guard !isReported(post, by: user) else { return }
        let (pair, isNew) = pairs.insert(user, post)
        if isNew { reportRounds.append(0) }
        // Wrapping: a checkpoint can contain any count, and nothing may trap.
        reportRounds[pair] = rounds[post] &+ 1
        openCounts[post] &+= 1
    }

    mutating func resolve(_ post: Int) {
        guard hasOpenReports(post) else { return }
        rounds[post] &+= 1
        openCounts[post] = 0
    }
}

extension CommunityState {
    func write(to writer: inout ColumnWriter) {
        mutes.write(to: &writer)
        bans.write(to: &writer)
        joins.write(to: &writer)
        operators.write(to: &writer)
        blockPairs.write(to: &writer)
        blocks.write(to: &writer)
        messageReports.write(to: &writer)
        replyReports.write(to: &writer)
        erasures.write(to: &writer)
    }

    /// Reads the state; its identities have been read before.
    init(from reader: inout ColumnReader, _ ids: borrowing Identities, head: Position) throws(ColumnError) {
        mutes = try SparseColumn(from: &reader, rows: ids.memberships.count)
        bans = try SparseColumn(from: &reader, rows: ids.memberships.count)
        joins = try SparseColumn(from: &reader, rows: ids.memberships.count)
        operators = try PackedColumn(from: &reader, atMost: ids.users.count)
        try operators.check(below: 2)
        blockPairs = try PairInterner(from: &reader)
        try blockPairs.check(firstBelow: ids.users.count, secondBelow: ids.users.count)
        blocks = try PackedColumn(from: &reader, atMost: blockPairs.count)
        try require(blocks.count == blockPairs.count, "\(blocks.count) blocks of \(blockPairs.count) pairs")
        try blocks.check(below: 2)
        messageReports = try ReportTable(from: &reader, posts: ids.messages.count, users: ids.users.count)
        replyReports = try ReportTable(from: &reader, posts: ids.replies.count, users: ids.users.count)
        erasures = try PackedColumn(from: &reader, atMost: Int(clamping: head))
        try erasures.check(ascendingTo: head)
    }

    /// Returns a copy without hash slots.
    func withoutSlots() -> CommunityState {
        var copy = self
        copy.mutes.removeSlots()
        copy.bans.removeSlots()
        copy.joins.removeSlots()
        copy.blockPairs.removeSlots()
        copy.messageReports.removeSlots()
        copy.replyReports.removeSlots()
        return copy
    }
}

extension SparseColumn {
    mutating func removeSlots() { rows.removeSlots() }

    func write(to writer: inout ColumnWriter) {
        rows.write(to: &writer)
        values.write(to: &writer)
    }

    init(from reader: inout ColumnReader, rows count: Int) throws(ColumnError) {
        rows = try SubsetInterner(from: &reader)
        try rows.check(below: count)
        values = try PackedColumn(from: &reader, atMost: rows.count)
        try require(values.count == rows.count, "\(values.count) values of \(rows.count) rows")
    }
}

extension ReportTable {
    mutating func removeSlots() {
        rounds.removeSlots()
        openCounts.removeSlots()
        pairs.removeSlots()
    }

    func write(to writer: inout ColumnWriter) {
        rounds.write(to: &writer)
        openCounts.write(to: &writer)
        pairs.write(to: &writer)
        reportRounds.write(to: &writer)
    }

    init(from reader: inout ColumnReader, posts: Int, users: Int) throws(ColumnError) {
        rounds = try SparseColumn(from: &reader, rows: posts)
        openCounts = try SparseColumn(from: &reader, rows: posts)
        pairs = try PairInterner(from: &reader)
        try pairs.check(firstBelow: users, secondBelow: posts)
        reportRounds = try PackedColumn(from: &reader, atMost: pairs.count)
        try require(reportRounds.count == pairs.count, "\(reportRounds.count) reports of \(pairs.count) pairs")
    }
}

extension ThreadRow {
    /// The policy, the history and the marks as bits, as a checkpoint stores them.
    var ruleBits: UInt8 {
        get {
            UInt8(policy.code) | UInt8(history.code) << 2 | (isLocked ? 8 : 0) | (isClosed ? 16 : 0) | (canHaveOwners ? 32 : 0)
                | (awaitsOpener ? 64 : 0)
        }
        set {
            policy = ThreadPolicy(code: UInt64(newValue & 3)) ?? .open
            history = ThreadHistory(code: UInt64(newValue >> 2 & 1)) ?? .all
            (isLocked, isClosed) = (newValue & 8 != 0, newValue & 16 != 0)
            (canHaveOwners, awaitsOpener) = (newValue & 32 != 0, newValue & 64 != 0)
        }
    }
}

extension RuleState {
    /// Opens a thread.
    mutating func open(_ event: EventRow, _ indexes: EventIndexes, at position: Position) {
        threads[indexes.thread].openedAt = position
        threads[indexes.thread].openedBy = indexes.user
        guard !event.isImported, ThreadID(bits: event.thread).outwardCode == nil else { return }
        threads[indexes.thread].canHaveOwners = true
        threads[indexes.thread].awaitsOpener = true
    }

    /// Makes a user a member; the opener, whose join follows the opening, an owner.
    mutating func join(_ indexes: EventIndexes, at position: Position) {
        let isOpener = threads[indexes.thread].awaitsOpener && threads[indexes.thread].openedBy == indexes.user
        if threads[indexes.thread].awaitsOpener { threads[indexes.thread].awaitsOpener = false }
        var wasMember = false
        changeStanding(indexes) { standing in
            standing.isInvited = false
            wasMember = standing.isMember
            if !wasMember { standing.role = isOpener ? .owner : .member }
        }
        guard !wasMember else { return }
        if isOpener { threads[indexes.thread].ownerCount &+= 1 }
        if threads[indexes.thread].history == .sinceJoining { community.joins[indexes.membership] = position }
    }

    /// Changes a user's role in a thread; nil ends the membership.
    mutating func changeRole(_ indexes: EventIndexes, to role: ThreadRole?) {
        var former: ThreadRole?
        changeStanding(indexes) {
            former = $0.role
            $0.role = role
        }
        // Wrapping: a checkpoint can contain any count, and nothing may trap.
        if former == .owner { threads[indexes.thread].ownerCount &-= 1 }
        if role == .owner { threads[indexes.thread].ownerCount &+= 1 }
    }

    private mutating func changeStanding(_ indexes: EventIndexes, _ change: (inout Standing) -> Void) {
        changeMembership(indexes) { table, membership in
            var standing = table.standing(membership)
            change(&standing)
            table.setStanding(standing, membership)
        }
    }

    /// Marks a message as retracted or removed, which unpins it.
    mutating func markGone(message: Int, _ mark: PostMarks, _ thread: Int) {
        var marks = marks(message: message).union(mark)
        if marks.remove(.pinned) != nil { threads[thread].pinCount &-= 1 }
        messageMarks[message] = marks.rawValue
    }

    /// Applies the events of roles, moderation and custom events.
    mutating func applyCommunity(_ kind: EventKind, _ event: EventRow, _ indexes: EventIndexes, at position: Position) {
        let (thread, post) = (indexes.thread, indexes.secondIndex)
        switch kind {
        case .threadPolicySet:
            (threads[thread].policy, threads[thread].history) = ThreadPolicySet.policyAndHistory(event.value)
        case .userInvited: changeStanding(indexes) { $0.isInvited = true }
        case .invitationDeclined, .invitationRevoked: changeStanding(indexes) { $0.isInvited = false }
        case .roleSet:
            if indexes.membership < memberships.count, memberships.standing(indexes.membership).isMember {
                changeRole(indexes, to: ThreadRole(code: event.value) ?? .member)
            } else {
                // Adds the row of the membership: every interned pair has one.
                changeStanding(indexes) { _ in }
            }
        case .memberRemoved: changeRole(indexes, to: nil)
        case .userMuted:
            changeStanding(indexes) { $0.hasMute = true }
            community.mutes[indexes.membership] = event.value
        case .userUnmuted: changeStanding(indexes) { $0.hasMute = false }
        case .userBanned:
            changeStanding(indexes) { ($0.hasBan, $0.isInvited) = (true, false) }
            community.bans[indexes.membership] = event.value
        case .userUnbanned: changeStanding(indexes) { $0.hasBan = false }
        case .operatorGranted, .operatorRevoked:
            while community.operators.count <= indexes.user { community.operators.append(0) }
            community.operators[indexes.user] = kind == .operatorGranted ? 1 : 0
        case .messageRemoved: if post >= 0 { markGone(message: post, .removed, thread) }
        case .replyRemoved: if post >= 0 { replyMarks[post] |= PostMarks.removed.rawValue }
        case .messagePinned, .messageUnpinned:
            guard post >= 0, marks(message: post).contains(.pinned) != (kind == .messagePinned) else { return }
            messageMarks[post] ^= PostMarks.pinned.rawValue
            if kind == .messagePinned { threads[thread].pinCount &+= 1 } else { threads[thread].pinCount &-= 1 }
        case .threadLocked: threads[thread].isLocked = true
        case .threadUnlocked: threads[thread].isLocked = false
        case .threadClosed: threads[thread].isClosed = true
        case .messageReported: if post >= 0 { community.messageReports.report(post, by: indexes.user) }
        case .replyReported: if post >= 0 { community.replyReports.report(post, by: indexes.user) }
        case .messageReportsResolved: if post >= 0 { community.messageReports.resolve(post) }
        case .replyReportsResolved: if post >= 0 { community.replyReports.resolve(post) }
        case .userBlocked, .userUnblocked:
            let (pair, isNew) = community.blockPairs.insert(indexes.user, post)
            if isNew { community.blocks.append(0) }
            community.blocks[pair] = kind == .userBlocked ? 1 : 0
        case .userErased:
            forget(indexes.user)
            community.erasures.append(position)
        case .contentErased: community.erasures.append(position)
        // `apply` has the other kinds.
        case .userRegistered, .usernameChanged, .postcodeSet, .threadOpened, .threadJoined, .threadLeft, .threadRead, .messagePosted,
            .replyPosted, .messageEdited, .replyEdited, .messageRetracted, .replyRetracted, .sessionStarted, .sessionEnded, .custom, .lost:
            break
        }
    }
}

extension RuleState {
    /// Returns a copy without hash slots, for writing a checkpoint.
    ///
    /// A later insertion into the original then copies no slots.
    package func withoutSlots() -> RuleState {
        var copy = self
        copy.community = community.withoutSlots()
        return copy
    }

    /// Whether a user is an operator of the community.
    package func isOperator(_ user: Int) -> Bool { user < community.operators.count && community.operators[user] != 0 }

    /// Whether a sanction of a user in a thread holds at a time.
    package func isSanctioned(_ kind: SanctionKind, _ membership: Int, at time: Timestamp) -> Bool {
        guard memberships.standing(membership).has(kind) else { return false }
        return sanctionEnd(kind, membership).map { time < $0 } ?? true
    }

    /// Returns the end of the latest sanction of a user in a thread; nil if it has none.
    func sanctionEnd(_ kind: SanctionKind, _ membership: Int) -> Timestamp? {
        Sanction.until(kind == .mute ? community.mutes[membership] : community.bans[membership])
    }

    /// Whether a message exists for a member: its thread has the whole history, it was posted after
    /// the member's latest join, or the member is an operator in a thread that is not `inviteOnly`.
    func isVisible(message: Int, to membership: Int, _ ids: borrowing Identities) -> Bool {
        let thread = ids.messageFacts.parent(message)
        return threads[thread].history == .all || ids.messageFacts.position(message) > community.joins[membership]
            || threads[thread].policy != .inviteOnly && isOperator(ids.memberships.pair(membership).first)
    }

    /// Who may join a thread.
    func policy(of thread: Int, _ ids: borrowing Identities) -> ThreadPolicy {
        ids.threads.id(thread).outwardCode == nil ? threads[thread].policy : .residents
    }
}
