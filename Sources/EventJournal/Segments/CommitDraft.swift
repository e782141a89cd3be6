/// The records of a commit that is being put together, already in the form in which they are stored, but for salt and checksums.
///
/// Make one and use it again: ``removeAll()`` keeps its memory.
///
///     var draft = CommitDraft()
///     try draft.append(kept: header, erasable: body)
///     let positions = try journal.append(draft, expecting: journal.lastPosition)
public struct CommitDraft: ~Copyable, Sendable {
    /// The commit's bytes, with room for its header at the start; beyond ``encodedByteCount`` there is only room for more.
    private(set) var bytes = [UInt8](repeating: 0, count: 1_024)
    private(set) var records: [Record] = []
    /// The number of records so far.
    public var recordCount: Int { records.count }
    /// The number of bytes that the commit takes in a segment, header included: what to give to ``Journal/reserve(_:)``.
    public private(set) var encodedByteCount = CommitHeader.size

    /// Where a record's parts lie, from its first byte.
    struct Record: Sendable {
        /// Where the kept part begins.
        var start: UInt32
        /// Where it ends, and the salt begins, or the digest of a stub.
        var salt: UInt32
        var length: UInt32
        var isStub = false
    }

    /// Makes an empty draft.
    public init() {}

    /// Adds a record.
    ///
    /// - Parameters:
    ///   - kept: What is never erased, at most ``JournalLimits/keptBytes``.
    ///   - erasable: What may be erased later, at most ``JournalLimits/erasableBytes``.
    /// - Throws: `tooLarge` when a part is over its limit or the commit would exceed ``JournalLimits/commitBytes``; the draft is then as it
    ///   was.
    public mutating func append(kept: RawSpan, erasable: RawSpan) throws(JournalError) {
        guard kept.byteCount <= JournalLimits.keptBytes else {
            throw JournalError(.tooLarge, "The kept part has \(kept.byteCount) bytes; at most \(JournalLimits.keptBytes) are allowed.")
        }
        guard erasable.byteCount <= JournalLimits.erasableBytes else {
            throw JournalError(
                .tooLarge, "The erasable part has \(erasable.byteCount) bytes; at most \(JournalLimits.erasableBytes) are allowed.")
        }
        let keptLength = UInt32(kept.byteCount)
        let tail = UInt32(erasable.byteCount) << 2 | UInt32(RecordContentState.whole.rawValue)
        let keptStart = 4 + LEB128.size(keptLength) + LEB128.size(tail)
        let salt = keptStart + kept.byteCount
        let length = salt + JournalLimits.recordSalt + erasable.byteCount
        guard encodedByteCount + length <= JournalLimits.commitBytes else {
            throw JournalError(.tooLarge, "The commit would exceed \(JournalLimits.commitBytes) bytes.")
        }
        let end = encodedByteCount + length
        if end > bytes.count { bytes += [UInt8](repeating: 0, count: max(bytes.count, end - bytes.count)) }
        bytes.withMutableBytes(encodedByteCount..<end) { record in
            // The checksum and the salt are put in with the commit.
            _ = LEB128.store(tail, to: &record, at: LEB128.store(keptLength, to: &record, at: 4))
            record.copy(kept, to: keptStart)
            record.copy(erasable, to: salt + JournalLimits.recordSalt)
        }
        records.append(Record(start: UInt32(keptStart), salt: UInt32(salt), length: UInt32(length)))
        encodedByteCount = end
    }

    /// Adds a stub: a record whose erasable part the writer does not have.
    ///
    /// It is stored as if a whole record with an empty erasable part had been appended and erased at once: with the digest and the original
    /// checksum of that record, under a salt of its own. Only a ``Journal`` takes such a draft; to another log it is a whole record.
    ///
    /// - Throws: `tooLarge` as ``append(kept:erasable:)``; the draft is then as it was.
    package mutating func appendStub(kept: RawSpan) throws(JournalError) {
        guard kept.byteCount <= JournalLimits.keptBytes else {
            throw JournalError(.tooLarge, "The kept part has \(kept.byteCount) bytes; at most \(JournalLimits.keptBytes) are allowed.")
        }
        let keptLength = UInt32(kept.byteCount)
        let keptStart = 4 + LEB128.size(keptLength) + 1
        let digest = keptStart + kept.byteCount
        let length = digest + RecordLayout.digest + 4
        guard encodedByteCount + length <= JournalLimits.commitBytes else {
            throw JournalError(.tooLarge, "The commit would exceed \(JournalLimits.commitBytes) bytes.")
        }
        let end = encodedByteCount + length
        if end > bytes.count { bytes += [UInt8](repeating: 0, count: max(bytes.count, end - bytes.count)) }
        bytes.withMutableBytes(encodedByteCount..<end) { record in
            // The checksums and the digest are put in with the commit.
            _ = LEB128.store(UInt32(RecordContentState.erased.rawValue), to: &record, at: LEB128.store(keptLength, to: &record, at: 4))
            record.copy(kept, to: keptStart)
        }
        records.append(Record(start: UInt32(keptStart), salt: UInt32(digest), length: UInt32(length), isStub: true))
        encodedByteCount = end
    }

    /// Calls a closure with the records so far, in their order: what a log other than a journal on files stores of a commit.
    ///
    /// - Parameter body: Is given the kept and the erasable part, valid only during the call.
    /// - Throws: What `body` throws, which ends the reading.
    /// - Complexity: Linear in the number of records; nothing is copied.
    public borrowing func forEachRecord<Failure: Error>(
        _ body: (_ kept: RawSpan, _ erasable: RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        try bytes.withBytes(0..<encodedByteCount) { (bytes) throws(Failure) in
            var cursor = CommitHeader.size
            for record in records {
                let (start, salt, length) = (Int(record.start), Int(record.salt), Int(record.length))
                let part = bytes.extracting(cursor..<cursor + length)
                let erasable = record.isStub ? length : salt + JournalLimits.recordSalt
                try body(part.extracting(start..<salt), part.extracting(erasable..<length))
                cursor += length
            }
        }
    }

    /// A place in a draft, to come back to.
    package struct Mark: Sendable {
        fileprivate let recordCount: Int
    }

    /// The place after the records so far.
    package var mark: Mark { Mark(recordCount: recordCount) }

    /// Takes back the records that were added after a mark of this draft.
    ///
    /// Where the draft has become shorter since, there are none.
    package mutating func removeRecords(after mark: Mark) {
        while records.count > mark.recordCount { encodedByteCount -= Int(records.removeLast().length) }
    }

    /// Empties the draft and keeps its memory.
    public mutating func removeAll() {
        encodedByteCount = CommitHeader.size
        records.removeAll(keepingCapacity: true)
    }
}
