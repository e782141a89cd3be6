/// A growable list of unsigned numbers of at most 64 bits, packed in pieces with as few bits as
/// possible.
///
/// Suits values per message: positions, rows, links. All pieces except the last are packed
/// (``PackedPiece``); the last is plain, so appending costs the same as for an array. Every number
/// can be changed. If its piece has too few bits for the new value, the piece is repacked, at most
/// 64 times in total. As in ``Column``, a change after a copy copies one piece.
public struct PackedColumn<Element: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
    /// The length of the pieces; the raw value is its binary logarithm.
    public enum PieceLength: Int, Sendable {
        /// 16,384 numbers: for one long list.
        case long = 14
        /// 256 numbers: for many lists, where the plain pieces dominate the memory.
        case short = 8
    }

    @usableFromInline let shift: Int
    @usableFromInline var pieces: [PackedPiece] = []
    /// The plain last piece, padded with zeros: assignment is faster than appending.
    @usableFromInline var tail: [Element] = []
    /// The number of elements in `tail`, less than the length of a piece.
    @usableFromInline var tailCount = 0

    /// Creates an empty list of long pieces.
    @inlinable public init() { self.init(pieceLength: .long) }

    /// Creates an empty list with pieces of a length.
    @inlinable public init(pieceLength: PieceLength) { shift = pieceLength.rawValue }

    @inlinable var pieceCount: Int { 1 &<< shift }
    @inlinable var mask: Int { pieceCount &- 1 }

    /// The number of elements.
    @inlinable public var count: Int { pieces.count &<< shift &+ tailCount }

    /// Whether the list is empty.
    @inlinable public var isEmpty: Bool { tailCount == 0 && pieces.isEmpty }

    /// The last number, or nil.
    @inlinable public var last: Element? { isEmpty ? nil : self[count - 1] }

    /// The valid indices.
    @inlinable public var indices: Range<Int> { 0..<count }

    /// Accesses the number at an index.
    ///
    /// - Precondition: The index is less than ``count``. Only debug builds check it: a larger index
    ///   can be in the padding of the last piece.
    /// - Complexity: O(1). A new value that needs more bits repacks its piece.
    @inlinable public subscript(index: Int) -> Element {
        get {
            assert(index < count)
            let piece = index &>> shift
            return piece == pieces.count ? tail[index & mask] : Element(truncatingIfNeeded: pieces[piece][index & mask])
        }
        set {
            assert(index < count)
            let piece = index &>> shift
            if piece == pieces.count {
                tail[index & mask] = newValue
            } else if !pieces[piece].set(UInt64(truncatingIfNeeded: newValue), at: index & mask) {
                pieces[piece].widen(pieceCount, setting: UInt64(truncatingIfNeeded: newValue), at: index & mask)
            }
        }
    }

    /// Appends a number.
    ///
    /// - Complexity: O(1) amortized.
    @inline(__always)
    @inlinable public mutating func append(_ element: Element) {
        if tailCount == tail.count { growTail() }
        tail[tailCount] = element
        tailCount &+= 1
        if tailCount == pieceCount { packTail() }
    }

    /// Appends zeros until the list has `count` numbers.
    @inlinable public mutating func appendZeros(upTo count: Int) {
        while self.count < count {
            if tailCount == tail.count { growTail() }
            let end = Swift.min(tail.count, tailCount &+ count &- self.count)
            for index in tailCount..<end { tail[index] = 0 }
            tailCount = end
            if tailCount == pieceCount { packTail() }
        }
    }

    /// The last number of the plain last piece, or 0; reading it loads the cache line that `append`
    /// writes next.
    @inlinable public var lastTailNumber: Element { tailCount == 0 ? 0 : tail[tailCount &- 1] }

    /// Grows by a quarter, because many lists have few elements.
    @inlinable mutating func growTail() {
        let room = pieces.isEmpty ? Swift.min(tailCount &+ tailCount &>> 2 &+ 2, pieceCount) : pieceCount
        tail.reserveCapacity(room)
        tail.append(contentsOf: repeatElement(0, count: room &- tailCount))
    }

    @inlinable mutating func packTail() {
        pieces.append(PackedPiece(tail))
        tailCount = 0
    }

    /// Calls a closure with the numbers of each piece in order.
    @inlinable public func forEachPiece<Failure: Error>(_ body: ([Element]) throws(Failure) -> Void) throws(Failure) {
        for piece in pieces { try body(piece.values(pieceCount)) }
        if tailCount > 0 { try body(Array(tail[..<tailCount])) }
    }
}

