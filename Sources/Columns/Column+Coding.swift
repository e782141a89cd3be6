extension Column: ColumnCoded where Element: PlainElement {
    /// The count, then the elements as they lie in memory.
    package func write(to writer: inout ColumnWriter) {
        writer.write(count)
        forEachPiece { writer.write($0) }
    }

    /// Reads straight into the pieces.
    package init(from reader: inout ColumnReader) throws(ColumnError) {
        self.init()
        let count = try reader.readCount()
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
    /// Makes a column of an array.
    @inlinable package init(_ elements: some Sequence<Element>) {
        self.init()
        for element in elements { append(element) }
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
