import ChatDomain
import Columns

/// What unread counts follow from: which messages of a thread each member wrote, and how many messages were retracted.
///
/// Unread are the messages from an index of the thread on that are not retracted, less the member's own that are not retracted. Neither is counted one by one:
/// of each member's own messages the index of every 64th is kept with its rank, and of the retractions of each thread and each member a tree of counts.
struct UnreadCounts: Equatable, Sendable {
    /// By the message: how far back in its thread its author's previous message is, 0 for none.
    var distances = PackedColumn<UInt32>()
    /// By the membership: the index in the thread of the member's newest message + 1, shifted over the 6 lowest bits of how many the member wrote.
    var newest = PackedColumn<UInt64>()
    /// By the membership: the newest link of the chain of the member's every 64th message.
    var everyBlock = PackedColumn<UInt32>()
    /// The indexes in the thread of those messages.
    var blocks = Versions<UInt32>()
    /// By the thread: the retracted messages, by their indexes in the thread.
    var retracted = RangeCounts(shift: 8)
    /// By the membership: the member's own that are retracted, by their ranks.
    var ownRetracted = RangeCounts(shift: 6)

    /// The messages of a member are counted by blocks of 2 to the power of this.
    private static let shift = 6

    /// Applies the next event.
    ///
    /// - Parameter timelines: Those before the event.
    @inline(__always)
    mutating func apply(_ event: EventRow, at position: Position, _ indexes: EventIndexes, _ timelines: borrowing ThreadTimelines) {
        if indexes.membership == newest.count {
            newest.append(0)
            everyBlock.append(0)
        }
        if event.kind == .messagePosted, indexes.isNew {
            let index = indexes.thread < timelines.threads.count ? timelines.threads[indexes.thread].messages.count : 0
            append(index, of: indexes.membership, at: position)
        } else if event.kind == .messageRetracted, indexes.post >= 0, !timelines.messageHistories.isRetracted(indexes.post) {
            retract(indexes, at: position, timelines)
        }
    }

    /// Adds a message, with its index in its thread; of an author who has not been a member yet nothing else is kept, as no later join makes it unread.
    private mutating func append(_ index: Int, of membership: Int, at position: Position) {
        guard membership >= 0 else { return distances.append(0) }
        let former = newest[membership]
        let count = (former + 1) & 63
        distances.append(former == 0 ? 0 : UInt32(truncatingIfNeeded: index + 1 - Int(former >> 6)))
        newest[membership] = UInt64(index + 1) << 6 | count
        if count == 0 { blocks.append(UInt32(truncatingIfNeeded: index), at: position, to: &everyBlock[membership]) }
    }

    /// Counts a retraction; by the rules its event names the thread of the message.
    private mutating func retract(_ indexes: EventIndexes, at position: Position, _ timelines: borrowing ThreadTimelines) {
        guard indexes.thread < timelines.threads.count else { return }
        let messages = timelines.threads[indexes.thread].messages
        let index = partition(messages.count) { messages[$0] >= indexes.post }
        guard index < messages.count, messages[index] == indexes.post else { return }
        retracted.add(index, of: indexes.thread, at: position)
        guard indexes.membership >= 0 else { return }
        var isOwn = false
        let rank = rank(of: index, indexes.membership, messages) { isOwn = isOwn || $0 == index }
        if isOwn { ownRetracted.add(rank, of: indexes.membership, at: position) }
    }

