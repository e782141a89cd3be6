/// Reads what a ``ColumnWriter`` wrote; nothing is allocated for a count that the bytes that are left could not fill.
package struct ColumnReader {
    let source: any ColumnSource
    var block = [UInt8](repeating: 0, count: ColumnWriter.blockByteCount + 64)
    /// What of the block has not been read yet.
    var unread = 0..<0
    /// How many bytes are left, those of the block included.
    var left: Int

    package init(_ source: any ColumnSource) {
        self.source = source
        left = source.byteCount
    }

    /// Throws unless everything has been read.
    package func finish() throws(ColumnError) { try require(left == 0, "there are \(left) bytes too many") }

    /// Reads one number.
    package mutating func read<Value: PlainElement>(_ type: Value.Type = Value.self) throws(ColumnError) -> Value {
        let values: [Value] = try readArray(1)
        return values[0]
    }

    /// Reads a count of things of which each takes at least one byte.
    package mutating func readCount() throws(ColumnError) -> Int {
        let count: UInt64 = try read()
        try require(count <= UInt64(left), "a count of \(count), where \(left) bytes are left")
        return Int(count)
    }

    package mutating func readFlag() throws(ColumnError) -> Bool {
        let value: UInt8 = try read()
        try require(value <= 1, "a flag is \(value)")
        return value == 1
    }

    /// Reads a text, or that there is none, for each of so many rows.
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

    /// Throws unless so many bytes are left.
    func checkLeft(_ count: Int, of size: Int) throws(ColumnError) {
        let (byteCount, overflows) = count.multipliedReportingOverflow(by: size)
        try require(!overflows && byteCount <= left, "\(count) elements of \(size) bytes, where \(left) bytes are left")
    }

    /// Makes sure that there is something unread in the block.
    mutating func load() throws(ColumnError) {
        guard unread.isEmpty else { return }
        let count = try source.read(into: &block)
        try require(count > 0 && count <= block.count, "the bytes end too early")
        unread = 0..<count
    }
}
