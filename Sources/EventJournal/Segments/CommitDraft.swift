import Primitives

/// The records of an unfinished commit in their stored form, without salt and checksums.
///
/// Reuse a draft for many commits: ``removeAll()`` keeps its memory.
///
///     var draft = CommitDraft()
///     try draft.append(kept: header, erasable: body)
///     let positions = try journal.append(draft, expecting: journal.lastPosition)
public struct CommitDraft: ~Copyable, Sendable {
    /// The commit's bytes, with room for its header at the start; bytes after ``encodedByteCount``
    /// are unused.
    private(set) var bytes = [UInt8](repeating: 0, count: 1_024)
    private(set) var records: [Record] = []
    /// The number of records in the draft.
    public var recordCount: Int { records.count }
    /// The number of bytes of the stored commit, header included.
    ///
    /// Pass it to ``Journal/reserve(_:)``.
    public private(set) var encodedByteCount = CommitHeader.size

    /// The offsets of a record's parts, relative to its first byte.
    struct Record: Sendable {
        /// The start of the kept part.
        var keptStart: UInt32
        /// The end of the kept part, where the salt or a stub's digest begins.
        var keptEnd: UInt32
        var length: UInt32
        var isStub = false
    }

    /// Creates an empty draft.
    public init() {}

    /// Adds a record.
    ///
    /// - Parameters:
    ///   - kept: The part that is never erased, at most ``JournalLimits/keptBytes`` bytes.
    ///   - erasable: The part that may be erased later, at most ``JournalLimits/erasableBytes``
    ///     bytes.
    /// - Throws: `tooLarge` if a part exceeds its limit or the commit would exceed
    ///   ``JournalLimits/commitBytes``. The draft is then unchanged.
    public mutating func append(kept: RawSpan, erasable: RawSpan) throws(JournalError) {
        try Self.checkLength(ofKept: kept)
        guard erasable.byteCount <= JournalLimits.erasableBytes else {
            throw JournalError(
                .tooLarge,
                "The erasable part has \(erasable.byteCount) bytes; at most \(JournalLimits.erasableBytes) are allowed."
            )
        }
        let keptLength = UInt64(kept.byteCount)
        let tail = UInt64(erasable.byteCount) << 2 | UInt64(RecordContentState.whole.rawValue)
        let keptStart = 4 + LEB128.size(keptLength) + LEB128.size(tail)
        let salt = keptStart + kept.byteCount
        let length = salt + JournalLimits.recordSaltByteCount + erasable.byteCount
        let end = try makeRoom(length)
        bytes.withMutableBytes(encodedByteCount..<end) { record in
            // The framer adds the checksum and the salt with the commit.
            _ = LEB128.store(tail, to: &record, at: LEB128.store(keptLength, to: &record, at: 4))
            record.storeBytes(kept, at: keptStart)
            record.storeBytes(erasable, at: salt + JournalLimits.recordSaltByteCount)
        }
        records.append(Record(keptStart: UInt32(keptStart), keptEnd: UInt32(salt), length: UInt32(length)))
        encodedByteCount = end
    }

    /// Adds a stub: a record whose erasable part this log does not have.
    ///
    /// Its state is `withheld`; only an erasure makes `erased` stubs. It has the digest and the
    /// original checksum of a whole record with an empty erasable part and a salt of its own. A
    /// ``Journal`` stores the stub; other logs store a whole record.
    ///
    /// - Throws: `tooLarge` as ``append(kept:erasable:)``. The draft is then unchanged.
    package mutating func appendStub(kept: RawSpan) throws(JournalError) {
        try Self.checkLength(ofKept: kept)
        let keptLength = UInt64(kept.byteCount)
        let keptStart = 4 + LEB128.size(keptLength) + 1
        let digest = keptStart + kept.byteCount
        let length = digest + RecordLayout.digestByteCount + 4
        let end = try makeRoom(length)
        bytes.withMutableBytes(encodedByteCount..<end) { record in
            // The framer adds the checksums and the digest with the commit.
            _ = LEB128.store(
                UInt64(RecordContentState.withheld.rawValue), to: &record,
                at: LEB128.store(keptLength, to: &record, at: 4))
            record.storeBytes(kept, at: keptStart)
        }
        records.append(
            Record(keptStart: UInt32(keptStart), keptEnd: UInt32(digest), length: UInt32(length), isStub: true))
        encodedByteCount = end
    }

    @inline(__always)
    private static func checkLength(ofKept kept: RawSpan) throws(JournalError) {
        guard kept.byteCount <= JournalLimits.keptBytes else {
            throw JournalError(
                .tooLarge, "The kept part has \(kept.byteCount) bytes; at most \(JournalLimits.keptBytes) are allowed.")
        }
    }

    /// Makes room for a record after the last one, and returns the offset after it.
    @inline(__always)
    private mutating func makeRoom(_ length: Int) throws(JournalError) -> Int {
        let end = encodedByteCount + length
        guard end <= JournalLimits.commitBytes else {
            throw JournalError(.tooLarge, "The commit would exceed \(JournalLimits.commitBytes) bytes.")
        }
        if end > bytes.count { bytes += [UInt8](repeating: 0, count: max(bytes.count, end - bytes.count)) }
        return end
    }

    /// Calls a closure with each record in order.
    ///
    /// A log other than a journal on files uses it to read the records that it stores.
    ///
    /// - Parameter body: Receives the kept and the erasable part, which are valid during the call
    ///   only.
    /// - Throws: The error of `body`, which ends the iteration.
    /// - Complexity: O(*n*) in the number of records; copies no bytes.
    public borrowing func forEachRecord<Failure: Error>(
        _ body: (_ kept: RawSpan, _ erasable: RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        try bytes.withBytes(0..<encodedByteCount) { (bytes) throws(Failure) in
            var cursor = CommitHeader.size
            for record in records {
                let (start, salt, length) = (Int(record.keptStart), Int(record.keptEnd), Int(record.length))
                let part = bytes.extracting(cursor..<cursor + length)
                let erasable = record.isStub ? length : salt + JournalLimits.recordSaltByteCount
                try body(part.extracting(start..<salt), part.extracting(erasable..<length))
                cursor += length
            }
        }
    }

    /// A position in a draft to which the caller can return.
    package struct Mark: Sendable {
        fileprivate let recordCount: Int
    }

    /// The position after the last record of the draft.
    package var mark: Mark { Mark(recordCount: recordCount) }

    /// Removes the records that were added after a mark of this draft.
    ///
    /// Does nothing if the draft has no such records.
    package mutating func removeRecords(after mark: Mark) {
        while records.count > mark.recordCount { encodedByteCount -= Int(records.removeLast().length) }
    }

    /// Removes all records and keeps the memory.
    public mutating func removeAll() {
        encodedByteCount = CommitHeader.size
        records.removeAll(keepingCapacity: true)
    }
}
