import Columns
import Primitives

/// Version histories of few entries of a list; the other entries have the value 0.
struct SparseChains<Value: PlainElement & FixedWidthInteger & UnsignedInteger>: Equatable, Sendable {
    /// The entries that have a chain.
    private(set) var rows = SubsetInterner()
    private var links = PackedColumn<UInt32>()
    private var versions = VersionChains<Value>()

    /// Appends a version to an entry's chain; returns whether it is the entry's first.
    @discardableResult
    mutating func set(_ value: Value, at position: Position, of entry: Int) -> Bool {
        let (row, isNew) = rows.insert(entry)
        if isNew { links.append(0) }
        versions.append(value, at: position, to: &links[row])
        return isNew
    }

    /// Appends the value 0, unless it is the value already.
    mutating func clear(at position: Position, of entry: Int) {
        // Most stores have no chain at all.
        if links.isEmpty { return }
        guard let row = rows.find(entry), versions.value(links[row]) != 0 else { return }
        versions.append(0, at: position, to: &links[row])
    }

    /// Returns the latest value of an entry.
    func value(of entry: Int) -> Value { value(of: entry, asOf: .max) }

    /// Returns an entry's value as of a position.
    func value(of entry: Int, asOf position: Position) -> Value { version(of: entry, asOf: position)?.value ?? 0 }

    /// Returns an entry's version as of a position; nil if it has none.
    func version(of entry: Int, asOf position: Position) -> VersionChains<Value>.Version? {
        if links.isEmpty { return nil }
        return rows.find(entry).flatMap { versions.version(links[$0], asOf: position) }
    }

    /// Returns the number of an entry's versions as of a position.
    func count(of entry: Int, asOf position: Position) -> Int {
        rows.find(entry).map { versions.count(links[$0], asOf: position) } ?? 0
    }

    /// Returns the versions of an entry with these ranks, from 1, oldest first.
    func versions(of entry: Int, ranks: Range<Int>) -> [VersionChains<Value>.Version] {
        rows.find(entry).map { versions.versions(links[$0], ranks: ranks) } ?? []
    }

    /// Whether no version has the value 0.
    var hasOnlyNonZeroValues: Bool { versions.hasOnlyNonZeroValues }
}

extension SparseChains {
    /// Visits the histories of at most `entries` entries.
    mutating func visit(_ visitor: inout ColumnVisitor, entries: Int, below bound: Int, head: Position)
        throws(ColumnError)
    {
        try rows.visit(&visitor, below: entries)
        try links.visit(&visitor, rows: rows.count)
        try versions.visit(&visitor, head: head, below: bound)
        if visitor.isReading {
            try links.check(below: versions.count + 1)
            // Every entry has a version.
            for row in links.indices { try require(links[row] > 0, "an entry without a version") }
        }
    }
}
