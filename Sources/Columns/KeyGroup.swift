/// Keys that a table looks up together, each for a row of the caller.
public struct KeyGroup<Key: FixedWidthInteger & UnsignedInteger & Sendable>: Sendable {
    /// The maximum number of keys.
    @inlinable public static var capacity: Int { 64 }

    /// The number of keys.
    @usableFromInline var count = 0
    @usableFromInline var keys: InlineArray<64, Key>
    /// The caller's row of each key.
    @usableFromInline var rows: InlineArray<64, Int>
    /// The index + 1 of each key that was found; 0 for the others.
    @usableFromInline var found: InlineArray<64, UInt32>

    /// Creates an empty group.
    ///
    /// Sets the arrays here, because the initial value of a stored property is not inlinable:
    /// another module would call a function for each element.
    @inlinable public init() {
        keys = InlineArray(repeating: 0)
        rows = InlineArray(repeating: 0)
        found = InlineArray(repeating: 0)
    }

    /// Adds a key; the group must have fewer than ``capacity`` keys.
    @inline(__always)
    @inlinable public mutating func append(_ key: Key, for row: Int) {
        keys[count] = key
        rows[count] = row
        count &+= 1
    }

    /// Calls a closure with the row and the index of each key that was found.
    ///
    /// Some keys that exist may be missing: look them up one by one.
    @inline(__always)
    @inlinable public func forEachFound(_ body: (_ row: Int, _ index: Int) -> Void) {
        for key in 0..<count where found[key] != 0 { body(rows[key], Int(found[key]) &- 1) }
    }
}
