// Unsafe: copies whole pieces of columns as bytes, because copying element by element is slower.
// Only elements without padding and with a value for every bit pattern (`PlainElement`) are copied,
// and every count is checked against the remaining bytes before memory is allocated.

extension ColumnWriter {
    /// Writes elements as stored in memory, without their count.
    package mutating func write<Element: PlainElement>(_ elements: [Element]) {
        unsafe elements.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let count = Swift.min(Self.blockByteCount - block.count, bytes.count - done)
                unsafe block.append(contentsOf: bytes[done..<done + count])
                done += count
                if block.count == Self.blockByteCount { flush() }
            }
        }
    }
}

extension ColumnReader {
    /// Reads `count` elements.
    ///
    /// - Parameter capacity: The minimum capacity of the array.
    package mutating func readArray<Element: PlainElement>(_ count: Int, capacity: Int = 0) throws(ColumnError)
        -> [Element]
    {
        try checkRemaining(count, of: MemoryLayout<Element>.stride)
        // The empty array without capacity is shared by all threads; setting its count, even to 0,
        // would be a data race.
        if count == 0 && capacity == 0 { return [] }
        var failure: ColumnError?
        let elements = unsafe [Element](unsafeUninitializedCapacity: Swift.max(count, capacity)) {
            buffer, initialized in
            let bytes = unsafe UnsafeMutableRawBufferPointer(
                start: buffer.baseAddress, count: count * MemoryLayout<Element>.stride)
            do throws(ColumnError) {
                try unsafe copy(to: bytes)
                // `copy(to:)` has written every byte of these elements, and every bit pattern is a
                // value.
                initialized = count
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        return elements
    }

    /// Reads a text of `byteCount` bytes, or nil if they are not UTF-8.
    mutating func readText(_ byteCount: Int) throws(ColumnError) -> String? {
        try checkRemaining(byteCount, of: 1)
        if byteCount <= unread.count {
            let text = unsafe block.withUnsafeBytes { bytes in
                unsafe String(validating: bytes[unread.lowerBound..<unread.lowerBound + byteCount], as: UTF8.self)
            }
            unread = unread.lowerBound + byteCount..<unread.upperBound
            remainingByteCount -= byteCount
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
                // Both ranges are in bounds: `count` is at most the unread bytes and at most the
                // remaining target.
                unsafe UnsafeMutableRawBufferPointer(rebasing: target[done..<done + count]).copyMemory(
                    from: UnsafeRawBufferPointer(rebasing: source[unread.lowerBound..<unread.lowerBound + count]))
            }
            unread = unread.lowerBound + count..<unread.upperBound
            done += count
            remainingByteCount -= count
        }
    }
}
