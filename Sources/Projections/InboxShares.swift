import Columns
import Primitives

/// Who did what the rows of inboxes are about, and which rows a query passes over at first, because
/// the same user has done more since.
///
/// A query of the first *n* rows of an inbox passes over a row if at least ``maximumRowCount`` of
/// the later ones among them are of the same user: one user fills a bounded part of what is looked
/// at. The row at which this begins is found once, when it is added, so the rule holds for every
/// *n*, and thus as of every position.
///
/// The rows of one user in one inbox are a chain; an inbox of at most ``maximumRowCount`` rows
/// needs none. Sixteen consecutive rows that are passed over are a block, sixteen such blocks a
/// larger one, so that a query finds the next row that it looks at in O(log *n*) steps, whatever
/// others have done.
struct InboxShares: Equatable, Sendable {
    /// By row: the index + 1 of the user who acted; 0 if nobody is known.
    private var actors = PackedColumn<UInt32>()
    /// The pairs of a user with more than ``maximumRowCount`` rows and of the index + 1 of another
    /// who acted there.
    private var pairs = PairInterner()
    /// By pair: the newest row, as a link.
    private var newestLinks = PackedColumn<UInt32>()
    /// By row: the distance to the link of the previous row of the same pair; 0 for none.
    private var previousDistances = MostlyZeroColumn<UInt32>()
    /// By row: how much later in the inbox the row is that ends it, the ``maximumRowCount``th after
    /// it of the same pair; 0 for none.
    private var endDistances = MostlyZeroColumn<UInt32>()
    /// The blocks of rows that have all ended: pairs of a user and a block, whose number is shifted
    /// by three bits for its level.
    private var blocks = PairInterner()
    /// By block: the index of the last row that ended one of it.
    private var blockEnds = PackedColumn<UInt32>()

    /// The maximum number of the latest rows of one user that a query looks at before those of
    /// others.
    ///
    /// Less than the default limit of a page, so that a first page has room for others.
    static let maximumRowCount = 40

    /// The binary logarithm of the number of rows in a block, and of blocks in a larger one.
    private static let shift = 4

    /// Adds the newest row of an inbox.
    ///
    /// - Parameters:
    ///   - actor: The user who acted; -1 for nobody.
    ///   - newest: The link of the row.
    mutating func append(by actor: Int, to recipient: Int, _ rows: borrowing VersionChains<UInt64>, _ newest: UInt32) {
        actors.append(UInt32(truncatingIfNeeded: actor + 1))
        previousDistances.appendZero()
        endDistances.appendZero()
        let count = Int(rows.rank(newest))
        guard count > Self.maximumRowCount else { return }
        if count == Self.maximumRowCount + 1 {
            for rank in 1..<count { addToChain(rows.link(newest, rank: rank), recipient) }
        }
        addToChain(newest, recipient)

        var ended = newest
        for _ in 0..<Self.maximumRowCount {
            let distance = previousDistances[Int(ended) - 1]
            if distance == 0 { return }
            ended -= distance
        }
        let index = Int(rows.rank(ended)) - 1
        endDistances[Int(ended) - 1] = UInt32(truncatingIfNeeded: count - 1 - index)
        endBlocks(around: index, of: recipient, rows, newest, count)
    }

    private mutating func addToChain(_ link: UInt32, _ recipient: Int) {
        let actor = actors[Int(link) - 1]
        guard actor > 0 else { return }
        let (pair, isNew) = pairs.insert(recipient, Int(actor))
        if isNew {
            newestLinks.append(link)
        } else if newestLinks[pair] < link {
            // Otherwise the checkpoint was forged.
            previousDistances[Int(link) - 1] = link - newestLinks[pair]
            newestLinks[pair] = link
        }
    }

