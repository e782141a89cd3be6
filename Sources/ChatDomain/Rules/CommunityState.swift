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
    /// By user: the number of their blocks that hold; not stored, because it follows from the blocks.
    private(set) var blockCounts = SparseColumn()
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
    /// Sets or ends a block.
    mutating func setBlock(_ user: Int, by blocker: Int, _ isBlocked: Bool) {
        let (pair, isNew) = blockPairs.insert(blocker, user)
        if isNew { blocks.append(0) }
        let value: UInt8 = isBlocked ? 1 : 0
        // Wrapping: a checkpoint can contain any block, and nothing may trap.
        blockCounts[blocker] = blockCounts[blocker] &+ UInt64(value) &- UInt64(blocks[pair])
        blocks[pair] = value
    }

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
        for pair in 0..<blockPairs.count { blockCounts[blockPairs.pair(pair).first] += UInt64(blocks[pair]) }
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
        copy.blockCounts.removeSlots()
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
