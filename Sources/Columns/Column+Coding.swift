extension Column: ColumnCoded where Element: PlainElement {
    /// Writes the count, then the elements as stored in memory.
    package func write(to writer: inout ColumnWriter) {
        writer.write(count)
        forEachPiece { writer.write($0) }
    }

    /// Reads the elements directly into the pieces.
    package init(from reader: inout ColumnReader) throws(ColumnError) {
        self.init()
        let count = try reader.readCount()
        try reader.checkLeft(count, of: MemoryLayout<Element>.stride)
        let full = 1 << Self.shift
        while length < count {
            // After the first piece, pieces have their full capacity from the beginning, as in
            // `append`.
            let piece: [Element] = try reader.readArray(Swift.min(count - length, full), capacity: length == 0 ? 0 : full)
            pieces.append(piece)
            length += piece.count
        }
    }
}

extension Column {
    /// Creates a column from a sequence.
    @inlinable package init(_ elements: some Sequence<Element>) {
        self.init()
        for element in elements { append(element) }
    }
}

extension Column<UInt32> {
    /// Throws unless every element is less than `bound`.
    package func check(below bound: Int) throws(ColumnError) {
        var largest: UInt32 = 0
        forEachPiece { piece in for element in piece { largest = Swift.max(largest, element) } }
        if !isEmpty, Int(largest) >= bound { throw ColumnError("the number \(largest) is out of range for \(bound) rows") }
    }
}
