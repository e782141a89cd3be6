package import Columns

/// What the rules know of sanctions, visible history, notifications, inboxes, operators, blocks,
/// edits, reports and erasures.
///
/// Most users and posts have none of these, so each is kept for the few that do.
package struct RareState: Equatable, Sendable {
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
    /// The positions of the latest edits, by message.
    var messageEdits = SparseColumn()
    /// The positions of the latest edits, by reply.
    var replyEdits = SparseColumn()
    /// The reports of messages.
    var messageReports = ReportTable()
    /// The reports of replies.
    var replyReports = ReportTable()
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

extension RareState {
    func write(to writer: inout ColumnWriter) {
        mutes.write(to: &writer)
        bans.write(to: &writer)
        joins.write(to: &writer)
        notifications.write(to: &writer)
        inboxMarkers.write(to: &writer)
        operators.write(to: &writer)
        blockPairs.write(to: &writer)
        blocks.write(to: &writer)
        acts.write(to: &writer)
        messageEdits.write(to: &writer)
        replyEdits.write(to: &writer)
        messageReports.write(to: &writer)
        replyReports.write(to: &writer)
        losses.write(to: &writer)
        doubts.write(to: &writer)
        erasures.write(to: &writer)
    }

    /// Reads the state; its identities have been read before.
    init(from reader: inout ColumnReader, _ ids: borrowing Identities, head: Position) throws(ColumnError) {
        mutes = try SparseColumn(from: &reader, rows: ids.memberships.count)
        bans = try SparseColumn(from: &reader, rows: ids.memberships.count)
        joins = try SparseColumn(from: &reader, rows: ids.memberships.count)
        notifications = try SparseColumn(from: &reader, rows: ids.memberships.count)
        inboxMarkers = try SparseColumn(from: &reader, rows: ids.users.count)
        operators = try PackedColumn(from: &reader, atMost: ids.users.count)
        try operators.check(below: 2)
        blockPairs = try PairInterner(from: &reader)
        try blockPairs.check(firstBelow: ids.users.count, secondBelow: ids.users.count)
        blocks = try PackedColumn(from: &reader, atMost: blockPairs.count)
        try require(blocks.count == blockPairs.count, "\(blocks.count) blocks of \(blockPairs.count) pairs")
        try blocks.check(below: 2)
        for pair in 0..<blockPairs.count { blockCounts[blockPairs.pair(pair).first] += UInt64(blocks[pair]) }
        acts = try PairInterner(from: &reader)
        try acts.check(firstBelow: ids.users.count, secondBelow: ids.users.count)
        messageEdits = try SparseColumn(from: &reader, rows: ids.messages.count)
        replyEdits = try SparseColumn(from: &reader, rows: ids.replies.count)
        messageReports = try ReportTable(from: &reader, posts: ids.messages.count, users: ids.users.count)
        replyReports = try ReportTable(from: &reader, posts: ids.replies.count, users: ids.users.count)
        losses = try Losses(from: &reader, threads: ids.threads.count, head: head)
        doubts = try SparseColumn(from: &reader, rows: ids.threads.count)
        erasures = try PackedColumn(from: &reader, atMost: Int(clamping: head))
        try erasures.check(ascendingTo: head)
    }

    /// Returns a copy without hash slots.
    func withoutSlots() -> RareState {
        var copy = self
        copy.mutes.removeSlots()
        copy.bans.removeSlots()
        copy.joins.removeSlots()
        copy.notifications.removeSlots()
        copy.inboxMarkers.removeSlots()
        copy.blockPairs.removeSlots()
        copy.blockCounts.removeSlots()
        copy.acts.removeSlots()
        copy.messageEdits.removeSlots()
        copy.replyEdits.removeSlots()
        copy.messageReports.removeSlots()
        copy.replyReports.removeSlots()
        copy.losses.removeSlots()
        copy.doubts.removeSlots()
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
