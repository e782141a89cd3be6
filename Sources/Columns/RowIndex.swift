/// Finds rows by a key that their owner keeps, such as a name that may change.
///
/// The index holds no key, only four bytes for each row at a load of 13/24 to 13/16, and grows in
/// bounded steps (``SlotTable``). It has no removal: an entry whose row has another key by now is
/// not equal to any, and the next growth leaves it out. It follows from the rows, so it is neither
/// compared nor written.
public struct RowIndex: Sendable {
    private var slots = SlotTable()

    /// Makes an empty index.
    public init() {}

    /// Finds the row that has a key.
    ///
    /// - Parameter keyOfRow: The key that a row has now, nil for none.
    /// - Complexity: O(1) on average.
    @inlinable public func find<Key: Hashable>(_ key: Key, keyOfRow: (Int) -> Key?) -> Int? {
        find(hash: { Self.hash(key, $0) }, isEqual: { keyOfRow($0) == key })
    }

    /// Notes that a row has the key that its owner now tells; no other row may have it.
    ///
    /// - Parameters:
    ///   - row: Smaller than the count.
    ///   - count: The count of the owner's rows.
    ///   - keyOfRow: The key that a row has now, nil for none.
    /// - Complexity: O(1) on average; asks for the keys of eight other rows at most, unless most
    ///   rows have none.
    @inlinable public mutating func update<Key: Hashable>(_ row: Int, of count: Int, keyOfRow: (Int) -> Key?) {
        update(row, of: count) { row, seed in keyOfRow(row).map { Self.hash($0, seed) } }
    }

    @usableFromInline func find(hash: (UInt64) -> UInt64, isEqual: (Int) -> Bool) -> Int? {
        slots.find(hash: { hash($0.low) }, isEqual: isEqual)
    }

    @usableFromInline mutating func update(_ row: Int, of count: Int, hash: (Int, UInt64) -> UInt64?) {
        precondition(row < count)
        slots.update(row, of: count) { hash($0, $1.low) }
    }

    /// The standard library's hash, which is seeded for each process, seeded for the array as well.
    @inlinable static func hash<Key: Hashable>(_ key: Key, _ seed: UInt64) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(seed)
        hasher.combine(key)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}

extension RowIndex: Equatable {
    /// True: an index follows from the rows, which their owner compares.
    public static func == (first: RowIndex, second: RowIndex) -> Bool { true }
}