    /// How many of a range of a thread's messages, up to the last one as of a position, were neither retracted as of it nor written by a member.
    ///
    /// - Complexity: O(log *n*) in the messages and retractions, and some hundred reads.
    func count(
        _ range: Range<Int>, of thread: Int, _ membership: Int, _ timelines: borrowing ThreadTimelines, asOf position: Position
    ) -> Int {
        guard !range.isEmpty else { return 0 }
        let messages = timelines.threads[thread].messages
        let histories = timelines.messageHistories
        func isRetracted(_ index: Int) -> Bool { histories.latest(.retraction, of: Int(messages[index]), asOf: position) != nil }
        let retractedCount = retracted.count(from: range.lowerBound, to: range.upperBound, of: thread, asOf: position) { rest in
            rest.count(where: isRetracted)
        }
        var ownInBlock = 0
        let ownBefore = rank(of: range.lowerBound, membership, messages) { if isRetracted($0) { ownInBlock += 1 } }
        let own = rank(of: range.upperBound, membership, messages)
        let ownRetractedCount = ownRetracted.count(from: ownBefore, to: own, of: membership, asOf: position) { _ in ownInBlock }
        // Never negative but in a checkpoint that was forged.
        return max(0, range.count - retractedCount - (own - ownBefore - ownRetractedCount))
    }

    /// How many messages of a member come before an index of the thread.
    ///
    /// - Parameter visit: Is given the indexes of the member's messages from that one on that are in the same block of 64, newest first.
    private func rank(
        of index: Int, _ membership: Int, _ messages: borrowing PackedColumn<UInt32>, _ visit: (Int) -> Void = { _ in }
    ) -> Int {
        let link = everyBlock[membership]
        let blockCount = link == 0 ? 0 : Int(blocks[link].rank)
        let before = blocks.count(link, below: UInt32(truncatingIfNeeded: index)) << Self.shift
        var rank: Int
        var message: Int
        if before < blockCount << Self.shift {
            rank = before + 1 << Self.shift
            message = Int(blocks.value(link, rank: rank >> Self.shift))
        } else {
            rank = before + Int(newest[membership] & 63)
            message = Int(newest[membership] >> 6) - 1
        }
        while rank > before, message >= index, message < messages.count {
            visit(message)
            rank -= 1
            message -= Int(distances[Int(messages[message])])
        }
        return rank
    }

    /// Removes what a copy that is only written does not need.
    mutating func removeSlots() {
        retracted.nodes.removeSlots()
        ownRetracted.nodes.removeSlots()
    }
}

/// How many entries of each of many growing lists are marked as of any position: for each list a tree of counts.
///
/// A leaf counts the marked ones of a block of entries, a node those of 16 nodes below it. Questions are asked about all entries from one on, so the first node of a
/// level is never read and not kept: a list has as many levels as its length needs, and one no longer than a block has none.
struct RangeCounts: Equatable, Sendable {
    /// A block has 2 to the power of this entries.
    let shift: Int
    /// The pairs of a list and a node.
    var nodes = PairIndex()
    /// By the pair: the newest link of the node's chain, the rank of which is the count.
    var newest = PackedColumn<UInt32>()
    var versions = Versions<UInt8>()

    init(shift: Int) { self.shift = shift }

    /// How many levels a list can have, and an event add versions to.
    static let maximumLevels = 8

    /// Marks an entry that is not marked yet.
    mutating func add(_ entry: Int, of list: Int, at position: Position) {
        var node = entry >> shift
        var level = 0
        while node > 0 {
            let (number, isNew) = nodes.insert(list, node << 3 | level)
            if isNew { newest.append(0) }
            versions.append(0, at: position, to: &newest[number])
            node >>= 4
            level += 1
        }
    }

    /// How many entries from one on were marked as of a position.
    ///
    /// - Parameters:
    ///   - end: How many entries there were as of the position.
    ///   - countBlock: Counts the marked ones from the first entry to the end of its block.
    /// - Complexity: 15 look-ups for each level.
    func count(from first: Int, to end: Int, of list: Int, asOf position: Position, _ countBlock: (Range<Int>) -> Int) -> Int {
        guard first < end else { return 0 }
        let blockEnd = min(end, (first >> shift + 1) << shift)
        var count = countBlock(first..<blockEnd)
        var node = first >> shift + 1
        var last = (end - 1) >> shift
        var level = 0
        while node <= last {
            if node & 15 == 0 {
                node >>= 4
                last >>= 4
                level += 1
            } else {
                if let number = nodes.find(list, node << 3 | level) { count += versions.count(newest[number], asOf: position) }
                node += 1
            }
        }
        return count
    }
}
