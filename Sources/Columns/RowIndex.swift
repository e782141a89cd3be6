/// Finds rows by a mutable key that the caller stores, such as a username.
///
/// The index stores no keys: it takes four bytes per slot at a load of 13/24 to 13/16 and grows in
/// bounded steps (``SlotTable``). It has no removal: an outdated entry never matches, and the next
/// growth drops it. It is derived from the rows, so it is neither compared nor written.
public struct RowIndex: Sendable {
    private var slots = SlotTable()

    /// Creates an empty index.
    public init() {}

    /// Returns the row that has a key, or nil.
    ///
    /// - Parameter keyOfRow: Returns a row's current key, or nil if it has none.
    /// - Complexity: O(1) on average.
    @inlinable public func find<Key: Hashable>(_ key: Key, keyOfRow: (Int) -> Key?) -> Int? {
        find(hash: { Self.hash(key, $0) }, isEqual: { keyOfRow($0) == key })
    }

    /// Enters a row under its current key, which no other row may have.
    ///
    /// - Parameters:
    ///   - row: The row, less than `count`.
    ///   - count: The number of rows.
    ///   - keyOfRow: Returns a row's current key, or nil if it has none.
    /// - Complexity: O(1) on average. Reads the keys of at most eight other rows, unless most rows
    ///   have no key.
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

    /// Combines the standard library's hash, which is seeded per process, with the table's seed.
    @inlinable static func hash<Key: Hashable>(_ key: Key, _ seed: UInt64) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(seed)
        hasher.combine(key)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}

extension RowIndex: Equatable {
    /// Always true: an index is derived from the rows, which its owner compares.
    public static func == (first: RowIndex, second: RowIndex) -> Bool { true }
}
