/// A growable list of unsigned numbers, packed in pieces with as few bits as possible.
///
/// Suits values per message: positions, rows, links. All pieces except the last are packed
/// (``PackedPiece``); the last is plain, so appending costs the same as for an array. Every number
/// can be changed. If its piece has too few bits for the new value, the piece is repacked, at most
/// 64 times in total. As in ``Column``, a change after a copy copies one piece.
public struct PackedColumn<Element: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
    /// The length of the pieces.
    public enum Pieces: Int, Sendable {
        /// 16,384 numbers: for one long list.
        case long = 14
        /// 256 numbers: for many lists, where the plain pieces dominate the memory.
        case short = 8
    }

    @usableFromInline let shift: Int
    @usableFromInline var pieces: [PackedPiece] = []
    /// The plain last piece, padded with zeros: assignment is faster than appending.
    @usableFromInline var rest: [Element] = []
    /// The number of elements in `rest`, less than the length of a piece.
    @usableFromInline var restCount = 0

    /// Creates an empty list of long pieces.
    @inlinable public init() { self.init(.long) }

    /// Creates an empty list.
    @inlinable public init(_ pieces: Pieces) { shift = pieces.rawValue }

    @inlinable var pieceCount: Int { 1 &<< shift }
    @inlinable var mask: Int { pieceCount &- 1 }

    /// The number of elements.
    @inlinable public var count: Int { pieces.count &<< shift &+ restCount }

    /// Whether the list is empty.
    @inlinable public var isEmpty: Bool { restCount == 0 && pieces.isEmpty }

    /// The last number, or nil.
    @inlinable public var last: Element? { isEmpty ? nil : self[count - 1] }

    /// The valid indices.
    @inlinable public var indices: Range<Int> { 0..<count }

    /// Accesses the number at an index.
    ///
    /// - Complexity: O(1). A new value that needs more bits repacks its piece.
    @inlinable public subscript(index: Int) -> Element {
        get {
            let piece = index &>> shift
            return piece == pieces.count ? rest[index & mask] : Element(truncatingIfNeeded: pieces[piece][index & mask])
        }
        set {
            let piece = index &>> shift
            if piece == pieces.count {
                rest[index & mask] = newValue
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
        if restCount == rest.count { makeRoom() }
        rest[restCount] = element
        restCount &+= 1
        if restCount == pieceCount { pack() }
    }

    /// Grows by a quarter, because many lists have few elements.
    @inlinable mutating func makeRoom() {
        let room = pieces.isEmpty ? Swift.min(restCount &+ restCount &>> 2 &+ 2, pieceCount) : pieceCount
        rest.reserveCapacity(room)
        rest.append(contentsOf: repeatElement(0, count: room &- restCount))
    }

    @inlinable mutating func pack() {
        pieces.append(PackedPiece(rest))
        restCount = 0
    }

    /// Calls a closure with the numbers of each piece in order.
    @inlinable public func forEachPiece<Failure: Error>(_ body: ([Element]) throws(Failure) -> Void) throws(Failure) {
        for piece in pieces { try body(piece.values(pieceCount)) }
        if restCount > 0 { try body(Array(rest[..<restCount])) }
    }
}

extension PackedColumn: Equatable {
    /// Compares the numbers, independently of their packing.
    @inlinable public static func == (first: PackedColumn, second: PackedColumn) -> Bool {
        guard first.shift == second.shift && first.restCount == second.restCount && first.pieces.count == second.pieces.count,
            first.rest[..<first.restCount] == second.rest[..<second.restCount]
        else { return false }
        return zip(first.pieces, second.pieces).allSatisfy {
            $0 == $1 || $0.values(first.pieceCount) as [Element] == $1.values(first.pieceCount)
        }
    }
}
