import ChatDomain
import Columns
import Primitives

/// The state behind unread counts: each member's own messages and the withdrawn messages of each
/// thread.
///
/// A message is withdrawn if it is retracted or removed.
///
/// The unread count is the number of messages from an index of the thread on, minus the withdrawn
/// ones, minus those of the member and of the users whom the member blocks, without the withdrawn
/// ones of these, which are in both.
///
/// Own messages are counted by rank: every 64th message of a member is stored with its rank, and
/// the others are reached from the next stored one, or from the newest, by ``ownMessageDistances``.
/// Withdrawn ones are counted in two trees, by thread and by member.
struct UncountedMessages: Equatable, Sendable {
    /// By message: the distance in the thread to the author's previous message; 0 for none.
    var ownMessageDistances = PackedColumn<UInt32>()
    /// By membership: the member's messages.
    var members = Column<OwnMessages>()
    /// The indexes in the thread of those messages.
    var blockVersions = VersionChains<UInt32>()
    /// By thread: the withdrawn messages, by index in the thread.
    var withdrawnCounts = CountTrees(shift: 8)
    /// By membership: the member's own withdrawn messages, by rank.
    var ownWithdrawnCounts = CountTrees(shift: blockShift)

    /// The binary logarithm of the number of a member's messages per block.
    static let blockShift = 6
    /// The bits of a message's rank within its block.
    static var blockMask: UInt32 { (1 << blockShift) - 1 }

    /// A member's messages in a thread, in eight bytes: all that a new message reads and changes.
    struct OwnMessages: Equatable, Sendable, BitwiseCopyable {
        /// The index + 1 of the newest message in the thread; 0 for none.
        var newest: UInt32 = 0
        /// The number of messages after the last block of 64, in the lowest ``blockShift`` bits,
        /// and above them the newest link of the chain of every 64th message.
        private var countAndLink: UInt32 = 0

        /// The exclusive bound of links, which have 26 bits; there are fewer than 2^32 messages.
        static let linkBound = 1 << (32 - blockShift)

        init() {}

        init(newest: UInt32, countInBlock: UInt32, blockLink: UInt32) {
            self.newest = newest
            countAndLink = blockLink << blockShift | countInBlock
        }

        /// The number of messages after the last block of 64.
        var countInBlock: UInt32 { countAndLink & blockMask }
        /// The newest link of the chain of every 64th message.
        var blockLink: UInt32 { countAndLink >> blockShift }
    }

    /// Adds the row of the membership of an event, if it is new.
    mutating func addRow(_ membership: Int) { if membership == members.count { members.append(OwnMessages()) } }

    /// Adds a message at an index in its thread.
    ///
    /// An author without a membership, whose join was lost, needs no further state: their messages
    /// precede any later join and are read. A reader who blocks the author counts these messages.
    @inline(__always)
    mutating func append(_ index: Int, of membership: Int, at position: Position) {
        guard membership >= 0 else { return ownMessageDistances.append(0) }
        let former = members[membership]
        let newest = UInt32(truncatingIfNeeded: index + 1)
        ownMessageDistances.append(former.newest == 0 ? 0 : newest &- former.newest)
        let count = (former.countInBlock + 1) & Self.blockMask
        var link = former.blockLink
        if count == 0 { blockVersions.append(UInt32(truncatingIfNeeded: index), at: position, to: &link) }
        members[membership] = OwnMessages(newest: newest, countInBlock: count, blockLink: link)
    }

    /// Applies a retraction or a removal of a message, before the timelines do.
    mutating func apply(
        _ event: EventRow, at position: Position, _ indexes: EventIndexes, _ timelines: borrowing ThreadTimelines
    ) {
        if indexes.secondIndex >= 0, !timelines.histories.messages.isWithdrawn(indexes.secondIndex) {
            recordWithdrawal(indexes, at: position, timelines)
        }
    }

