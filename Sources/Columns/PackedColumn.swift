/// A growing list of unsigned numbers, packed by pieces into as few bits as they need.
///
/// For what there is a number of for each message: positions, rows, links. All pieces but the last are packed (``PackedPiece``); that one is plain, so that appending costs
/// what it costs an array. A number can be changed anywhere; where its piece has too few bits for the new one, the piece is packed anew, at most 64 times in all.
/// As in a ``Column``, a change after a copy copies one piece.
public struct PackedColumn<Element: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
    /// How long a piece is.
    public enum Pieces: Int, Sendable {
        /// 16,384 numbers: for one long list.
        case long = 14
        /// 256 numbers: for each of many lists, the plain piece of which counts.
        case short = 8
    }

    @usableFromInline let shift: Int
    @usableFromInline var pieces: [PackedPiece] = []
    /// What comes after the pieces, and zeros as far as there is room: an element that exists is set faster than one is appended.
    @usableFromInline var rest: [Element] = []
    /// How many of these are numbers of the list, fewer than a piece has.
    @usableFromInline var restCount = 0

    /// Makes an empty list of long pieces.
    @inlinable public init() { self.init(.long) }

    /// Makes an empty list.
    @inlinable public init(_ pieces: Pieces) { shift = pieces.rawValue }

    @inlinable var pieceCount: Int { 1 &<< shift }
    @inlinable var mask: Int { pieceCount &- 1 }

    /// How many numbers there are.
    @inlinable public var count: Int { pieces.count &<< shift &+ restCount }

    /// Whether there are none.
    @inlinable public var isEmpty: Bool { restCount == 0 && pieces.isEmpty }

    /// The last number, nil if there is none.
    @inlinable public var last: Element? { isEmpty ? nil : self[count - 1] }

    /// The indices of the numbers.
    @inlinable public var indices: Range<Int> { 0..<count }

    /// The number at an index: O(1); setting it is O(1) but where its piece has to be packed anew.
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

    /// Adds a number at the end: O(1) amortized.
    @inline(__always)
    @inlinable public mutating func append(_ element: Element) {
        if restCount == rest.count { makeRoom() }
        rest[restCount] = element
        restCount &+= 1
        if restCount == pieceCount { pack() }
    }

    /// By a quarter and not to the double, because there is one of these for each of many lists.
    @inlinable mutating func makeRoom() {
        let room = pieces.isEmpty ? Swift.min(restCount &+ restCount &>> 2 &+ 2, pieceCount) : pieceCount
        rest.reserveCapacity(room)
        rest.append(contentsOf: repeatElement(0, count: room &- restCount))
    }

    @inlinable mutating func pack() {
        pieces.append(PackedPiece(rest))
        restCount = 0
    }

    /// Calls a closure with the numbers in order, a piece at a time.
    @inlinable public func forEachPiece<Failure: Error>(_ body: ([Element]) throws(Failure) -> Void) throws(Failure) {
        for piece in pieces { try body(piece.values(pieceCount)) }
        if restCount > 0 { try body(Array(rest[..<restCount])) }
    }
}

extension PackedColumn: Equatable {
    /// Whether the numbers are the same, however they are packed.
    @inlinable public static func == (first: PackedColumn, second: PackedColumn) -> Bool {
        guard first.shift == second.shift && first.restCount == second.restCount && first.pieces.count == second.pieces.count,
            first.rest[..<first.restCount] == second.rest[..<second.restCount]
        else { return false }
        return zip(first.pieces, second.pieces).allSatisfy {
            $0 == $1 || $0.values(first.pieceCount) as [Element] == $1.values(first.pieceCount)
        }
    }
}
