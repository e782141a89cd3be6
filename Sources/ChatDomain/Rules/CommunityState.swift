package import Columns

/// What the rules know of sanctions, visible history, notifications, inboxes, operators, blocks,
/// edits, reports and erasures.
///
/// Most users and posts have none of these, so each is kept for the few that do.
package struct CommunityState: Equatable, Sendable {
    /// The ends of mutes, by membership.
    var mutes = SparseColumn()
    /// The ends of bans, by membership.
    var bans = SparseColumn()
    /// The positions of the latest joins, by membership, in threads whose history begins there.
    var joins = SparseColumn()
    /// The ``LimitedLevel``s of notifications, by membership.
    var notifications = SparseColumn()
    /// The read markers of inboxes, by user.
    var inboxMarkers = SparseColumn()
    /// By user: 1 for an operator of the community.
    var operators = PackedColumn<UInt8>()
    /// The pairs of a user and another user whom they have ever blocked.
    var blockPairs = PairInterner()
    /// By pair: 1 if the block holds.
    var blocks = PackedColumn<UInt8>()
    /// By user: the number of their blocks that hold; not stored, because it follows from the
    /// blocks.
    var blockCounts = SparseColumn()
    /// The pairs of a user and another one who has acted on them (`People.swift`).
    var acts = PairInterner()
    /// The positions of the latest edits, by post.
    var edits = PostTables(SparseColumn())
    /// The reports of posts.
    var reports = PostTables(ReportTable())
    /// What a repair lost, until its end.
    var losses = Losses()
    /// By thread in doubt: 1 + the position after which it may have lost events; without those of
    /// ``losses``.
    var doubts = SparseColumn()
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

    /// Sets a row to 0, unless it has never had another number.
    ///
    /// Mutating, because reading the row of a state that is being changed copies the whole state.
    mutating func clear(_ row: Int) {
        if let index = rows.find(row), values[index] != 0 { values[index] = 0 }
    }
}

extension CommunityState {
    /// Visits the columns; the identities have been read before.
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position)
        throws(ColumnError)
    {
        let (users, threads, memberships) = (ids.users.count, ids.threads.count, ids.memberships.count)
        try mutes.visit(&visitor, rows: memberships)
        try bans.visit(&visitor, rows: memberships)
        try joins.visit(&visitor, rows: memberships)
        try notifications.visit(&visitor, rows: memberships)
        try inboxMarkers.visit(&visitor, rows: users)
        try operators.visit(&visitor, atMost: users, below: 2)
        try blockPairs.visit(&visitor, below: users, users)
        try blocks.visit(&visitor, rows: blockPairs.count, below: 2)
        if visitor.isReading {
            for pair in 0..<blockPairs.count { blockCounts[blockPairs.pair(pair).first] += UInt64(blocks[pair]) }
        }
        try visitor.visit(unstored: &blockCounts) { $0.removeSlots() }
        try acts.visit(&visitor, below: users, users)
        try edits.messages.visit(&visitor, rows: ids.posts.messages.count)
        try edits.replies.visit(&visitor, rows: ids.posts.replies.count)
        try reports.messages.visit(&visitor, posts: ids.posts.messages.count, users: users)
        try reports.replies.visit(&visitor, posts: ids.posts.replies.count, users: users)
        try losses.visit(&visitor, threads: threads, head: head)
        try doubts.visit(&visitor, rows: threads)
        try erasures.visit(&visitor, atMost: Int(clamping: head), ascendingTo: head)
    }
}

extension SparseColumn {
    mutating func removeSlots() { rows.removeSlots() }

    /// Visits the numbers of at most `count` rows.
    mutating func visit(_ visitor: inout ColumnVisitor, rows count: Int) throws(ColumnError) {
        try rows.visit(&visitor, below: count)
        try values.visit(&visitor, rows: rows.count)
    }
}
