package import ChatDomain
package import Columns

/// A part of the models that has a section of its own in a checkpoint and a digest of its own.
protocol StoreComponent {
    /// Writes all of it.
    func write(to writer: inout ColumnWriter)

    /// Reads what ``write(to:)`` wrote over identities that have been read, up to a position.
    ///
    /// Every number that leads to a row, here or in the identities, is checked, so that no later question or event can lead astray.
    ///
    /// - Throws: ``Columns/ColumnError`` if the bytes are anything else.
    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError)
}

extension Identities: StoreComponent {
    /// The identities come first, and have nothing beside them yet.
    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) { try self.init(from: &reader) }
}

extension RuleState: StoreComponent {
    init(from reader: inout ColumnReader, _ ids: Identities, head: Position) throws(ColumnError) { try self.init(from: &reader, ids) }
}

extension StoreModels {
    /// The version of what the sections hold; a checkpoint of another one is ignored.
    ///
    /// It is another one whenever an event means something else to a component, or a component writes other columns.
    package static let checkpointVersion: UInt32 = 6

    /// The components in the order of their sections; a new one is one line here, and a new ``checkpointVersion``.
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

    /// The names of the components.
    package static var componentNames: [String] { components.map(\.name) }

    /// Writes a component as columns.
    ///
    /// - Parameter name: One of ``componentNames``.
    package func write(component name: String, to writer: inout ColumnWriter) {
        for section in Self.components where section.name == name { section.write(self, to: &writer) }
    }

    /// Makes the models of components that were written, in the order of ``componentNames``.
    ///
    /// - Parameters:
    ///   - position: The last event that was applied. It bounds what they can hold, so that it has to be one that the journal has.
    ///   - source: Where the bytes of a component come from.
    /// - Throws: ``Columns/ColumnError`` if they are not components of that moment.
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
