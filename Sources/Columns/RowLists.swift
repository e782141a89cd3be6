/// Which rows of a table belong to which owner: a chain for each owner, from its newest row back.
///
/// A row costs one packed link and a list nothing but its newest row, so that a hundred thousand short lists cost no more than one long one.
public struct RowLists: Equatable, Sendable {
    /// By the owner: the number + 1 of its newest row, 0 for none.
    private var newest = PackedColumn<UInt32>()
    /// By the row: the number + 1 of the row before it in its list, 0 for none.
    private var previous = PackedColumn<UInt32>()

    /// Makes lists without rows.
    public init() {}

    /// How many rows there are in all.
    public var count: Int { previous.count }

    /// Adds the next row to the list of an owner.
    public mutating func append(to owner: Int) {
        while newest.count <= owner { newest.append(0) }
        previous.append(newest[owner])
        newest[owner] = UInt32(truncatingIfNeeded: previous.count)
    }

    /// The newest row of an owner, nil if there is none.
    public func last(of owner: Int) -> Int? { owner < newest.count && newest[owner] > 0 ? Int(newest[owner]) - 1 : nil }

    /// The row before a row in its list, nil if it is the first.
    public func row(before row: Int) -> Int? { previous[row] > 0 ? Int(previous[row]) - 1 : nil }
}

extension RowLists {
    package func write(to writer: inout ColumnWriter) {
        newest.write(to: &writer)
        previous.write(to: &writer)
    }

    /// Reads the lists of so many rows.
    ///
    /// - Parameter most: How many owners there can be.
    package init(from reader: inout ColumnReader, rows: Int, owners most: Int) throws(ColumnError) {
        newest = try PackedColumn(from: &reader, atMost: most)
        try newest.check(below: rows + 1)
        previous = try PackedColumn(from: &reader, atMost: rows)
        try require(previous.count == rows, "\(previous.count) rows of lists for \(rows)")
        var row: UInt32 = 0
        var leadsBack = true
        previous.forEachPiece { piece in
            for link in piece {
                leadsBack = leadsBack && link <= row
                row &+= 1
            }
        }
        // A chain that leads back ends.
        try require(leadsBack, "a row leads to one that is not before it")
    }
}
