import Columns
import Primitives

/// The commands that were given a ``CommandRequest/once``, by acting user and id.
///
/// In the order of their first events, of which the first one with a key counts.
package struct OnceTable: Equatable, Sendable {
    private var ids = IDInterner()
    /// The index + 1 of the acting user, or 0 for the host, and the index of the id.
    private var keys = PairInterner()
    /// The positions of the first events.
    private var positions = PackedColumn<Position>()
    /// The digests of the commands' ``ChatCommand/subject``.
    private var subjects = PackedColumn<UInt64>()

    /// The number of commands.
    package var count: Int { keys.count }

    /// Returns the position of a command's first event, and the digest of its subject; nil if the
    /// user did not give this id.
    ///
    /// - Parameter user: The index of the acting user; nil for the host.
    func find(_ id: CommandID, of user: Int?) -> (position: Position, subject: UInt64)? {
        // Most stores have none.
        if ids.count == 0 { return nil }
        guard let key = ids.find(id.bits).flatMap({ keys.find((user ?? -1) + 1, $0) }) else { return nil }
        return (positions[key], subjects[key])
    }

    mutating func insert(_ id: CommandID, of user: Int?, _ subject: UInt64, at position: Position) {
        guard keys.insert((user ?? -1) + 1, ids.insert(id.bits).index).isNew else { return }
        positions.append(position)
        subjects.append(subject)
    }
}

extension OnceTable {
    mutating func visit(_ visitor: inout ColumnVisitor, users: Int) throws(ColumnError) {
        try ids.visit(&visitor)
        try keys.visit(&visitor, below: users + 1, ids.count)
        try positions.visit(&visitor, rows: keys.count)
        try subjects.visit(&visitor, rows: keys.count)
    }

    func check(head: Position) throws(ColumnError) {
        try positions.check(ascendingTo: head)
        if let first = positions.indices.first.map({ positions[$0] }) {
            try require(first > 0, "a command has no event")
        }
    }
}
