extension PackedColumn where Element: PlainElement {
    /// Writes the count, and the packed pieces and the rest as they lie in memory; for a digest the numbers.
    package func write(to writer: inout ColumnWriter) {
        writer.write(count)
        if writer.isCanonical { return forEachPiece { writer.write($0) } }
        writer.write(pieces.indices) { UInt32(truncatingIfNeeded: pieces[$0].words.count) }
        for piece in pieces { writer.write(piece.words) }
        writer.write(Array(rest[..<restCount]))
    }

    /// Reads straight into the pieces.
    ///
    /// - Parameter most: How many numbers there can be: the bytes do not bound them, because a piece of one number again and again has no bits but its header's.
    package init(from reader: inout ColumnReader, _ pieces: Pieces = .long, atMost most: Int) throws(ColumnError) {
        self.init(pieces)
        let written: UInt64 = try reader.read()
        try require(written <= UInt64(most), "\(written) numbers, where at most \(most) can be")
        let count = Int(written)
        let wordCounts: [UInt32] = try reader.readArray(count >> shift)
        self.pieces.reserveCapacity(wordCounts.count)
        for wordCount in wordCounts {
            let piece = PackedPiece(words: try reader.readArray(Int(wordCount)))
            // A number is looked up without another comparison than with the bounds of an array.
            try require(
                wordCount >= PackedPiece.headerCount && piece.width <= 64
                    && piece.words.count == PackedPiece.wordCount(pieceCount, width: piece.width),
                "a piece of \(wordCount) words")
            self.pieces.append(piece)
        }
        rest = try reader.readArray(count & mask)
        restCount = rest.count
    }
}

extension PackedColumn {
    /// Makes a list of numbers.
    @inlinable package init(_ elements: some Sequence<Element>) {
        self.init()
        for element in elements { append(element) }
    }

    /// Throws unless every number is smaller than a bound.
    @inlinable package func check(below bound: Int) throws(ColumnError) {
        var largest: Element = 0
        forEachPiece { piece in for element in piece { largest = Swift.max(largest, element) } }
        if !isEmpty, largest >= bound { throw ColumnError("the number \(largest), where there are \(bound) rows") }
    }

    /// Throws unless the numbers do not descend, and the last is not beyond a head.
    @inlinable package func check(ascendingTo head: Element) throws(ColumnError) {
        var last: Element = 0
        var isAscending = true
        forEachPiece { piece in
            for element in piece {
                isAscending = isAscending && element >= last
                last = element
            }
        }
        if !isAscending || last > head { throw ColumnError("numbers that do not ascend to \(head)") }
    }
}
