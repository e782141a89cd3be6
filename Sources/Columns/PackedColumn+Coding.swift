extension PackedColumn where Element: PlainElement {
    /// Writes the count and the packed pieces as stored in memory; for a digest, the numbers.
    package func write(to writer: inout ColumnWriter) {
        writer.write(count)
        if writer.isCanonical { return forEachPiece { writer.write($0) } }
        writer.write(pieces.indices) { UInt32(truncatingIfNeeded: pieces[$0].words.count) }
        for piece in pieces { writer.write(piece.words) }
        writer.write(Array(rest[..<restCount]))
    }

    /// Reads the numbers directly into the pieces.
    ///
    /// - Parameter most: The maximum count. The remaining bytes do not bound it, because a piece of
    ///   equal numbers takes only its header.
    package init(from reader: inout ColumnReader, _ pieces: Pieces = .long, atMost most: Int) throws(ColumnError) {
        self.init(pieces)
        let written: UInt64 = try reader.read()
        try require(written <= UInt64(most), "\(written) numbers exceed the maximum of \(most)")
        let count = Int(written)
        let wordCounts: [UInt32] = try reader.readArray(count >> shift)
        self.pieces.reserveCapacity(wordCounts.count)
        for wordCount in wordCounts {
            let piece = PackedPiece(words: try reader.readArray(Int(wordCount)))
            // Later accesses rely on this check: they compare only with the bounds of the array.
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
    /// Creates a list from a sequence.
    @inlinable package init(_ elements: some Sequence<Element>) {
        self.init()
        for element in elements { append(element) }
    }

    /// Throws unless every number is less than `bound`.
    @inlinable package func check(below bound: Int) throws(ColumnError) {
        var largest: Element = 0
        forEachPiece { piece in for element in piece { largest = Swift.max(largest, element) } }
        if !isEmpty, largest >= bound { throw ColumnError("the number \(largest) is out of range for \(bound) rows") }
    }

    /// Throws unless the numbers ascend, not strictly, to at most `head`.
    @inlinable package func check(ascendingTo head: Element) throws(ColumnError) {
        var last: Element = 0
        var isAscending = true
        forEachPiece { piece in
            for element in piece {
                isAscending = isAscending && element >= last
                last = element
            }
        }
        if !isAscending || last > head { throw ColumnError("the numbers do not ascend to \(head) at most") }
    }
}
