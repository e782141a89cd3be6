/// A growing list that is kept in pieces of at most 64 KiB.
///
/// By hand, because an `Array` holds its elements in one buffer: growing moves all of them, and the first change after a copy was taken copies all of them.
/// Here a piece is never moved once it is full, and a change after a copy copies one piece: what a checkpoint in the background costs the writer.
/// A short list grows by a quarter, not to the double, because there is one for each thread.
public struct Column<Element: Sendable>: Sendable {
    /// The elements of a piece are 2 to the power of this: at most 64 KiB and 16,384 elements, at least one.
    @inlinable static var shift: Int {
        let strideBits = Int.bitWidth &- (Swift.max(1, MemoryLayout<Element>.stride) &- 1).leadingZeroBitCount
        return Swift.max(0, Swift.min(14, 16 &- strideBits))
    }
    @inlinable static var mask: Int { 1 << shift - 1 }

    @usableFromInline var pieces: [[Element]] = []
    @usableFromInline var length = 0

    /// Makes an empty list.
    @inlinable public init() {}

    /// How many elements there are.
    @inlinable public var count: Int { length }

    /// Whether there are none.
    @inlinable public var isEmpty: Bool { length == 0 }

    /// The last element, nil if there is none.
    @inlinable public var last: Element? { length == 0 ? nil : self[length - 1] }

    /// The element at an index: O(1).
    @inlinable public subscript(index: Int) -> Element {
        get { pieces[index >> Self.shift][index & Self.mask] }
        _modify { yield &pieces[index >> Self.shift][index & Self.mask] }
    }

    /// Adds an element at the end: O(1) amortized.
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

    /// The indices of the elements.
    @inlinable public var indices: Range<Int> { 0..<length }

    /// Calls a closure with the elements in order, a piece at a time.
    @inlinable public func forEachPiece<Failure: Error>(_ body: ([Element]) throws(Failure) -> Void) throws(Failure) {
        for piece in pieces { try body(piece) }
    }
}

extension Column: Equatable where Element: Equatable {
    /// Whether the elements are the same.
    @inlinable public static func == (first: Column, second: Column) -> Bool {
        first.length == second.length && first.pieces == second.pieces
    }
}

extension Column: Sequence {
    /// Goes through the elements in order.
    @inlinable public func makeIterator() -> FlattenSequence<[[Element]]>.Iterator { pieces.joined().makeIterator() }
    /// The count.
    @inlinable public var underestimatedCount: Int { length }
}

/// The first index of a list for which a condition holds that, once it holds, holds for all that follow; the count if there is none.
///
/// - Complexity: O(log *n*) calls of the condition.
@inlinable public func partition(_ count: Int, where condition: (Int) -> Bool) -> Int {
    var lower = 0
    var upper = count
    while lower < upper {
        let middle = lower + (upper - lower) / 2
        if condition(middle) { upper = middle } else { lower = middle + 1 }
    }
    return lower
}
