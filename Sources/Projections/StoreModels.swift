package import ChatDomain
package import Columns
import Primitives

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
    init()

    /// Visits the columns, given the identities and the checkpoint's position.
    ///
    /// Every value read that refers to a row, here or in the identities, is bounds-checked, so that
    /// a forged file cannot cause an access out of bounds later. A visitor that does not read may be given
    /// other identities.
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError)
}

extension Identities: CheckpointComponent {
    /// The identities are read first; the `ids` parameter is empty then.
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError) {
        try visit(&visitor)
    }
}

extension RuleState: CheckpointComponent {
    mutating func visit(_ visitor: inout ColumnVisitor, _ ids: Identities, head: Position) throws(ColumnError) {
        try visit(&visitor, ids)
    }
}

extension StoreModels {
    /// The version of the sections; checkpoints of other versions are ignored.
    ///
    /// Change it whenever a component interprets events differently or writes different columns.
    package static let checkpointVersion: UInt32 = 19

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
            Component("reactions", \.readModels.views.reactions),
            Component("inbox", \.readModels.views.inbox),
            Component("corrections", \.readModels.views.corrections),
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
        for user in rules.users.indices where rules.users[user].isErased {
            readModels.views.community.erasedUsers.insert(user)
        }
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

    func write(_ models: StoreModels, to writer: inout ColumnWriter) {
        var part = models[keyPath: path]
        ColumnVisitor.write(to: &writer) { visitor throws(ColumnError) in
            try part.visit(&visitor, Identities(), head: 0)
        }
    }

    func read(_ models: inout StoreModels, from reader: inout ColumnReader, head: Position) throws(ColumnError) {
        var part = Part()
        try ColumnVisitor.read(from: &reader) { visitor throws(ColumnError) in
            try part.visit(&visitor, models.readModels.identities, head: head)
        }
        models[keyPath: path] = part
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