    /// Counts a message as withdrawn; the rules guarantee that the event names the message's
    /// thread.
    private mutating func recordWithdrawal(
        _ indexes: EventIndexes, at position: Position, _ timelines: borrowing ThreadTimelines
    ) {
        guard indexes.thread < timelines.threads.count else { return }
        let messages = timelines.threads[indexes.thread].messages
        let index = (0..<messages.count).partitioningIndex { messages[$0] >= indexes.secondIndex }
        guard index < messages.count, messages[index] == indexes.secondIndex else { return }
        withdrawnCounts.mark(index, of: indexes.thread, at: position)
        guard indexes.membership >= 0 else { return }
        var isOwn = false
        let rank = rank(of: index, indexes.membership, messages) { isOwn = isOwn || $0 == index }
        if isOwn { ownWithdrawnCounts.mark(rank, of: indexes.membership, at: position) }
    }

    /// Returns the number of messages in a range that are neither withdrawn nor written by the
    /// member or by one of the blocked users.
    ///
    /// The range must end with the thread's last message as of the position.
    ///
    /// - Parameter blocked: The memberships in the thread of the users whom the member blocks.
    /// - Complexity: O(*b* log *n*) in the number of blocked users, and of messages and
    ///   retractions.
    func count(
        _ range: Range<Int>, of thread: Int, _ membership: Int, except blocked: [Int] = [],
        _ timelines: borrowing ThreadTimelines,
        asOf position: Position
    ) -> Int {
        guard !range.isEmpty else { return 0 }
        let messages = timelines.threads[thread].messages
        let histories = timelines.histories.messages
        func isWithdrawn(_ index: Int) -> Bool { histories.isWithdrawn(Int(messages[index]), asOf: position) }
        let withdrawnCount = withdrawnCounts.count(
            from: range.lowerBound, to: range.upperBound, of: thread, asOf: position
        ) { rest in
            rest.count(where: isWithdrawn)
        }
        /// The number of the messages of one user in the range that are not withdrawn.
        func written(by membership: Int) -> Int {
            // A user whose join is decided and not applied has a number, and no row.
            guard membership < members.count else { return 0 }
            // The block of `rank(of:)` and the first block of the tree are the same 64 messages, so
            // the withdrawn ones are counted on the way. Messages after the position are visited
            // too, but are not withdrawn as of it.
            var inBlock = 0
            let before = rank(of: range.lowerBound, membership, messages) { if isWithdrawn($0) { inBlock += 1 } }
            let end = rank(of: range.upperBound, membership, messages)
            return end - before
                - ownWithdrawnCounts.count(from: before, to: end, of: membership, asOf: position) { _ in inBlock }
        }
        let skipped = blocked.reduce(written(by: membership)) { $0 + written(by: $1) }
        // Only a forged checkpoint can make this negative.
        return max(0, range.count - withdrawnCount - skipped)
    }

    /// Returns the number of a member's messages before an index of the thread.
    ///
    /// With own messages at the indexes 3, 9 and 20, the rank of 10 is 2. The search begins at the
    /// next stored message, here the newest, the third: at 20 it is not before the index, the
    /// distance leads to 9, which is, and the rank is 2.
    ///
    /// - Parameter visit: Receives the indexes of the member's messages from that index on within
    ///   the same block of 64, newest first.
    private func rank(
        of index: Int, _ membership: Int, _ messages: borrowing PackedColumn<UInt32>, _ visit: (Int) -> Void = { _ in }
    ) -> Int {
        let member = members[membership]
        let link = member.blockLink
        let blockCount = link == 0 ? 0 : Int(blockVersions[link].rank)
        let before = blockVersions.count(link, below: UInt32(truncatingIfNeeded: index)) << Self.blockShift
        var rank: Int
        var message: Int
        if before < blockCount << Self.blockShift {
            rank = before + (1 << Self.blockShift)
            message = Int(blockVersions.value(link, rank: rank >> Self.blockShift))
        } else {
            rank = before + Int(member.countInBlock)
            message = Int(member.newest) - 1
        }
        while rank > before, message >= index, message < messages.count {
            visit(message)
            rank -= 1
            message -= Int(ownMessageDistances[Int(messages[message])])
        }
        return rank
    }
}

/// Counts of marked entries in many growing lists, as of any position; a tree of counts per list.
///
/// A leaf counts the marked entries of a block, an inner node those of its 16 children. Queries
/// cover all entries from an index on, so the first node of each level is never read and not
/// stored. A list has as many levels as its length requires; a list within one block has none.
struct CountTrees: Equatable, Sendable {
    /// The binary logarithm of the number of entries per block.
    let blockShift: Int
    /// The pairs of a list and a node; the node's number is shifted by three bits for its level.
    var nodes = PairInterner()
    /// By pair: the newest link of the node's chain, whose rank is the count.
    var links = PackedColumn<UInt32>()
    var versions = VersionChains<UInt8>()

