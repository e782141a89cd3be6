package import ChatDomain
import Columns

/// The built-in read models, over shared identities, in journal order.
///
/// `StoreModels` is the state of the rules and these read models; these are the identities and their
/// ``Views``.
///
/// Every query reads as of a position and ignores later rows. A query as of an earlier position
/// thus takes the same path as a query as of now, at about the same cost.
package struct ReadModels: Projection, Equatable {
    /// The name of the projection.
    package static let name = "built-in"
    /// Names, postcodes and subjects; no bodies.
    package static let contents = ContentSelection.indexed

    /// The dense indexes, which include decided events that the views have not applied yet.
    ///
    /// Indexes beyond the views' columns therefore belong to events that are not visible yet; every
    /// query checks the count or the position first.
    package var identities = Identities()
    package var views = Views()
    /// The position of the last applied event.
    package var position: Position { views.position }

    /// Creates the read models before the first event.
    package init() {}

    /// Creates the read models from identities and views at the same position.
    package init(_ identities: Identities, _ views: Views) {
        self.identities = identities
        self.views = views
    }

    /// Applies the next event.
    package mutating func apply(_ event: ChatEvent, at position: Position) {
        var batch = EventBatch(from: position)
        batch.append(event)
        identities.resolve(&batch)
        views.apply(batch, 0..<1)
    }
}

/// The rows of the read models, by the dense indexes of ``ChatDomain/Identities``.
package struct Views: Equatable, Sendable {
    /// The position of the last applied event.
    package internal(set) var position: Position = 0
    var timelines = ThreadTimelines()
    var membership = MembershipHistory()
    var unread = UncountedMessages()
    var users = UserViews()
    var activity = Activity()
    var community = CommunityHistory()
    var reactions = ReactionHistory()
    var inbox = InboxRows()
    var corrections = ClockCorrections()
    /// Keeps the compiler from copying the views for a query: see `AddressOnly`.
    private var addressOnly = AddressOnly()

    /// Creates the views before the first event.
    package init() {}

    /// Returns a copy without hash slots, for writing a checkpoint.
    ///
    /// The slots are thus not shared, so that applying the next event does not copy them.
    package func withoutSlots() -> Views {
        let ids = Identities()
        var copy = self
        ColumnVisitor.removeSlots { visitor throws(ColumnError) in
            try copy.timelines.visit(&visitor, ids, head: 0)
            try copy.membership.visit(&visitor, ids, head: 0)
            try copy.unread.visit(&visitor, ids, head: 0)
            try copy.activity.visit(&visitor, ids, head: 0)
            try copy.community.visit(&visitor, ids, head: 0)
            try copy.reactions.visit(&visitor, ids, head: 0)
            try copy.inbox.visit(&visitor, ids, head: 0)
        }
        return copy
    }

    /// Applies the next events.
    ///
    /// - Parameters:
    ///   - batch: A resolved batch.
    ///   - rows: The rows to apply; the first is the event after ``position``.
    /// - Complexity: O(1) amortised per event.
    package mutating func apply(_ batch: borrowing EventBatch, _ rows: Range<Int>) {
        for start in stride(from: rows.lowerBound, to: rows.upperBound, by: Self.groupSize) {
            let group = start..<min(start + Self.groupSize, rows.upperBound)
            if group.count >= Self.minimumPrefetchSize { prefetch(batch, group) }
            for row in group { apply(batch, row, at: batch.firstPosition + Position(row)) }
        }
    }

    /// Events per prefetch group: their data fits in the L1 cache (Benchmarks/README.md, R1b).
    private static var groupSize: Int { 64 }
    /// Smaller groups are applied without a prefetch.
    private static var minimumPrefetchSize: Int { 8 }

    /// Prefetches the rows that applying the messages of a group will change, so that their cache
    /// misses overlap.
    ///
    /// Mutating, because another method would have a copy of the views.
    private mutating func prefetch(_ batch: borrowing EventBatch, _ group: Range<Int>) {
        var sum: UInt64 = 0
        for row in group where batch.rows[row].kind == .messagePosted {
            let indexes = batch.indexes[row]
            if indexes.thread < timelines.threads.count {
                sum &+= UInt64(timelines.threads[indexes.thread].messages.lastTailNumber)
            }
            if indexes.membership >= 0, indexes.membership < unread.members.count {
                sum &+= UInt64(unread.members[indexes.membership].newest)
            }
        }
        // Makes the loads observable, so that the compiler keeps them.
        PrefetchSink.consume(sum)
    }

    @inline(__always)
    private mutating func apply(_ batch: borrowing EventBatch, _ row: Int, at position: Position) {
        self.position = position
        let indexes = batch.indexes[row]
        let createdAt = batch.rows[row].createdAt
        if batch.rows[row].recordedAt >= community.levelEnds.next {
            community.endLevels(at: position, batch.rows[row].recordedAt)
        }
        if corrections.needs(batch.rows[row].kind) { corrections.apply(batch.rows[row], at: position) }
        timelines.addRow(indexes.thread, of: batch.rows[row])
        users.addRow(indexes.user)
        if community.losses.isOpen || batch.rows[row].kind == .lost { applyToLosses(batch.rows[row], indexes.thread) }
        // Most events of a long history are messages, which change few models.
        if batch.rows[row].kind == .messagePosted, indexes.isNew {
            let index = timelines.append(
                message: indexes.secondIndex, to: indexes.thread, isByOutsider: indexes.membership < 0)
            unread.append(index, of: indexes.membership, at: position)
            activity.append(message: indexes.secondIndex, by: indexes.user, at: position, createdAt)
            if batch.rows[row].hasMentions { inbox.apply(batch, row, community, timelines) }
        } else {
            applyOther(batch, row)
        }
    }

    private mutating func applyOther(_ batch: borrowing EventBatch, _ row: Int) {
        let (event, indexes) = (batch.rows[row], batch.indexes[row])
        let membersChange = membership.apply(event, at: position, indexes)
        unread.addRow(indexes.membership)
        if event.kind == .messageRetracted || event.kind == .messageRemoved {
            unread.apply(event, at: position, indexes, timelines)
        }
        timelines.apply(batch, row, membersChange: membersChange)
        let userCount = users.registrations.count
        users.apply(batch, row)
        activity.apply(event, at: position, indexes, isRegistration: users.registrations.count > userCount)
        let isOpening =
            (event.kind == .threadOpened || event.kind == .directOpened)
            && timelines.threads[indexes.thread].openedAt == position
        community.apply(event, at: position, indexes, isOpening: isOpening, membersChange: membersChange)
        if event.kind == .reactionAdded || event.kind == .reactionRemoved {
            let content = batch.content(of: row)
            reactions.apply(event, content.reactions, at: position)
        }
        inbox.apply(batch, row, community, timelines)
    }
}
