/// The records of a commit that is being put together, already in the form in which they are stored, but for salt and checksums.
///
/// Make one and use it again: ``removeAll()`` keeps its memory.
///
///     var draft = CommitDraft()
///     try draft.append(kept: header, erasable: body)
///     let positions = try journal.append(draft, expecting: journal.lastPosition)
public struct CommitDraft: ~Copyable, Sendable {
    /// The commit's bytes, with room for its header at the start.
    private(set) var bytes: [UInt8]
    /// The number of records so far.
    public private(set) var recordCount: Int

    private static let saltRoom = [UInt8](repeating: 0, count: JournalLimits.recordSalt)

    /// Makes an empty draft.
    public init() {
        bytes = [UInt8](repeating: 0, count: CommitHeader.size)
        recordCount = 0
    }

    /// The number of bytes that the commit takes in a segment, header included: what to give to ``Journal/reserve(_:)``.
    public var encodedByteCount: Int { bytes.count }

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
        let tail = UInt32(erasable.byteCount) << 2 | UInt32(RecordState.whole.rawValue)
        let length = 4 + LEB128.size(keptLength) + LEB128.size(tail) + kept.byteCount + JournalLimits.recordSalt + erasable.byteCount
        guard bytes.count + length <= JournalLimits.commitBytes else {
            throw JournalError(.tooLarge, "The commit would exceed \(JournalLimits.commitBytes) bytes.")
        }
        for _ in 0..<4 { bytes.append(0) }
        LEB128.append(keptLength, to: &bytes)
        LEB128.append(tail, to: &bytes)
        kept.append(to: &bytes)
        bytes += Self.saltRoom
        erasable.append(to: &bytes)
        recordCount += 1
    }

    /// Calls a closure with the records so far, in their order: what a log other than a journal on files stores of a commit.
    ///
    /// - Parameter body: Is given the kept and the erasable part, valid only during the call.
    /// - Throws: What `body` throws, which ends the reading.
    /// - Complexity: Linear in the number of records; nothing is copied.
    public borrowing func forEachRecord<Failure: Error>(
        _ body: (_ kept: RawSpan, _ erasable: RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        try bytes.withBytes(0..<bytes.count) { (bytes) throws(Failure) in
            var cursor = CommitHeader.size
            while cursor < bytes.byteCount {
                guard case .record(let layout) = RecordLayout.decode(bytes, at: cursor) else {
                    preconditionFailure("a draft holds whole records only")
                }
                let record = bytes.extracting(cursor..<(cursor + layout.length))
                try body(record.extracting(layout.kept), record.extracting(layout.erasable))
                cursor += layout.length
            }
        }
    }

    /// A place in a draft, to come back to.
    public struct Mark: Sendable {
        fileprivate let byteCount: Int
        fileprivate let recordCount: Int
    }

    /// The place after the records so far.
    public var mark: Mark { Mark(byteCount: bytes.count, recordCount: recordCount) }

    /// Takes back the records that were added after a mark of this draft.
    ///
    /// - Precondition: The draft has not become shorter since the mark.
    public mutating func removeRecords(after mark: Mark) {
        bytes.removeLast(bytes.count - mark.byteCount)
        recordCount = mark.recordCount
    }

    /// Empties the draft and keeps its memory.
    public mutating func removeAll() {
        bytes.removeLast(bytes.count - CommitHeader.size)
        recordCount = 0
    }
}
