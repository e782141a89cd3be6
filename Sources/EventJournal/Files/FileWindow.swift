/// A stretch of a file in memory, moved along it: what every reader of segments looks through.
///
/// One buffer is used again and again; it grows only when a single record needs more, and a record is bounded.
struct FileWindow {
    /// The size of a sequential read: large enough that the system calls do not count.
    static let chunk = 1 << 20

    let file: any StorageFile
    private(set) var buffer: [UInt8]
    private var start: UInt64 = 0
    private var count = 0

    init(_ file: any StorageFile, buffer: [UInt8] = []) {
        self.file = file
        self.buffer = buffer
    }

    /// Makes at least `needed` bytes from `offset` on available, reading on to `bound` as far as a chunk goes; returns how many there
    /// are, fewer than `needed` only when the file ends.
    mutating func load(at offset: UInt64, needed: Int, bound: UInt64) throws(StorageError) -> Int {
        if offset >= start, offset - start <= UInt64(count) {
            let available = count - Int(offset - start)
            if available >= needed { return available }
        }
        let ahead = bound > offset ? Int(min(bound - offset, UInt64(Self.chunk))) : 0
        let wanted = max(needed, ahead)
        if buffer.count < wanted { buffer = [UInt8](repeating: 0, count: wanted) }
        start = offset
        count = 0
        count = try buffer.withMutableBytes(0..<wanted) { [file] (bytes) throws(StorageError) in try file.read(into: &bytes, at: offset) }
        return count
    }

    /// Lends what is available from `offset` on, which must lie in the window.
    @inline(__always)
    func withBytes<Result, Failure: Error>(from offset: UInt64, _ body: (RawSpan) throws(Failure) -> Result) throws(Failure) -> Result {
        try buffer.withBytes(Int(offset - start)..<count, body)
    }
}

extension StorageFile {
    /// Fills a range of an array with the bytes from `offset` on; false when the file ends before.
    func fill(_ bytes: inout [UInt8], _ range: Range<Int>, from offset: UInt64) throws(StorageError) -> Bool {
        let count = try bytes.withMutableBytes(range) { (span) throws(StorageError) in try read(into: &span, at: offset) }
        return count == range.count
    }

    /// The offset of the first byte in `range` that is not zero; nil when there is none.
    ///
    /// What is beyond the end of the file counts as zero.
    func firstNonzero(in range: Range<UInt64>) throws(StorageError) -> UInt64? {
        var window = FileWindow(self)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = Int(min(UInt64(try window.load(at: offset, needed: 1, bound: range.upperBound)), range.upperBound - offset))
            if count == 0 { return nil }
            let found = window.withBytes(from: offset) { $0.extracting(0..<count).firstNonzero(from: 0) }
            if found < count { return offset + UInt64(found) }
            offset += UInt64(count)
        }
        return nil
    }

    /// One more than the offset of the last byte in `range` that is not zero; the lower bound when there is none.
    func endWithoutTrailingZeros(in range: Range<UInt64>) throws(StorageError) -> UInt64 {
        var window = FileWindow(self)
        var offset = range.lowerBound
        var end = range.lowerBound
        while offset < range.upperBound {
            let count = Int(min(UInt64(try window.load(at: offset, needed: 1, bound: range.upperBound)), range.upperBound - offset))
            if count == 0 { return end }
            let stripped = window.withBytes(from: offset) { $0.extracting(0..<count).countWithoutTrailingZeros }
            if stripped > 0 { end = offset + UInt64(stripped) }
            offset += UInt64(count)
        }
        return end
    }
}
