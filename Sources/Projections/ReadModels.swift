package import ChatDomain
import Columns

/// The built-in read models, over shared identities, in journal order.
///
/// Every query reads as of a position and ignores later rows. A query as of an earlier position
/// thus takes the same path as a query as of now, at about the same cost.
package struct ReadModels: Projection, Equatable {
    /// The name of the projection.
    package static let name = "built-in"
    /// Names, postcodes and subjects; no bodies.
    package static let contents = ContentSelection.indexed

    /// The dense indexes, which include decided events that the views have not applied yet.
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
        batch.append(event.row, event.content)
        identities.resolve(&batch)
        views.apply(batch, 0..<1)
    }
}

/// The rows of the read models, by the dense indexes of ``ChatDomain/Identities``.
package struct Views: Equatable, Sendable {
    /// The position of the last applied event.
    package internal(set) var position: Position = 0
    var timelines = ThreadTimelines()
    var membership = PostcodeMembership()
    var unread = UnreadCounts()
    var users = UserViews()
    var activity = Activity()

    /// Creates the views before the first event.
    package init() {}

    /// Returns a copy without hash slots, for writing a checkpoint.
    ///
    /// The slots are thus not shared, so that applying the next event does not copy them.
    package func withoutSlots() -> Views {
        var copy = self
        copy.timelines.messageHistories.numbers.removeSlots()
        copy.timelines.replyHistories.numbers.removeSlots()
        copy.membership.residencePairs.removeSlots()
        copy.unread.removeSlots()
        copy.activity.days.removeSlots()
        copy.activity.userDays.removeSlots()
        return copy
    }

    /// Applies the next events.
    ///
    /// - Parameters:
    ///   - batch: A resolved batch.
    ///   - rows: The rows to apply; the first is the event after ``position``.
    /// - Complexity: O(1) amortised per event.
    package mutating func apply(_ batch: borrowing EventBatch, _ rows: Range<Int>) {
        for start in stride(from: rows.lowerBound, to: rows.upperBound, by: Self.groupCount) {
            let group = start..<min(start + Self.groupCount, rows.upperBound)
            if group.count >= Self.prefetchMinimum { prefetch(batch, group) }
            for row in group { apply(batch, row) }
        }
    }

    /// The size of a prefetch group, which fits in the nearest cache.
    private static var groupCount: Int { 64 }
    /// The minimum size of a group that is worth a prefetch.
    private static var prefetchMinimum: Int { 8 }

    /// Prefetches the rows that applying the messages of a group will change, so that their cache
    /// misses overlap.
    private func prefetch(_ batch: borrowing EventBatch, _ group: Range<Int>) {
        var sum: UInt64 = 0
        for row in group where batch.rows[row].kind == .messagePosted {
            let indexes = batch.indexes[row]
            if indexes.thread < timelines.threads.count { sum &+= UInt64(timelines.threads[indexes.thread].messages.last ?? 0) }
            if indexes.membership >= 0, indexes.membership < unread.newest.count { sum &+= unread.newest[indexes.membership] }
        }
        ReadAhead.keep(sum)
    }

    @inline(__always)
    private mutating func apply(_ batch: borrowing EventBatch, _ row: Int) {
        let (event, indexes) = (batch.rows[row], batch.indexes[row])
        position = batch.position(row)
        let membersChange = membership.apply(event, at: position, indexes)
        unread.apply(event, at: position, indexes, timelines)
        timelines.apply(batch, row, membersChange: membersChange)
        let userCount = users.registrations.count
        users.apply(batch, row)
        activity.apply(event, at: position, indexes, isRegistration: users.registrations.count > userCount)
    }
}

/// The rules and the read models at one position: the result of a replay and the content of a
/// checkpoint.
package struct StoreModels: Equatable, Sendable {
    package var rules = RuleState()
    package var models = ReadModels()

    /// The position of the last applied event.
    package var position: Position { rules.head }

    /// Creates the models before the first event.
    package init() {}

    /// Creates the models from rules and read models at the same position.
    package init(_ rules: RuleState, _ models: ReadModels) {
        self.rules = rules
        self.models = models
    }

    /// Applies the next events.
    package mutating func apply(_ batch: inout EventBatch) {
        models.identities.resolve(&batch)
        rules.apply(batch, 0..<batch.count)
        models.views.apply(batch, 0..<batch.count)
    }
}
