package import ChatDomain
package import Columns
import Primitives

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
    var membership = MembershipHistory()
    var unread = UnreadCounts()
    var users = UserViews()
    var activity = Activity()
    var community = CommunityHistory()

    /// Creates the views before the first event.
    package init() {}

    /// Returns a copy without hash slots, for writing a checkpoint.
    ///
    /// The slots are thus not shared, so that applying the next event does not copy them.
    package func withoutSlots() -> Views {
        var copy = self
        copy.timelines.messageHistories.historyIndexes.removeSlots()
        copy.timelines.replyHistories.historyIndexes.removeSlots()
        copy.membership.residencePairs.removeSlots()
        copy.unread.removeSlots()
        copy.activity.days.removeSlots()
        copy.activity.userDays.removeSlots()
        copy.community.removeSlots()
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
            if indexes.thread < timelines.threads.count { sum &+= UInt64(timelines.threads[indexes.thread].messages.lastTailNumber) }
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
        timelines.addRow(indexes.thread, createdAt: createdAt)
        users.addRow(indexes.user)
        // Most events of a long history are messages, which change few models.
        if batch.rows[row].kind == .messagePosted, indexes.isNew {
            let index = timelines.append(message: indexes.secondIndex, to: indexes.thread)
            unread.append(index, of: indexes.membership, at: position)
            activity.append(message: indexes.secondIndex, by: indexes.user, at: position, createdAt)
        } else {
            applyOther(batch, row)
        }
    }

    private mutating func applyOther(_ batch: borrowing EventBatch, _ row: Int) {
        let (event, indexes) = (batch.rows[row], batch.indexes[row])
        let membersChange = membership.apply(event, at: position, indexes)
        unread.addRow(indexes.membership)
        if event.kind == .messageRetracted || event.kind == .messageRemoved { unread.apply(event, at: position, indexes, timelines) }
        timelines.apply(batch, row, membersChange: membersChange)
        let userCount = users.registrations.count
        users.apply(batch, row)
        activity.apply(event, at: position, indexes, isRegistration: users.registrations.count > userCount)
        let isOpening = event.kind == .threadOpened && timelines.threads[indexes.thread].openedAt == position
        community.apply(event, at: position, indexes, isOpening: isOpening, membersChange: membersChange)
    }
}

/// The rules and the read models at one position: the result of a replay and the content of a
/// checkpoint.
package struct StoreModels: Equatable, Sendable {
    package var rules = RuleState()
    package var readModels = ReadModels()

    /// The position of the last applied event.
    package var position: Position { rules.head }

    /// Creates the models before the first event.
    package init() {}

    /// Creates the models from rules and read models at the same position.
    package init(_ rules: RuleState, _ readModels: ReadModels) {
        self.rules = rules
        self.readModels = readModels
    }

    /// Applies the next events.
    package mutating func apply(_ batch: inout EventBatch) {
        readModels.identities.resolve(&batch)
        rules.apply(batch, 0..<batch.count)
        readModels.views.apply(batch, 0..<batch.count)
    }
}

/// A component of the models with its own checkpoint section and digest.
protocol CheckpointComponent {
    /// Writes the whole component.
    func write(to writer: inout ColumnWriter)

    /// Reads the columns of ``write(to:)``, given the identities and the checkpoint's position.
    ///
    /// Every value that refers to a row, here or in the identities, is bounds-checked, so that a
    /// forged file cannot cause an out-of-bounds access later.
    ///
    /// - Throws: ``Columns/ColumnError`` if the bytes are malformed.
    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError)
}

extension Identities: CheckpointComponent {
    /// The identities are read first; the `ids` parameter is empty then.
    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) { try self.init(from: &reader) }
}

extension RuleState: CheckpointComponent {
    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) { try self.init(from: &reader, ids) }
}

extension StoreModels {
    /// The version of the sections; checkpoints of other versions are ignored.
    ///
    /// Change it whenever a component interprets events differently or writes different columns.
    package static let checkpointVersion: UInt32 = 9

    /// The components in section order.
    ///
    /// A new component takes one line here and a new ``checkpointVersion``.
    private static var components: [any Section] {
        [
            Component("identities", \.readModels.identities),
            Component("rules", \.rules),
            Component("timelines", \.readModels.views.timelines),
            Component("membership", \.readModels.views.membership),
            Component("unread", \.readModels.views.unread),
            Component("users", \.readModels.views.users),
            Component("activity", \.readModels.views.activity),
            Component("community", \.readModels.views.community),
        ]
    }

    /// The names of the components, in section order.
    package static var componentNames: [String] { components.map(\.name) }

    /// Writes a component as columns.
    ///
    /// - Parameter name: One of ``componentNames``.
    package func write(component name: String, to writer: inout ColumnWriter) {
        for section in Self.components where section.name == name { section.write(self, to: &writer) }
    }

    /// Creates the models from their sections, read in the order of ``componentNames``.
    ///
    /// - Parameters:
    ///   - position: The last applied event, which bounds the sizes of the columns. It must exist
    ///     in the journal.
    ///   - source: Returns the bytes of a component.
    /// - Throws: ``Columns/ColumnError`` if the bytes are not components at this position.
    package init(
        at position: Position, from source: (_ component: String) throws(ColumnError) -> any ColumnSource
    ) throws(ColumnError) {
        self.init()
        for section in Self.components {
            var reader = ColumnReader(try source(section.name))
            do throws(ColumnError) {
                try section.read(&self, from: &reader, head: position)
                try reader.checkEnd()
            } catch {
                throw ColumnError("\(section.name): \(error)")
            }
        }
        try require(rules.head == position, "the rules of position \(rules.head), not of \(position)")
        readModels.views.position = position
    }
}

private protocol Section {
    var name: String { get }
    func write(_ models: StoreModels, to writer: inout ColumnWriter)
    func read(_ models: inout StoreModels, from reader: inout ColumnReader, head: Position) throws(ColumnError)
}

private struct Component<Part: CheckpointComponent>: Section {
    let name: String
    let path: WritableKeyPath<StoreModels, Part>

    init(_ name: String, _ path: WritableKeyPath<StoreModels, Part>) {
        self.name = name
        self.path = path
    }

    func write(_ models: StoreModels, to writer: inout ColumnWriter) { models[keyPath: path].write(to: &writer) }

    func read(_ models: inout StoreModels, from reader: inout ColumnReader, head: Position) throws(ColumnError) {
        models[keyPath: path] = try Part(from: &reader, models.readModels.identities, head: head)
    }
}

extension StoreModels {
    /// The SHA-256 digest of each component's state, by component name.
    ///
    /// The digests depend on the events alone. They are independent of hash seeds, reserved
    /// capacity, and of whether the state was replayed or loaded from a checkpoint.
    ///
    /// - Complexity: O(*n*) in the size of the state.
    package var digests: [String: [UInt8]] {
        var digests: [String: [UInt8]] = [:]
        for name in Self.componentNames {
            let sink = DigestSink()
            var writer = ColumnWriter(sink, isCanonical: true)
            write(component: name, to: &writer)
            writer.flush()
            digests[name] = sink.hasher.finalize()
        }
        return digests
    }
}

private final class DigestSink: ColumnSink {
    var hasher = SHA256()

    func write(_ block: [UInt8]) { hasher.update(block) }
}