    init(shift: Int) { self.blockShift = shift }

    /// The maximum number of levels, which three bits hold, and of versions added per event.
    static let maximumLevels = 8

    /// Marks an entry that is not yet marked.
    mutating func mark(_ entry: Int, of list: Int, at position: Position) {
        var node = entry >> blockShift
        var level = 0
        // Node 0 of a level is never read.
        while node > 0 {
            let (index, isNew) = nodes.insert(list, node << 3 | level)
            if isNew { links.append(0) }
            versions.append(0, at: position, to: &links[index])
            node >>= 4
            level += 1
        }
    }

    /// Returns the number of entries from an index on that were marked as of a position.
    ///
    /// - Parameters:
    ///   - end: The number of the list's entries as of the position.
    ///   - countBlock: Counts the marked entries from the first index to the end of its block.
    /// - Complexity: O(log *n*): at most 15 lookups per level.
    func count(from first: Int, to end: Int, of list: Int, asOf position: Position, _ countBlock: (Range<Int>) -> Int)
        -> Int
    {
        guard first < end else { return 0 }
        let blockEnd = min(end, ((first >> blockShift) + 1) << blockShift)
        var count = countBlock(first..<blockEnd)
        var node = (first >> blockShift) + 1
        var last = (end - 1) >> blockShift
        var level = 0
        while node <= last {
            if node & 15 == 0 {
                node >>= 4
                last >>= 4
                level += 1
            } else {
                if let index = nodes.find(list, node << 3 | level) {
                    count += versions.count(links[index], asOf: position)
                }
                node += 1
            }
        }
        return count
    }
}

extension UncountedMessages: CheckpointComponent {
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError) {
        let (count, messages) = (ids.memberships.count, ids.posts.messages.count)
        try ownMessageDistances.visit(&visitor, rows: messages)
        try visitMembers(&visitor, count: count, messages: messages)
        try blockVersions.visit(&visitor, head: head, below: messages)
        if visitor.isReading {
            for row in members { try blockVersions.check(row.blockLink) }
        }
        try withdrawnCounts.visit(&visitor, lists: ids.threads.count, entries: messages, head: head)
        try ownWithdrawnCounts.visit(&visitor, lists: count, entries: messages, head: head)
    }

    /// Visits the messages of `count` members as two packed columns, because most have few.
    private mutating func visitMembers(_ visitor: inout ColumnVisitor, count: Int, messages: Int)
        throws(ColumnError)
    {
        try visitor.visit(
            &members,
            write: { members, writer in
                PackedColumn(members.lazy.map { UInt64($0.newest) << Self.blockShift | UInt64($0.countInBlock) }).write(
                    to: &writer)
                PackedColumn(members.lazy.map(\.blockLink)).write(to: &writer)
            },
            read: { (members, reader) throws(ColumnError) in
                let newest = try PackedColumn<UInt64>(from: &reader, atMost: count)
                try newest.check(below: (messages + 1) << Self.blockShift)
                let links = try PackedColumn<UInt32>(from: &reader, atMost: count)
                try links.check(below: OwnMessages.linkBound)
                try require(
                    newest.count == count && links.count == count, "messages of \(links.count) memberships for \(count)"
                )
                for row in 0..<count {
                    members.append(
                        OwnMessages(
                            newest: UInt32(truncatingIfNeeded: newest[row] >> Self.blockShift),
                            countInBlock: UInt32(truncatingIfNeeded: newest[row]) & Self.blockMask,
                            blockLink: links[row]))
                }
            })
    }
}

extension CountTrees {
    /// Visits the counts of `lists` lists with at most `entries` entries each.
    mutating func visit(_ visitor: inout ColumnVisitor, lists: Int, entries: Int, head: Position)
        throws(ColumnError)
    {
        try nodes.visit(&visitor, below: lists, ((entries >> blockShift) + 1) << 3)
        try links.visit(&visitor, rows: nodes.count)
        try versions.visit(&visitor, head: head, perEvent: Self.maximumLevels, below: 1)
        if visitor.isReading { try links.check(below: versions.count + 1) }
    }
}
