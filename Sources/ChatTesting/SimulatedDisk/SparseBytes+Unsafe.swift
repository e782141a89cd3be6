// Unsafe, because a simulated disk copies and compares sectors at every write and crash, and the
// standard library copies spans element by element, which is far slower in the debug builds of
// tests. Every unsafe use copies or compares bytes within bounds that the preceding
// lines check.

/// The bytes of a file: a stored prefix, then zeros up to the size.
struct SparseBytes: Sendable {
    static let sectorSize = 512

    private(set) var stored: [UInt8] = []
    private(set) var size = 0

    /// Copies the bytes from `offset` on and returns their number.
    func read(into bytes: inout MutableRawSpan, at offset: Int) -> Int {
        guard offset < size else { return 0 }
        let count = min(bytes.byteCount, size - offset)
        let present = max(0, min(count, stored.count - offset))
        unsafe bytes.withUnsafeMutableBytes { target in
            unsafe stored.withUnsafeBytes { source in
                if present > 0 {
                    unsafe UnsafeMutableRawBufferPointer(rebasing: target[..<present]).copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: source[offset..<(offset + present)]))
                }
                if count > present {
                    unsafe _ = UnsafeMutableRawBufferPointer(rebasing: target[present..<count]).initializeMemory(
                        as: UInt8.self, repeating: 0)
                }
            }
        }
        return count
    }

    /// Stores the bytes at `offset` and extends the file if needed.
    mutating func write(_ bytes: RawSpan, at offset: Int) {
        unsafe bytes.withUnsafeBytes { source in unsafe write(source, at: offset) }
    }

    /// Stores a part of an array at `offset` and extends the file if needed.
    mutating func write(_ bytes: [UInt8], _ range: Range<Int>, at offset: Int) {
        unsafe bytes.withUnsafeBytes { source in
            unsafe write(UnsafeRawBufferPointer(rebasing: source[range]), at: offset)
        }
    }

    private mutating func write(_ source: UnsafeRawBufferPointer, at offset: Int) {
        guard unsafe !source.isEmpty else { return }
        let end = offset + source.count
        if stored.count < end {
            stored.reserveCapacity(max(end, min(2 * stored.count, end + (1 << 20))))
            stored += [UInt8](repeating: 0, count: end - stored.count)
        }
        unsafe stored.withUnsafeMutableBytes { target in
            unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset..<end]).copyMemory(from: source)
        }
        size = max(size, end)
    }

    /// Truncates the file, or extends it with zeros.
    mutating func resize(to newSize: Int) {
        if stored.count > newSize { stored.removeLast(stored.count - newSize) }
        size = newSize
    }

    /// Inverts one bit of a byte, which must be inside the file.
    mutating func flip(_ bit: Int, at offset: Int) {
        precondition(
            offset >= 0 && offset < size && (0..<8).contains(bit), "The bit or the offset is outside the file.")
        if stored.count <= offset { stored += [UInt8](repeating: 0, count: offset + 1 - stored.count) }
        stored[offset] ^= 1 << UInt8(bit)
    }

    /// Returns the 512 bytes of a sector; bytes beyond the end of the file are zeros.
    func sector(_ index: Int) -> [UInt8] {
        let start = index * Self.sectorSize
        let present = max(0, min(Self.sectorSize, stored.count - start))
        return unsafe [UInt8](unsafeUninitializedCapacity: Self.sectorSize) { target, count in
            unsafe stored.withUnsafeBytes { source in
                let bytes = unsafe UnsafeMutableRawBufferPointer(start: target.baseAddress, count: Self.sectorSize)
                if present > 0 {
                    unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[..<present]).copyMemory(
                        from: UnsafeRawBufferPointer(rebasing: source[start..<(start + present)]))
                }
                unsafe _ = UnsafeMutableRawBufferPointer(rebasing: bytes[present...]).initializeMemory(
                    as: UInt8.self, repeating: 0)
            }
            count = Self.sectorSize
        }
    }

    /// Returns whether every byte from `offset` to the end of its sector is zero.
    func isZero(fromSectorOffset offset: Int) -> Bool {
        let end = min(stored.count, (offset / Self.sectorSize + 1) * Self.sectorSize)
        return offset >= end || stored[offset..<end].allSatisfy { $0 == 0 }
    }

    /// Returns the range of bytes in which two sectors differ; nil if they are equal.
    static func difference(_ first: [UInt8], _ second: [UInt8]) -> Range<Int>? {
        precondition(first.count == sectorSize && second.count == sectorSize)
        return unsafe first.withUnsafeBytes { first in
            unsafe second.withUnsafeBytes { second in
                var start = 0
                while start < sectorSize, unsafe word(first, start) == word(second, start) { start += 8 }
                guard start < sectorSize else { return nil }
                while unsafe first[start] == second[start] { start += 1 }
                var end = sectorSize
                while unsafe first[end - 1] == second[end - 1] { end -= 1 }
                return start..<end
            }
        }
    }

    private static func word(_ bytes: UnsafeRawBufferPointer, _ offset: Int) -> UInt64 {
        unsafe bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }
}
