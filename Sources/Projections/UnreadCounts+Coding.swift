import ChatDomain
import Columns

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
