package import ChatDomain
import Columns

/// The built-in read models, over the same identities and in the order of the journal.
///
/// Every question is asked as of a position: what stands after it exists and is not seen. So a question as of an earlier position is answered in the same
/// way, and at about the same cost, as one as of now.
package struct ReadModels: Projection, Equatable {
    /// The name of the projection.
    package static let name = "built-in"
    /// Names, postcodes and subjects; no bodies.
    package static let contents = ContentSelection.indexed

    /// The dense indexes, which may be ahead of the views by what has been decided and is not durable yet.
    package var identities = Identities()
    package var views = Views()

    /// The position of the last applied event.
    package var position: Position { views.position }

    /// Makes the read models before the first event.
    package init() {}

    /// Joins identities and views of one position.
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

/// The rows of the read models, by the indexes of ``ChatDomain/Identities``.
package struct Views: Equatable, Sendable {
    /// The position of the last applied event.
    package internal(set) var position: Position = 0
    var timelines = ThreadTimelines()
    var membership = PostcodeMembership()
    var unread = UnreadCounts()
    var users = UserViews()
    var activity = Activity()

    /// Makes the views before the first event.
    package init() {}

    /// A copy that is only written: without slots, so that the next event does not wait until they are copied.
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
    ///   - rows: Some of its rows: the first is the event after ``position``.
    /// - Complexity: O(1) for each event, amortised.
    package mutating func apply(_ batch: borrowing EventBatch, _ rows: Range<Int>) {
        for start in stride(from: rows.lowerBound, to: rows.upperBound, by: Self.groupCount) {
            let group = start..<min(start + Self.groupCount, rows.upperBound)
            if group.count >= Self.prefetchMinimum { prefetch(batch, group) }
            for row in group { apply(batch, row) }
        }
    }

    /// So many events are applied after a prefetch, which the nearest cache still holds then.
    private static var groupCount: Int { 64 }
    /// Fewer events are applied without a prefetch.
    private static var prefetchMinimum: Int { 8 }

    /// Reads what applying some messages is going to change, so that one does not wait for memory after the other.
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

/// The state of the rules and the read models as of one position: what a replay makes and a checkpoint holds.
package struct StoreModels: Equatable, Sendable {
    package var rules = RuleState()
    package var models = ReadModels()

    /// The position of the last applied event.
    package var position: Position { rules.head }

    /// Makes the models before the first event.
    package init() {}

    /// Joins the two parts.
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