extension PackedColumn: Equatable {
    /// Compares the numbers, independently of their packing.
    @inlinable public static func == (first: PackedColumn, second: PackedColumn) -> Bool {
        guard
            first.shift == second.shift && first.tailCount == second.tailCount
                && first.pieces.count == second.pieces.count,
            first.tail[..<first.tailCount] == second.tail[..<second.tailCount]
        else { return false }
        return zip(first.pieces, second.pieces).allSatisfy {
            $0 == $1 || $0.values(first.pieceCount) as [Element] == $1.values(first.pieceCount)
        }
    }
}

extension PackedColumn where Element: PlainElement {
    /// Writes the count and the packed pieces as stored in memory; for a digest, the numbers.
    package func write(to writer: inout ColumnWriter) {
        writer.write(count)
        if writer.isCanonical { return forEachPiece { writer.write($0) } }
        writer.write(pieces.indices) { UInt32(truncatingIfNeeded: pieces[$0].words.count) }
        for piece in pieces { writer.write(piece.words) }
        writer.write(Array(tail[..<tailCount]))
    }

    /// Reads the numbers directly into the pieces.
    ///
    /// - Parameter most: The maximum count. The remaining bytes do not bound it, because a piece of
    ///   equal numbers takes only its header.
    package init(from reader: inout ColumnReader, pieceLength: PieceLength, atMost most: Int)
        throws(ColumnError)
    {
        self.init(pieceLength: pieceLength)
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
        tail = try reader.readArray(count & mask)
        tailCount = tail.count
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

/// A packed piece of a list: each value's distance from a line, in as few bits as possible.
///
/// A value is base + slope × index + distance: frame of reference encoding (Goldstein and others,
/// 1998) with a slope, where the distance is the residual. Steadily ascending values, such as
/// positions and row numbers, take only the bits of their deviation; equal values take none.
/// Arithmetic wraps, so any 64 bits are a value. Words from any source are safe if there are enough
/// of them: no access traps or is out of bounds.
@usableFromInline struct PackedPiece: Sendable, Equatable {
    /// The base of the line; the slope, shifted left by 8, and the width; then the packed
    /// distances.
    @usableFromInline var words: [UInt64]

    @usableFromInline static var headerCount: Int { 2 }
    /// The number of fraction bits of a slope.
    @usableFromInline static var fractionBits: UInt64 { 16 }

    /// Returns the number of words for `count` values of a width.
    @inlinable static func wordCount(_ count: Int, width: Int) -> Int { headerCount + (count * width + 63) >> 6 }

    @inlinable init(words: [UInt64]) { self.words = words }

    @inlinable var base: UInt64 { words[0] }
    @inlinable var slope: UInt64 { words[1] >> 8 }
    /// The number of bits per distance.
    @inlinable var width: Int { Int(truncatingIfNeeded: words[1] & 0xFF) }

    @inlinable static func mask(_ width: Int) -> UInt64 {
        width == 0 ? 0 : .max &>> UInt64(truncatingIfNeeded: 64 - width)
    }

    /// Returns the height of a line with a slope at an index, above its base.
    @inlinable static func lineOffset(_ slope: UInt64, _ index: Int) -> UInt64 {
        (slope &* UInt64(truncatingIfNeeded: index)) &>> fractionBits
    }

    /// Returns the value at an index.
    @inlinable subscript(index: Int) -> UInt64 {
        let width = self.width
        let line = base &+ Self.lineOffset(slope, index)
        if width == 0 { return line }
        let bit = index &* width
        let word = Self.headerCount &+ bit >> 6
        let offset = bit & 63
        var distance = words[word] &>> UInt64(truncatingIfNeeded: offset)
        if offset &+ width > 64 { distance |= words[word &+ 1] &<< UInt64(truncatingIfNeeded: 64 &- offset) }
        return line &+ distance & Self.mask(width)
    }

    /// Sets the value at an index if its distance fits the width; returns whether it does.
    @inlinable mutating func set(_ value: UInt64, at index: Int) -> Bool {
        let width = self.width
        let mask = Self.mask(width)
        let distance = value &- base &- Self.lineOffset(slope, index)
        guard distance <= mask else { return false }
        if width == 0 { return true }
        let bit = index &* width
        let word = Self.headerCount &+ bit >> 6
        let offset = bit & 63
        let shift = UInt64(truncatingIfNeeded: offset)
        words[word] = words[word] & ~(mask &<< shift) | distance &<< shift
        if offset &+ width > 64 {
            let rest = UInt64(truncatingIfNeeded: 64 &- offset)
            words[word &+ 1] = words[word &+ 1] & ~(mask &>> rest) | distance &>> rest
        }
        return true
    }

    /// Packs `count` values along a line.
    @inlinable init(_ count: Int, base: UInt64, slope: UInt64, width: Int, value: (Int) -> UInt64) {
        words = [UInt64](repeating: 0, count: Self.wordCount(count, width: width))
        words[0] = base
        words[1] = slope << 8 | UInt64(truncatingIfNeeded: width)
        if width == 0 { return }
        var word = Self.headerCount
        var bits: UInt64 = 0
        var filled = 0
        for index in 0..<count {
            let distance = value(index) &- base &- Self.lineOffset(slope, index)
            bits |= distance &<< UInt64(truncatingIfNeeded: filled)
            filled += width
            guard filled >= 64 else { continue }
            words[word] = bits
            word += 1
            filled -= 64
            bits = filled == 0 ? 0 : distance &>> UInt64(truncatingIfNeeded: width - filled)
        }
        if filled > 0 { words[word] = bits }
    }

    /// Packs values along a level line, or along the line from first to last if that takes fewer
    /// bits.
    @inlinable init<Element: FixedWidthInteger & UnsignedInteger>(_ values: [Element]) {
        let level = Self.residualRange(values, slope: 0)
        var (slope, base, width) = (0 as UInt64, level.base, level.width)
        let first = UInt64(truncatingIfNeeded: values.first ?? 0)
        let last = UInt64(truncatingIfNeeded: values.last ?? 0)
        if width > 0, last > first, last - first < 1 << 40 {
            let steep = (last - first) << Self.fractionBits / UInt64(truncatingIfNeeded: Swift.max(1, values.count - 1))
            let sloping = Self.residualRange(values, slope: steep)
            if sloping.width < width { (slope, base, width) = (steep, sloping.base, sloping.width) }
        }
        self.init(values.count, base: base, slope: slope, width: width) { UInt64(truncatingIfNeeded: values[$0]) }
    }

    /// Returns the lowest distance from a line through 0, and the bits of the range above it.
    ///
    /// The difference of two signed numbers is exact as an unsigned number of the same width, so
    /// this holds for all values.
    @inlinable static func residualRange<Element: FixedWidthInteger & UnsignedInteger>(
        _ values: [Element], slope: UInt64
    ) -> (base: UInt64, width: Int) {
        var (low, high) = (Int64.max, Int64.min)
        var line: UInt64 = 0
        for value in values {
            let distance = Int64(truncatingIfNeeded: UInt64(truncatingIfNeeded: value) &- line &>> fractionBits)
            low = Swift.min(low, distance)
            high = Swift.max(high, distance)
            line &+= slope
        }
        if low > high { return (0, 0) }
        return (UInt64(bitPattern: low), 64 - (UInt64(bitPattern: high) &- UInt64(bitPattern: low)).leadingZeroBitCount)
    }

    /// Sets a value that does not fit the width, by repacking along the same line.
    ///
    /// The new range includes the former one, so a piece is repacked at most 64 times.
    @inlinable mutating func widen(_ count: Int, setting value: UInt64, at index: Int) {
        let former = self
        let distance = Int64(bitPattern: value &- Self.lineOffset(slope, index))
        let lowest = Int64(bitPattern: base)
        let (highest, overflows) = lowest.addingReportingOverflow(Int64(truncatingIfNeeded: Self.mask(width)))
        // A range of all 64 bits holds every value and is never widened. A range that overflows is
        // extended to all 64 bits.
        let isWhole = overflows || width == 64
        let low = isWhole ? Int64.min : Swift.min(lowest, distance)
        let high = isWhole ? Int64.max : Swift.max(highest, distance)
        let width = 64 - (UInt64(bitPattern: high) &- UInt64(bitPattern: low)).leadingZeroBitCount
        self = PackedPiece(count, base: UInt64(bitPattern: low), slope: slope, width: width) {
            $0 == index ? value : former[$0]
        }
    }

    /// Returns the values in order.
    @inlinable func values<Element: FixedWidthInteger & UnsignedInteger>(_ count: Int) -> [Element] {
        var values: [Element] = []
        values.reserveCapacity(count)
        let (base, slope, width) = (self.base, self.slope, self.width)
        let mask = Self.mask(width)
        var line: UInt64 = 0
        var bit = Self.headerCount << 6
        for _ in 0..<count {
            var distance: UInt64 = 0
            if width > 0 {
                let offset = bit & 63
                distance = words[bit >> 6] &>> UInt64(truncatingIfNeeded: offset)
                if offset &+ width > 64 {
                    distance |= words[bit >> 6 &+ 1] &<< UInt64(truncatingIfNeeded: 64 &- offset)
                }
            }
            values.append(Element(truncatingIfNeeded: base &+ line &>> Self.fractionBits &+ distance & mask))
            bit &+= width
            line &+= slope
        }
        return values
    }
}
