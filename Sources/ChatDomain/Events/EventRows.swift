/// Consecutive events as rows, with the contents of those that have one which is indexed.
package struct EventRows: Sendable {
    /// The position of the first event.
    package private(set) var first: Position
    package private(set) var rows: [EventRow] = []
    /// The contents of those that have one, and which they are.
    private(set) var contents: [(index: Int, content: Content)] = []

    /// Begins with the event at a position.
    package init(from first: Position, capacity: Int) {
        self.first = first
        rows.reserveCapacity(capacity)
    }

    /// Decodes the next event.
    ///
    /// - Throws: ``EventDecodingError`` if the record is no event; nothing is added then.
    package mutating func append(kept: RawSpan, erasable: RawSpan?) throws(EventDecodingError) {
        let row = try EventRow(kept: kept)
        if let kind = row.kind, kind.isIndexed { contents.append((rows.count, try Content(indexedOf: row, erasable: erasable))) }
        rows.append(row)
    }
}
