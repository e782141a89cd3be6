import Columns

/// What the rules know of a user and a thread.
package struct MembershipRow: Sendable, Hashable, BitwiseCopyable {
    package var readUpTo: Position = 0
    package var isMember = false
}

/// The memberships by their numbers: where nobody marks anything as read, a row is one bit.
package struct MembershipTable: Sendable, Equatable {
    private var readUpTo = PackedColumn<Position>()
    private var isMember = PackedColumn<UInt8>()

    package var count: Int { isMember.count }

    package var indices: Range<Int> { isMember.indices }

    package subscript(number: Int) -> MembershipRow {
        get { MembershipRow(readUpTo: readUpTo[number], isMember: isMember[number] != 0) }
        set {
            if readUpTo[number] != newValue.readUpTo { readUpTo[number] = newValue.readUpTo }
            isMember[number] = newValue.isMember ? 1 : 0
        }
    }

    mutating func append(_ row: MembershipRow) {
        readUpTo.append(row.readUpTo)
        isMember.append(row.isMember ? 1 : 0)
    }
}

extension MembershipTable {
    func write(to writer: inout ColumnWriter) {
        readUpTo.write(to: &writer)
        isMember.write(to: &writer)
    }

    /// Reads so many memberships.
    init(from reader: inout ColumnReader, count: Int) throws(ColumnError) {
        readUpTo = try PackedColumn(from: &reader, atMost: count)
        isMember = try PackedColumn(from: &reader, atMost: count)
        try require(readUpTo.count == count && isMember.count == count, "\(isMember.count) memberships for \(count)")
        try isMember.check(below: 2)
    }
}
