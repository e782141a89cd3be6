/// Lists of rows by owner, each a linked chain from the newest row to the oldest.
///
/// There are fewer than 2^32 rows.
///
/// A row takes one packed link and a list one row number, so many short lists take no more memory
/// than one long list.
public struct RowLists: Equatable, Sendable {
    /// By owner: the number + 1 of its newest row, or 0.
    private var newest = Column<UInt32>()
    /// By row: the number + 1 of the previous row in its list, or 0.
    private var previous = PackedColumn<UInt32>()

    /// Creates empty lists.
    public init() {}

    /// The total number of rows.
    public var count: Int { previous.count }

    /// Appends the next row to an owner's list.
    public mutating func append(to owner: Int) {
        while newest.count <= owner { newest.append(0) }
        previous.append(newest[owner])
        newest[owner] = UInt32(truncatingIfNeeded: previous.count)
    }

    /// Returns the newest row of an owner, or nil.
    public func last(of owner: Int) -> Int? { owner < newest.count && newest[owner] > 0 ? Int(newest[owner]) - 1 : nil }

    /// Returns the previous row in the list of a row, or nil.
    public func row(before row: Int) -> Int? { previous[row] > 0 ? Int(previous[row]) - 1 : nil }
}

extension RowLists {
    /// Writes both columns, packed.
    package func write(to writer: inout ColumnWriter) {
        PackedColumn(newest).write(to: &writer)
        previous.write(to: &writer)
    }

    /// Reads the lists of `rows` rows.
    ///
    /// - Parameter most: The maximum number of owners.
    package init(from reader: inout ColumnReader, rows: Int, owners most: Int) throws(ColumnError) {
        let newest = try PackedColumn<UInt32>(from: &reader, atMost: most)
        try newest.check(below: rows + 1)
        newest.forEachPiece { piece in for row in piece { self.newest.append(row) } }
        previous = try PackedColumn(from: &reader, atMost: rows)
        try require(previous.count == rows, "\(previous.count) links for \(rows) rows")
        var row: UInt32 = 0
        var leadsBack = true
        previous.forEachPiece { piece in
            for link in piece {
                leadsBack = leadsBack && link <= row
                row &+= 1
            }
        }
        // Links that only lead to earlier rows cannot form a cycle.
        try require(leadsBack, "a row links to a row that is not before it")
    }
}
