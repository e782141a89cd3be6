/// Writes columns as little-endian bytes, gathered in blocks.
package struct ColumnWriter {
    /// The size of a block: small enough to stay in a processor's cache from one step to the next.
    package static let blockByteCount = 1 << 18

    /// Whether only what the history says is written, and nothing that follows from chance or from how memory is laid out: for a digest.
    package let isCanonical: Bool
    let sink: any ColumnSink
    var block: [UInt8] = []

    package init(_ sink: any ColumnSink, isCanonical: Bool = false) {
        self.sink = sink
        self.isCanonical = isCanonical
        block.reserveCapacity(Self.blockByteCount)
    }

    /// Gives the sink what it does not have yet.
    package mutating func finish() {
        if !block.isEmpty { sink.write(block) }
        block.removeAll(keepingCapacity: true)
    }

    /// Writes one number.
    package mutating func write<Value: PlainElement>(_ value: Value) { write([value]) }

    package mutating func write(_ count: Int) { write(UInt64(count)) }

    package mutating func write(_ flag: Bool) { write(flag ? 1 : 0 as UInt8) }

    /// Writes one number for each row.
    @inlinable package mutating func write<Value: PlainElement>(_ rows: Range<Int>, _ value: (Int) -> Value) {
        var values: [Value] = []
        values.reserveCapacity(Swift.min(rows.count, 4_096))
        for row in rows {
            values.append(value(row))
            if values.count == 4_096 {
                write(values)
                values.removeAll(keepingCapacity: true)
            }
        }
        write(values)
    }

    /// Writes a text, or that there is none, for each row: all lengths in bytes of UTF-8, then all of the bytes.
    package mutating func write(_ rows: Range<Int>, text: (Int) -> String?) {
        write(rows) { text($0).map { UInt32(truncatingIfNeeded: $0.utf8.count) } ?? .max }
        for row in rows { if let text = text(row) { write(Array(text.utf8)) } }
    }
}
