import Primitives

/// Frames commits: adds salt, checksums, headers, chain values and index entries to records.
///
/// Framed commits accumulate in a reused buffer until one write stores them. This type frames every
/// commit of this version: appended commits, and commits of a copy, a backup or a repair, whose
/// records keep their stored bytes.
struct CommitFramer {
    /// The framed commits, followed by the records of the unfinished commit; the rest is unused.
    private var buffer: [UInt8] = []
    /// The number of bytes of the framed commits.
    private(set) var byteCount = 0
    /// The number of framed commits.
    private(set) var commitCount = 0
    /// The last position and the chain value before the framed drafts.
    private var base: (position: Position, chain: UInt64) = (0, 0)
    /// The lengths and checksums of the unfinished commit's records.
    private var lengths: [UInt32] = []
    private var sums = Sums(after: 0)

    /// The checksums of a commit's header over its records.
    private struct Sums {
        var chain: UInt64
        var recordsCRC: UInt32 = 0

        init(after chain: UInt64) { self.chain = chain }

        @inline(__always)
        mutating func add(_ stored: UInt32, original: UInt32) {
            recordsCRC = CRC32C.checksum(of: stored, continuing: recordsCRC)
            chain = Chain.step(chain, record: original)
        }
    }

    /// Whether the buffer contains no framed commits.
    var isEmpty: Bool { byteCount == 0 }

    /// The length of the unfinished commit in bytes; 0 if it has no records.
    private(set) var commitLength = 0

    // MARK: Appending

    /// Frames a draft's records as one commit after those of a segment, and updates the segment.
    ///
    /// - Parameters:
    ///   - chain: The chain value before the commit; on return, the value after it.
    ///   - synced: The last synced position.
    mutating func frame(
        _ draft: borrowing CommitDraft, behind segment: inout Segment, _ chain: inout UInt64, synced: Position,
        _ entropy: inout EntropyPool
    ) {
        if isEmpty { base = (segment.lastPosition, chain) }
        reserve(byteCount + draft.encodedByteCount)
        let sums = Self.addSaltAndChecksums(draft, in: &buffer, at: byteCount, &entropy, after: chain)
        let lengths = draft.records.lazy.map { $0.length }
        writeHeader(
            lengths, count: UInt32(draft.recordCount), length: draft.encodedByteCount, sums, behind: &segment,
            synced: synced)
        chain = sums.chain
    }

