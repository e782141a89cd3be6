// Unsafe, because whole pieces of columns are copied as bytes: ten million messages are some 400 MB, and element by element that takes three times as long. Only elements
// of which every bit pattern is a value, with no padding, are copied so (`PlainElement`), and every count is compared with the bytes that there are before memory is taken.

extension ColumnWriter {
    /// Writes elements as they lie in memory, without their count.
    package mutating func write<Element: PlainElement>(_ elements: [Element]) {
        unsafe elements.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Swift.min(Self.blockByteCount - block.count, bytes.count - done)
                unsafe block.append(contentsOf: bytes[done..<done + count])
                done += count
                if block.count == Self.blockByteCount { finish() }
            }
        }
    }
}

extension ColumnReader {
    /// Reads so many elements.
    ///
    /// - Parameter capacity: Room for at least so many is made at once.
    package mutating func readArray<Element: PlainElement>(_ count: Int, capacity: Int = 0) throws(ColumnError) -> [Element] {
        try checkLeft(count, of: MemoryLayout<Element>.stride)
        // An array without room is one that all threads share; to set its count, to 0, is a write that they would race for.
        if count == 0 && capacity == 0 { return [] }
        var failure: ColumnError?
        let elements = unsafe [Element](unsafeUninitializedCapacity: Swift.max(count, capacity)) { buffer, initialized in
            let bytes = unsafe UnsafeMutableRawBufferPointer(start: buffer.baseAddress, count: count * MemoryLayout<Element>.stride)
            do throws(ColumnError) {
                try unsafe copy(to: bytes)
                // Every byte of these elements has been written, and any bytes are a value of their type.
                initialized = count
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return elements
    }

    /// The text in the next bytes, nil if they are not UTF-8.
    mutating func readText(_ byteCount: Int) throws(ColumnError) -> String? {
        try checkLeft(byteCount, of: 1)
        if byteCount <= unread.count {
            let text = unsafe block.withUnsafeBytes { bytes in
                unsafe String(validating: bytes[unread.lowerBound..<unread.lowerBound + byteCount], as: UTF8.self)
            }
            unread = unread.lowerBound + byteCount..<unread.upperBound
            left -= byteCount
            return text
        }
        let bytes: [UInt8] = try readArray(byteCount)
        return String(validating: bytes, as: UTF8.self)
    }

    private mutating func copy(to target: UnsafeMutableRawBufferPointer) throws(ColumnError) {
        var done = 0
        let wanted = target.count
        while done < wanted {
            try load()
            let count = Swift.min(unread.count, wanted - done)
            unsafe block.withUnsafeBytes { source in
                // Both ranges lie in their buffers: `count` is at most what is unread, and at most what the target still lacks.
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[done..<done + count]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: source[unread.lowerBound..<unread.lowerBound + count]))
            }
            unread = unread.lowerBound + count..<unread.upperBound
            done += count
            left -= count
        }
    }
}
