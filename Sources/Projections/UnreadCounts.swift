import ChatDomain
import Columns

/// The state behind unread counts: each member's own messages and the retractions of each thread.
///
/// The unread count is the number of messages from an index of the thread on, minus the retracted
/// ones, minus the member's own that are not retracted. To avoid scans, the index of every 64th
/// message of a member is kept with its rank, and the retractions of each thread and member are
/// kept in a tree of counts.
struct UnreadCounts: Equatable, Sendable {
    /// By message: the distance in the thread to the author's previous message; 0 for none.
    var distances = PackedColumn<UInt32>()
    /// By membership: the member's newest message and the low bits of their message count.
    ///
    /// The upper bits are the index + 1 of the message in the thread; the lowest 6 bits are the
    /// count modulo 64.
    var newest = PackedColumn<UInt64>()
    /// By membership: the newest link of the chain of the member's every 64th message.
    var everyBlock = PackedColumn<UInt32>()
    /// The indexes in the thread of those messages.
    var blocks = Versions<UInt32>()
    /// By thread: the retracted messages, by index in the thread.
    var retracted = RangeCounts(shift: 8)
    /// By membership: the member's own retracted messages, by rank.
    var ownRetracted = RangeCounts(shift: 6)

    /// The binary logarithm of the number of a member's messages per block.
    private static let shift = 6

    /// Applies the next event.
    ///
    /// - Parameter timelines: The timelines before the event.
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

    /// Adds a message at an index in its thread.
    ///
    /// An author without a membership needs no further state: their messages precede any later join
    /// and are read.
    private mutating func append(_ index: Int, of membership: Int, at position: Position) {
        guard membership >= 0 else { return distances.append(0) }
        let former = newest[membership]
        let count = (former + 1) & 63
        distances.append(former == 0 ? 0 : UInt32(truncatingIfNeeded: index + 1 - Int(former >> 6)))
        newest[membership] = UInt64(index + 1) << 6 | count
        if count == 0 { blocks.append(UInt32(truncatingIfNeeded: index), at: position, to: &everyBlock[membership]) }
    }

    /// Counts a retraction; the rules guarantee that its event names the message's thread.
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

    /// Returns the number of messages in a range that are neither retracted nor written by the
    /// member.
    ///
    /// The range must end at or before the thread's last message as of the position.
    ///
    /// - Complexity: O(log *n*) in the number of messages and retractions.
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
        // Only a forged checkpoint can make this negative.
        return max(0, range.count - retractedCount - (own - ownBefore - ownRetractedCount))
    }

    /// Returns the number of a member's messages before an index of the thread.
    ///
    /// - Parameter visit: Receives the indexes of the member's messages from that index on within
    ///   the same block of 64, newest first.
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

    /// Removes hash slots, which a checkpoint copy does not need.
    mutating func removeSlots() {
        retracted.nodes.removeSlots()
        ownRetracted.nodes.removeSlots()
    }
}

/// Counts of marked entries in many growing lists, as of any position; a tree of counts per list.
///
/// A leaf counts the marked entries of a block, an inner node those of its 16 children. Queries
/// cover all entries from an index on, so the first node of each level is never read and not
/// stored. A list has as many levels as its length requires; a list within one block has none.
struct RangeCounts: Equatable, Sendable {
    /// The binary logarithm of the number of entries per block.
    let shift: Int
    /// The pairs of a list and a node.
    var nodes = PairIndex()
    /// By pair: the newest link of the node's chain, whose rank is the count.
    var newest = PackedColumn<UInt32>()
    var versions = Versions<UInt8>()

    init(shift: Int) { self.shift = shift }

    /// The maximum number of levels, and of versions added per event.
    static let maximumLevels = 8

    /// Marks an entry that is not yet marked.
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

    /// Returns the number of entries from an index on that were marked as of a position.
    ///
    /// - Parameters:
    ///   - end: The number of entries as of the position.
    ///   - countBlock: Counts the marked entries from the first index to the end of its block.
    /// - Complexity: O(log *n*): at most 15 lookups per level.
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

extension UnreadCounts: StoreComponent {
    func write(to writer: inout ColumnWriter) {
        distances.write(to: &writer)
        newest.write(to: &writer)
        everyBlock.write(to: &writer)
        blocks.write(to: &writer)
        retracted.write(to: &writer)
        ownRetracted.write(to: &writer)
    }

    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) {
        let count = ids.memberships.count
        distances = try PackedColumn(from: &reader, atMost: ids.messages.count)
        try require(distances.count == ids.messages.count, "\(distances.count) distances for \(ids.messages.count) messages")
        newest = try PackedColumn(from: &reader, atMost: count)
        try newest.check(below: (ids.messages.count + 1) << 6)
        everyBlock = try PackedColumn(from: &reader, atMost: count)
        try require(newest.count == count && everyBlock.count == count, "messages of \(everyBlock.count) memberships for \(count)")
        blocks = try Versions(from: &reader, head: head)
        try blocks.check(below: ids.messages.count)
        try everyBlock.check(below: blocks.count + 1)
        try retracted.read(from: &reader, lists: ids.threads.count, entries: ids.messages.count, head: head)
        try ownRetracted.read(from: &reader, lists: count, entries: ids.messages.count, head: head)
    }
}

extension RangeCounts {
    func write(to writer: inout ColumnWriter) {
        nodes.write(to: &writer)
        newest.write(to: &writer)
        versions.write(to: &writer)
    }

    /// Reads the counts of `lists` lists with at most `entries` entries each.
    mutating func read(from reader: inout ColumnReader, lists: Int, entries: Int, head: Position) throws(ColumnError) {
        nodes = try PairIndex(from: &reader)
        try nodes.check(firstBelow: lists, secondBelow: (entries >> shift + 1) << 3)
        newest = try PackedColumn(from: &reader, atMost: nodes.count)
        try require(newest.count == nodes.count, "\(newest.count) counts of \(nodes.count) nodes")
        versions = try Versions(from: &reader, head: head, perEvent: Self.maximumLevels)
        try versions.check(below: 1)
        try newest.check(below: versions.count + 1)
    }
}
