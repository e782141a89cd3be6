/// A growable list of unsigned numbers of which most are 0.
///
/// The numbers after the last one that was set are zeros and not stored, so a zero is appended by
/// counting it.
public struct MostlyZeroColumn<Element: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
    @usableFromInline var stored = PackedColumn<Element>()
    /// The number of elements, stored or not.
    @usableFromInline var length = 0

    /// Creates an empty list.
    @inlinable public init() {}

    /// The number of elements.
    @inlinable public var count: Int { length }

    /// Appends a zero.
    @inlinable public mutating func appendZero() { length &+= 1 }

    /// Accesses the number at an index, which is less than ``count``.
    ///
    /// - Complexity: O(1) amortized.
    @inlinable public subscript(index: Int) -> Element {
        get {
            precondition(index < length)
            return index < stored.count ? stored[index] : 0
        }
        set {
            precondition(index < length)
            if index >= stored.count {
                if newValue == 0 { return }
                stored.appendZeros(upTo: index + 1)
            }
            stored[index] = newValue
        }
    }

    /// All numbers, stored.
    @inlinable var numbers: PackedColumn<Element> {
        var numbers = stored
        numbers.appendZeros(upTo: length)
        return numbers
    }
}

extension MostlyZeroColumn: Equatable {
    /// Compares the numbers, independently of how many are stored.
    @inlinable public static func == (first: MostlyZeroColumn, second: MostlyZeroColumn) -> Bool {
        first.length == second.length && first.numbers == second.numbers
    }
}

extension MostlyZeroColumn where Element: PlainElement {
    /// Writes the numbers as a ``PackedColumn``.
    package func write(to writer: inout ColumnWriter) { numbers.write(to: &writer) }

    /// Reads the numbers of a ``PackedColumn``.
    ///
    /// - Parameter most: The maximum count.
    package init(from reader: inout ColumnReader, atMost most: Int) throws(ColumnError) {
        self.init(try PackedColumn(from: &reader, atMost: most))
    }

    /// Calls a closure with the numbers of each piece in order.
    @inlinable package func forEachPiece<Failure: Error>(_ body: ([Element]) throws(Failure) -> Void) throws(Failure) {
        try numbers.forEachPiece(body)
    }

    /// Throws unless every number is less than `bound`, which is at least 1.
    @inlinable package func check(below bound: Int) throws(ColumnError) { try stored.check(below: bound) }
}

extension MostlyZeroColumn {
    /// Creates a list of stored numbers.
    @inlinable init(_ numbers: PackedColumn<Element>) { (stored, length) = (numbers, numbers.count) }

    /// Creates a list from a sequence.
    @inlinable package init(_ numbers: some Sequence<Element>) { self.init(PackedColumn(numbers)) }
}