    /// Returns the records of a draft in their stored form, one after another.
    static func records(of draft: borrowing CommitDraft, _ entropy: inout EntropyPool) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: draft.encodedByteCount)
        _ = addSaltAndChecksums(draft, in: &bytes, at: 0, &entropy, after: 0)
        return Array(bytes[CommitHeader.size...])
    }

    // MARK: Copying

    /// Adds a stored record to the unfinished commit.
    ///
    /// `chain` is the value before the commit.
    mutating func add(_ record: RawSpan, _ layout: RecordLayout, after chain: UInt64) {
        if lengths.isEmpty { (sums, commitLength) = (Sums(after: chain), CommitHeader.size) }
        let start = byteCount + commitLength
        commitLength += record.byteCount
        reserve(byteCount + commitLength)
        buffer.withMutableBytes(start..<start + record.byteCount) { $0.storeBytes(record, at: 0) }
        let stored: UInt32 = record.integer(at: 0)
        sums.add(stored, original: layout.originalCRC(record, at: 0, stored: stored))
        lengths.append(UInt32(record.byteCount))
    }

    /// Frames the added records as one commit, as ``frame(_:behind:_:synced:_:)`` does.
    ///
    /// Does nothing if the commit has no records.
    mutating func finishCommit(behind segment: inout Segment, _ chain: inout UInt64, synced: Position) {
        if lengths.isEmpty { return }
        if isEmpty { base = (segment.lastPosition, chain) }
        // Moved out and back: the call changes `self`, and the array keeps its capacity.
        var records: [UInt32] = []
        swap(&records, &lengths)
        writeHeader(records, count: UInt32(records.count), length: commitLength, sums, behind: &segment, synced: synced)
        chain = sums.chain
        records.removeAll(keepingCapacity: true)
        swap(&records, &lengths)
        commitLength = 0
    }

    // MARK: The framed commits

    /// Writes the framed commits with one write and removes them from the buffer.
    ///
    /// `end` is the offset in the file after the last framed commit.
    mutating func write(to file: any StorageFile, endingAt end: UInt64) throws(StorageError) {
        let offset = end - UInt64(byteCount)
        try buffer.withBytes(0..<byteCount) { (bytes) throws(StorageError) in try file.write(bytes, at: offset) }
        (byteCount, commitCount) = (0, 0)
    }

    /// Removes the framed drafts from a segment and resets the chain value to the one before them.
    mutating func discard(from segment: inout Segment, _ chain: inout UInt64) {
        if isEmpty { return }
        segment.index.remove(from: base.position + 1 - segment.header.firstPosition)
        segment.end -= UInt64(byteCount)
        (segment.lastPosition, chain) = base
        (byteCount, commitCount) = (0, 0)
    }

    private mutating func reserve(_ count: Int) {
        if count > buffer.count {
            buffer += [UInt8](repeating: 0, count: max(count - buffer.count, min(buffer.count, 1 << 20)))
        }
    }

    /// Writes a commit's header before its records and updates the segment.
    private mutating func writeHeader(
        _ lengths: some Sequence<UInt32>, count: UInt32, length: Int, _ sums: Sums, behind segment: inout Segment,
        synced: Position
    ) {
        let header = CommitHeader(
            length: UInt32(length), recordCount: count, firstPosition: segment.lastPosition + 1, syncedPosition: synced,
            chain: sums.chain, recordsCRC: sums.recordsCRC)
        header.encode(into: &buffer, at: byteCount, seed: segment.framingSeed)
        let relative = header.firstPosition - segment.header.firstPosition
        segment.index.addEntry(relative, at: segment.end, recordsLeft: 0)
        var offset = segment.end + UInt64(CommitHeader.size)
        var recordsLeft = count
        for length in lengths {
            segment.index.addEntry(relative + UInt64(count - recordsLeft), at: offset, recordsLeft: recordsLeft)
            offset += UInt64(length)
            recordsLeft -= 1
        }
        segment.end += UInt64(length)
        segment.lastPosition = header.lastPosition
        byteCount += length
        commitCount += 1
    }

    // MARK: Records

    /// Copies a draft's bytes to a buffer and adds salt and checksums to its records.
    private static func addSaltAndChecksums(
        _ draft: borrowing CommitDraft, in buffer: inout [UInt8], at start: Int, _ entropy: inout EntropyPool,
        after chain: UInt64
    ) -> Sums {
        var sums = Sums(after: chain)
        buffer.withMutableBytes(start..<start + draft.encodedByteCount) { commit in
            draft.bytes.withBytes(0..<draft.encodedByteCount) { commit.storeBytes($0, at: 0) }
            var cursor = CommitHeader.size
            for record in draft.records {
                let end = cursor + Int(record.length)
                let salt: RecordSalt = entropy.next()
                var original: UInt32?
                if record.isStub {
                    original = completeStub(record, in: &commit, at: cursor, salt)
                } else {
                    commit.storeBytes(
                        of: salt.littleEndian, toByteOffset: cursor + Int(record.keptEnd), as: RecordSalt.self)
                }
                let crc = CRC32C.checksum(of: commit.bytes.extracting(cursor + 4..<end))
                commit.storeBytes(of: crc.littleEndian, toByteOffset: cursor, as: UInt32.self)
                sums.add(crc, original: original ?? crc)
                cursor = end
            }
        }
        return sums
    }

    /// Adds the digest and the original checksum to a stub, and returns the checksum.
    ///
    /// Both are those of the whole record with this salt and an empty erasable part.
    private static func completeStub(
        _ record: CommitDraft.Record, in commit: inout MutableRawSpan, at cursor: Int, _ salt: RecordSalt
    ) -> UInt32 {
        let saltBytes = (0..<JournalLimits.recordSaltByteCount).map {
            UInt8(truncatingIfNeeded: salt >> RecordSalt(8 * $0))
        }
        var whole: [UInt8] = []
        commit.bytes.extracting(cursor + 4..<cursor + Int(record.keptEnd)).append(to: &whole)
        // The byte before the kept part contains the state and no length. 5 = that byte, and the 4
        // bytes of the CRC field, which `whole` lacks.
        whole[Int(record.keptStart) - 5] = RecordContentState.whole.rawValue
        whole += saltBytes
        let crc = CRC32C.checksum(of: whole)
        let digest = cursor + Int(record.keptEnd)
        for (offset, byte) in SHA256.hash(saltBytes).enumerated() { commit.storeByte(byte, at: digest + offset) }
        commit.storeBytes(of: crc.littleEndian, toByteOffset: digest + RecordLayout.digestByteCount, as: UInt32.self)
        return crc
    }
}
