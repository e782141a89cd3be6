package import ChatDomain
package import Columns

/// A part of the read models that has a section of its own in a checkpoint and a digest of its own.
protocol ReadModelComponent {
    /// Writes all of it.
    func write(to writer: inout ColumnWriter)

    /// Reads what ``write(to:)`` wrote beside a state that has been read.
    ///
    /// Every number that leads to a row, here or in the state, is checked, so that no later question or event can lead astray.
    ///
    /// - Throws: ``Columns/ColumnError`` if the bytes are anything else.
    init(from reader: inout ColumnReader, _ state: ChatState) throws(ColumnError)
}

extension ChatState: ReadModelComponent {
    /// The state comes first, and has nothing beside it yet.
    init(from reader: inout ColumnReader, _ state: ChatState) throws(ColumnError) { try self.init(from: &reader) }
}

extension ReadModels {
    /// The version of what the sections hold; a checkpoint of another one is ignored.
    ///
    /// It is another one whenever an event means something else to a component, or a component writes other columns.
    package static let checkpointVersion: UInt32 = 4

    /// The components in the order of their sections; a new one is one line here, and a new ``checkpointVersion``.
    private static var components: [any Section] {
        [
            Component("state", \.state),
            Component("timelines", \.timelines),
            Component("membership", \.membership),
            Component("users", \.users),
            Component("activity", \.activity),
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

    /// Makes the read models of components that were written, in the order of ``componentNames``.
    ///
    /// - Parameters:
    ///   - position: The last event that they took in. It bounds what they can hold, so that it has to be one that the journal has.
    ///   - source: Where the bytes of a component come from.
    /// - Throws: ``Columns/ColumnError`` if they are not components of that moment.
    package init(
        at position: Position, from source: (_ component: String) throws(ColumnError) -> any ColumnSource
    ) throws(ColumnError) {
        self.init()
        for section in Self.components {
            var reader = ColumnReader(try source(section.name))
            do throws(ColumnError) {
                try section.read(&self, from: &reader)
                try require(self.position == position, "the state of position \(self.position), not of \(position)")
                try reader.finish()
            } catch {
                throw ColumnError("\(section.name): \(error)")
            }
        }
        state.setIndexes(usersByName: users.presentBearers, usersBySubject: users.bySubject)
    }

    /// A copy that can be written as columns, made so that the next event does not have to copy what grows with the users.
    package func copyForCheckpoint() -> ReadModels {
        var copy = self
        copy.state.removeIndexes()
        copy.users.removeIndexes()
        copy.timelines.removeSlots()
        copy.membership.removeSlots()
        copy.activity.removeSlots()
        return copy
    }
}

extension UserViews {
    mutating func removeIndexes() { (bearers, bySubject) = ([:], [:]) }
}

extension ThreadTimelines {
    mutating func removeSlots() {
        messageHistories.numbers.removeSlots()
        replyHistories.numbers.removeSlots()
    }
}

extension PostcodeMembership {
    mutating func removeSlots() { residencePairs.removeSlots() }
}

extension Activity {
    mutating func removeSlots() {
        days.removeSlots()
        userDays.removeSlots()
    }
}

private protocol Section {
    var name: String { get }
    func write(_ models: ReadModels, to writer: inout ColumnWriter)
    func read(_ models: inout ReadModels, from reader: inout ColumnReader) throws(ColumnError)
}

private struct Component<Part: ReadModelComponent>: Section {
    let name: String
    let path: WritableKeyPath<ReadModels, Part>

    init(_ name: String, _ path: WritableKeyPath<ReadModels, Part>) {
        self.name = name
        self.path = path
    }

    func write(_ models: ReadModels, to writer: inout ColumnWriter) { models[keyPath: path].write(to: &writer) }

    func read(_ models: inout ReadModels, from reader: inout ColumnReader) throws(ColumnError) {
        models[keyPath: path] = try Part(from: &reader, models.state)
    }
}
