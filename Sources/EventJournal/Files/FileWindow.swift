import Primitives

/// A movable window of a file in memory, used for all sequential reads of segments.
///
/// The window reuses one buffer. The buffer grows up to one chunk, and beyond it only for a longer
/// record, or for a commit that a repair needs whole; the lengths of both are bounded.
struct FileWindow {
    /// The size of a sequential read in bytes; large enough to amortise the system call.
    static let chunkSize = 1 << 20

    let file: any StorageFile
    private(set) var buffer: [UInt8]
    private var start: UInt64 = 0
    private var count = 0

    init(_ file: any StorageFile, buffer: [UInt8] = []) {
        self.file = file
        self.buffer = buffer
    }

    /// Makes at least `needed` bytes from `offset` available and returns the number of available
    /// bytes.
    ///
    /// A read prefetches up to `bound`, at most one chunk. The returned count is less than `needed`
    /// only at the end of the file.
    mutating func load(at offset: UInt64, needed: Int, bound: UInt64) throws(StorageError) -> Int {
        if offset >= start, offset - start <= UInt64(count) {
            let available = count - Int(offset - start)
            if available >= needed { return available }
        }
        let ahead = bound > offset ? Int(min(bound - offset, UInt64(Self.chunkSize))) : 0
        let wanted = max(needed, ahead)
        if buffer.count < wanted { buffer = [UInt8](repeating: 0, count: wanted) }
        start = offset
        count = 0
        count = try buffer.withMutableBytes(0..<wanted) { [file] (bytes) throws(StorageError) in
            try file.read(into: &bytes, at: offset)
        }
        return count
    }

    /// Calls `body` with the available bytes from `offset`, which must lie in the window.
    @inline(__always)
    func withBytes<Result, Failure: Error>(from offset: UInt64, _ body: (RawSpan) throws(Failure) -> Result)
        throws(Failure) -> Result
    {
        try buffer.withBytes(Int(offset - start)..<count, body)
    }
}

extension StorageFile {
    /// Fills a range of an array with the bytes from `offset`.
    ///
    /// Returns false if the file ends before.
    func fill(_ bytes: inout [UInt8], _ range: Range<Int>, from offset: UInt64) throws(StorageError) -> Bool {
        let count = try bytes.withMutableBytes(range) { (span) throws(StorageError) in try read(into: &span, at: offset)
        }
        return count == range.count
    }

    /// Returns the offset of the first nonzero byte in `range`, or nil if all bytes are zero.
    ///
    /// Bytes beyond the end of the file count as zeros.
    func firstNonzero(in range: Range<UInt64>) throws(StorageError) -> UInt64? {
        var window = FileWindow(self)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let count = Int(
                min(UInt64(try window.load(at: offset, needed: 1, bound: range.upperBound)), range.upperBound - offset))
            if count == 0 { return nil }
            let found = window.withBytes(from: offset) { $0.extracting(0..<count).firstNonzero(from: 0) }
            if found < count { return offset + UInt64(found) }
            offset += UInt64(count)
        }
        return nil
    }

    /// Returns the offset after the last nonzero byte in `range`, or the lower bound if all are
    /// zero.
    func endWithoutTrailingZeros(in range: Range<UInt64>) throws(StorageError) -> UInt64 {
        var window = FileWindow(self)
        var offset = range.lowerBound
        var end = range.lowerBound
        while offset < range.upperBound {
            let count = Int(
                min(UInt64(try window.load(at: offset, needed: 1, bound: range.upperBound)), range.upperBound - offset))
            if count == 0 { return end }
            let stripped = window.withBytes(from: offset) { $0.extracting(0..<count).countWithoutTrailingZeros }
            if stripped > 0 { end = offset + UInt64(stripped) }
            offset += UInt64(count)
        }
        return end
    }
}
