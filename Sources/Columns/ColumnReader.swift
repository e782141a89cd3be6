/// Reads the bytes of a ``ColumnWriter``.
///
/// Checks every count against the remaining bytes before it allocates memory.
package struct ColumnReader {
    let source: any ColumnSource
    var block = [UInt8](repeating: 0, count: ColumnWriter.blockByteCount + 64)
    /// The unread range of the block.
    var unread = 0..<0
    /// The number of remaining bytes, including those of the block.
    var left: Int

    /// Creates a reader of a source.
    package init(_ source: any ColumnSource) {
        self.source = source
        left = source.byteCount
    }

    /// Throws unless all bytes have been read.
    package func finish() throws(ColumnError) { try require(left == 0, "\(left) bytes are left over") }

    /// Reads one number.
    package mutating func read<Value: PlainElement>(_ type: Value.Type = Value.self) throws(ColumnError) -> Value {
        let values: [Value] = try readArray(1)
        return values[0]
    }

    /// Reads a count of elements that take at least one byte each.
    package mutating func readCount() throws(ColumnError) -> Int {
        let count: UInt64 = try read()
        try require(count <= UInt64(left), "a count of \(count) with \(left) bytes left")
        return Int(count)
    }

    /// Reads a Boolean, stored as 0 or 1.
    package mutating func readFlag() throws(ColumnError) -> Bool {
        let value: UInt8 = try read()
        try require(value <= 1, "a flag is \(value)")
        return value == 1
    }

    /// Reads a text or nil for each of `count` rows.
    package mutating func readTexts(_ count: Int) throws(ColumnError) -> [String?] {
        let lengths: [UInt32] = try readArray(count)
        var texts: [String?] = []
        texts.reserveCapacity(count)
        for length in lengths {
            guard length != .max else {
                texts.append(nil)
                continue
            }
            guard let text = try readText(Int(length)) else { throw ColumnError("a text is not UTF-8") }
            texts.append(text)
        }
        return texts
    }

    /// Throws unless enough bytes remain for `count` elements.
    func checkLeft(_ count: Int, of size: Int) throws(ColumnError) {
        let (byteCount, overflows) = count.multipliedReportingOverflow(by: size)
        try require(!overflows && byteCount <= left, "\(count) elements of \(size) bytes with \(left) bytes left")
    }

    /// Loads the next block if the current one has been read.
    mutating func load() throws(ColumnError) {
        guard unread.isEmpty else { return }
        let count = try source.read(into: &block)
        try require(count > 0 && count <= block.count, "the bytes end too early")
        unread = 0..<count
    }
}
