extension Column: ColumnCoded where Element: PlainElement {
    /// The count, then the elements as they lie in memory.
    package func write(to writer: inout ColumnWriter) {
        writer.write(count)
        forEachPiece { writer.write($0) }
    }

    /// Reads straight into the pieces.
    package init(from reader: inout ColumnReader) throws(ColumnError) {
        let count = try reader.readCount()
        try self.init(from: &reader, count: count)
    }

    init(from reader: inout ColumnReader, count: Int) throws(ColumnError) {
        self.init()
        try reader.checkLeft(count, of: MemoryLayout<Element>.stride)
        let full = 1 << Self.shift
        while length < count {
            // Of a list of several pieces the last has its room at once, as when it grows.
            let piece: [Element] = try reader.readArray(Swift.min(count - length, full), capacity: length == 0 ? 0 : full)
            pieces.append(piece)
            length += piece.count
        }
    }
}

extension Column {
    /// Makes a column of so many elements, a piece at a time.
    package init(count: Int, _ piece: (Range<Int>) -> [Element]) {
        self.init()
        while length < count {
            pieces.append(piece(length..<Swift.min(count, length + 1 << Self.shift)))
            length = Swift.min(count, length + 1 << Self.shift)
        }
    }

    /// Makes a column of an array.
    @inlinable package init(_ elements: some Sequence<Element>) {
        self.init()
        for element in elements { append(element) }
    }
}

/// Lists of numbers, one for each row: all counts, then the elements of all lists one after another.
extension ColumnWriter {
    package mutating func write(_ rows: Range<Int>, list: (Int) -> Column<UInt32>) {
        write(rows) { UInt64(list($0).count) }
        for row in rows { list(row).forEachPiece { write($0) } }
    }
}

extension ColumnReader {
    /// Reads as many lists as were written.
    ///
    /// - Parameter bound: What every element is smaller than.
    package mutating func readLists(_ count: Int, below bound: Int) throws(ColumnError) -> [Column<UInt32>] {
        let counts: [UInt64] = try readArray(count)
        var lists: [Column<UInt32>] = []
        lists.reserveCapacity(count)
        for count in counts {
            try require(count <= UInt64(left), "a list of \(count), where \(left) bytes are left")
            let list = try Column<UInt32>(from: &self, count: Int(count))
            try list.check(below: bound)
            lists.append(list)
        }
        return lists
    }
}

extension Column<UInt32> {
    /// Throws unless every element is smaller than a bound.
    package func check(below bound: Int) throws(ColumnError) {
        var largest: UInt32 = 0
        forEachPiece { piece in for element in piece { largest = Swift.max(largest, element) } }
        if !isEmpty, Int(largest) >= bound { throw ColumnError("the number \(largest), where there are \(bound) rows") }
    }
}