    /// Adds the blocks of which a row that has just ended was the last one.
    private mutating func endBlocks(
        around index: Int, of recipient: Int, _ rows: borrowing VersionChains<UInt64>, _ newest: UInt32, _ count: Int
    ) {
        let size = 1 << Self.shift
        var (node, level) = (index >> Self.shift, 0)
        guard (node + 1) * size <= count else { return }
        var link = rows.link(newest, rank: (node + 1) * size)
        for _ in 0..<size {
            if endDistances[Int(link) - 1] == 0 { return }
            link = rows.previous(link)
        }
        var isComplete = true
        while isComplete {
            _ = blocks.insert(recipient, node << 3 | level)
            blockEnds.append(UInt32(truncatingIfNeeded: count - 1))
            node >>= Self.shift
            // The last one is the most likely to be missing.
            let parts = (node << Self.shift)..<(node + 1) << Self.shift
            isComplete = parts.reversed().allSatisfy { blocks.find(recipient, $0 << 3 | level) != nil }
            level += 1
        }
    }

    /// Returns the user who acted; -1 if nobody is known.
    func actor(_ link: UInt32) -> Int { Int(actors[Int(link) - 1]) - 1 }

    /// Returns the link of the previous row of the same pair; nil if there is none, or if the inbox
    /// has so few rows that it has no chains.
    func previous(_ link: UInt32) -> UInt32? {
        let distance = previousDistances[Int(link) - 1]
        return distance == 0 ? nil : link - distance
    }

    /// Whether a query of the first `count` rows of an inbox looks at a row at once.
    ///
    /// - Parameter index: The index of the row in the inbox, less than `count`.
    func isInShare(_ link: UInt32, _ index: Int, of count: Int) -> Bool {
        let distance = Int(endDistances[Int(link) - 1])
        return distance == 0 || index + distance >= count
    }

    /// Returns the last row before an index at which a query of the first `count` rows of an inbox
    /// looks at once.
    ///
    /// - Complexity: O(log² *n*) in the number of rows.
    func lastRow(
        before index: Int, of recipient: Int, count: Int, _ rows: borrowing VersionChains<UInt64>, _ newest: UInt32
    ) -> (index: Int, link: UInt32)? {
        var end = index
        while end > 0 {
            let skipped = blockSize(before: end, of: recipient, count: count)
            if skipped > 0 {
                end -= skipped
                continue
            }
            end -= 1
            let link = rows.link(newest, rank: end + 1)
            if isInShare(link, end, of: count) { return (end, link) }
        }
        return nil
    }

    /// Returns the size of the largest block before an index that is passed over; 0 if there is
    /// none.
    private func blockSize(before end: Int, of recipient: Int, count: Int) -> Int {
        if blocks.count == 0 { return 0 }
        var (size, level, next) = (0, 0, 1 << Self.shift)
        while end.isMultiple(of: next), let block = blocks.find(recipient, (end / next - 1) << 3 | level),
            blockEnds[block] < count
        {
            (size, level, next) = (next, level + 1, next << Self.shift)
        }
        return size
    }
}

extension InboxShares {
    /// Visits the shares of `rows` rows in the inboxes of `users` users.
    mutating func visit(_ visitor: inout ColumnVisitor, rows: Int, users: Int) throws(ColumnError) {
        try actors.visit(&visitor, rows: rows, below: users + 1)
        try pairs.visit(&visitor, below: users, users + 1)
        try newestLinks.visit(&visitor, rows: pairs.count, below: rows + 1)
        try previousDistances.visit(&visitor, rows: rows)
        try endDistances.visit(&visitor, rows: rows)
        if visitor.isReading {
            var row: UInt32 = 0
            try previousDistances.forEachPiece { piece throws(ColumnError) in
                for distance in piece {
                    try require(distance <= row, "a row of a pair before the first row")
                    row += 1
                }
            }
        }
        try blocks.visit(&visitor, below: users, (rows >> Self.shift + 1) << 3)
        try blockEnds.visit(&visitor, rows: blocks.count)
    }
}
