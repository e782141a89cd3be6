package import ChatDomain
package import Columns

/// A component of the models with its own checkpoint section and digest.
protocol StoreComponent {
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

extension Identities: StoreComponent {
    /// The identities are read first; the `ids` parameter is empty then.
    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) { try self.init(from: &reader) }
}

extension RuleState: StoreComponent {
    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) { try self.init(from: &reader, ids) }
}

extension StoreModels {
    /// The version of the sections; checkpoints of other versions are ignored.
    ///
    /// Change it whenever a component interprets events differently or writes different columns.
    package static let checkpointVersion: UInt32 = 6

    /// The components in section order.
    ///
    /// A new component takes one line here and a new ``checkpointVersion``.
    private static var components: [any Section] {
        [
            Component("identities", \.models.identities),
            Component("rules", \.rules),
            Component("timelines", \.models.views.timelines),
            Component("membership", \.models.views.membership),
            Component("unread", \.models.views.unread),
            Component("users", \.models.views.users),
            Component("activity", \.models.views.activity),
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
                try reader.finish()
            } catch {
                throw ColumnError("\(section.name): \(error)")
            }
        }
        try require(rules.head == position, "the rules of position \(rules.head), not of \(position)")
        models.views.position = position
    }
}

private protocol Section {
    var name: String { get }
    func write(_ models: StoreModels, to writer: inout ColumnWriter)
    func read(_ models: inout StoreModels, from reader: inout ColumnReader, head: Position) throws(ColumnError)
}

private struct Component<Part: StoreComponent>: Section {
    let name: String
    let path: WritableKeyPath<StoreModels, Part>

    init(_ name: String, _ path: WritableKeyPath<StoreModels, Part>) {
        self.name = name
        self.path = path
    }

    func write(_ models: StoreModels, to writer: inout ColumnWriter) { models[keyPath: path].write(to: &writer) }

    func read(_ models: inout StoreModels, from reader: inout ColumnReader, head: Position) throws(ColumnError) {
        models[keyPath: path] = try Part(from: &reader, models.models.identities, head: head)
    }
}
