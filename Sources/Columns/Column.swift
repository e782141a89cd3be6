/// A growable list stored in pieces of at most 64 KiB.
///
/// An `Array` stores its elements in one buffer: growth moves all of them, and the first change
/// after a copy copies all of them. Here a full piece never moves, and a change after a copy copies
/// one piece, so a background checkpoint costs the writer little. A short list grows by a quarter,
/// because an owner may have many of them.
public struct Column<Element: Sendable>: Sendable {
    /// The binary logarithm of the number of elements per piece.
    ///
    /// A piece has at most 64 KiB, at most 16,384 elements, and at least one.
    @inlinable static var shift: Int {
        let strideBits = Int.bitWidth &- (Swift.max(1, MemoryLayout<Element>.stride) &- 1).leadingZeroBitCount
        return Swift.max(0, Swift.min(14, 16 &- strideBits))
    }
    @inlinable static var mask: Int { 1 << shift - 1 }

    @usableFromInline var pieces: [[Element]] = []
    @usableFromInline var length = 0

    /// Creates an empty list.
    @inlinable public init() {}

    /// The number of elements.
    @inlinable public var count: Int { length }

    /// Whether the list is empty.
    @inlinable public var isEmpty: Bool { length == 0 }

    /// The last element, or nil.
    @inlinable public var last: Element? { length == 0 ? nil : self[length - 1] }

    /// Accesses the element at an index.
    ///
    /// - Complexity: O(1).
    @inlinable public subscript(index: Int) -> Element {
        get { pieces[index >> Self.shift][index & Self.mask] }
        _modify { yield &pieces[index >> Self.shift][index & Self.mask] }
    }

    /// Appends an element.
    ///
    /// - Complexity: O(1) amortized.
    @inlinable public mutating func append(_ element: Element) {
        let piece = length >> Self.shift
        if piece == pieces.count {
            pieces.append([])
            if piece > 0 { pieces[piece].reserveCapacity(1 << Self.shift) }
        }
        if piece == 0, pieces[0].count == pieces[0].capacity {
            pieces[0].reserveCapacity(Swift.min(length + length / 4 + 2, 1 << Self.shift))
        }
        pieces[piece].append(element)
        length += 1
    }

    /// The valid indices.
    @inlinable public var indices: Range<Int> { 0..<length }

    /// Calls a closure with each piece in order.
    @inlinable public func forEachPiece<Failure: Error>(_ body: ([Element]) throws(Failure) -> Void) throws(Failure) {
        for piece in pieces { try body(piece) }
    }
}

extension Column: Equatable where Element: Equatable {
    /// Compares the elements.
    @inlinable public static func == (first: Column, second: Column) -> Bool {
        first.length == second.length && first.pieces == second.pieces
    }
}

extension Column: Sequence {
    /// Makes an iterator over the elements in order.
    @inlinable public func makeIterator() -> FlattenSequence<[[Element]]>.Iterator { pieces.joined().makeIterator() }
    /// The number of elements.
    @inlinable public var underestimatedCount: Int { length }
}

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
        try reader.checkRemaining(count, of: MemoryLayout<Element>.stride)
        let full = 1 << Self.shift
        while length < count {
            // After the first piece, pieces have their full capacity from the beginning, as in
            // `append`.
            let piece: [Element] = try reader.readArray(
                Swift.min(count - length, full), capacity: length == 0 ? 0 : full)
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

    /// Mutates the element at an index, after extending the column to that index.
    @inlinable package mutating func updateElement(
        _ index: Int, default filler: @autoclosure () -> Element, _ change: (inout Element) -> Void
    ) {
        while count <= index { append(filler()) }
        change(&self[index])
    }
}

extension Column<UInt32> {
    /// Throws unless every element is less than `bound`.
    package func check(below bound: Int) throws(ColumnError) {
        var largest: UInt32 = 0
        forEachPiece { piece in for element in piece { largest = Swift.max(largest, element) } }
        if !isEmpty, Int(largest) >= bound {
            throw ColumnError("the number \(largest) is out of range for \(bound) rows")
        }
    }
}
