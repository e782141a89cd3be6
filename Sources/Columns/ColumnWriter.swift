/// Writes columns as little-endian bytes, in blocks.
package struct ColumnWriter {
    /// The size of a block, which fits in the processor's cache.
    package static let blockByteCount = 1 << 18

    /// Whether only the logical content is written, for a digest.
    ///
    /// Excludes random seeds and the layout in memory.
    package let isCanonical: Bool
    let sink: any ColumnSink
    var block: [UInt8] = []

    /// Creates a writer to a sink.
    package init(_ sink: any ColumnSink, isCanonical: Bool = false) {
        self.sink = sink
        self.isCanonical = isCanonical
        block.reserveCapacity(Self.blockByteCount)
    }

    /// Passes the remaining bytes to the sink.
    package mutating func finish() {
        if !block.isEmpty { sink.write(block) }
        block.removeAll(keepingCapacity: true)
    }

    /// Writes one number.
    package mutating func write<Value: PlainElement>(_ value: Value) { write([value]) }

    /// Writes a count as 64 bits.
    package mutating func write(_ count: Int) { write(UInt64(count)) }

    /// Writes a Boolean as 0 or 1.
    package mutating func write(_ flag: Bool) { write(flag ? 1 : 0 as UInt8) }

    /// Writes one number per row.
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

    /// Writes a text or nil for each row: first all lengths in UTF-8 bytes, then all bytes.
    package mutating func write(_ rows: Range<Int>, text: (Int) -> String?) {
        write(rows) { text($0).map { UInt32(truncatingIfNeeded: $0.utf8.count) } ?? .max }
        for row in rows { if let text = text(row) { write(Array(text.utf8)) } }
    }
}
