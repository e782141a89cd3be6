internal import Locking
internal import Primitives
private import Synchronization

/// A log that can erase the erasable parts of its records.
///
/// The log does not record why. The caller first appends a record that orders the erasure, then
/// calls ``eraseContent(of:orderedThrough:)``. After a crash it compares its orders with
/// ``erasedThrough`` and repeats the call.
public protocol ErasableLog: CommitLog {
    /// The records whose content reads deliver as erased although the log may still have it.
    var hiddenContent: PositionSet { get }

    /// Delivers the content of these records as erased from now on, and that of no others.
    ///
    /// A read that is in progress obeys from its next record on. The setting ends with the process.
    func setHiddenContent(_ positions: PositionSet)

    /// Removes the content of records for good; their kept parts, positions and chain values stay.
    ///
    /// Records that have no content are unchanged. When the call returns, no file of the log has
    /// the content any more. After an error some records may have lost it; a repeated call does the
    /// rest.
    ///
    /// - Parameters:
    ///   - positions: At most ``CommitLog/lastPosition``.
    ///   - order: The position of the last record that orders an erasure. On success,
    ///     ``erasedThrough`` returns it.
    /// - Throws: `outOfRange`, `readOnly`, `closed`, `storageFull` and `ioFailed`, or the error
    ///   that stopped the log.
    func eraseContent(of positions: PositionSet, orderedThrough order: Position) throws(JournalError)

    /// The position up to which all orders have been carried out; nil if the log does not know.
    ///
    /// The log does not know it in a copy, after a file was restored, or if its ledger has changed
    /// since.
    var erasedThrough: Position? { get }

    /// Reads the ledger, a small file in which the caller lists the erasures; nil if there is none.
    ///
    /// The ledger stays when older files are restored beside it, so it can list erasures that the
    /// records do not order.
    ///
    /// - Throws: `closed`, `tooLarge` and `ioFailed`.
    func readLedger() throws(JournalError) -> [UInt8]?

    /// Replaces the ledger durably, as a whole.
    ///
    /// - Throws: `readOnly`, `closed`, `storageFull`, `ioFailed` and `syncFailed`. After the last
    ///   three the ledger is the former or the new one.
    func writeLedger(_ bytes: [UInt8]) throws(JournalError)
}

extension Journal: ErasableLog {
    /// The records whose content reads deliver as erased although the files may still have it.
    public var hiddenContent: PositionSet { published.withLock { $0.hiddenContent } }

    /// Delivers the content of these records as erased from now on, and that of no others.
    ///
    /// A read that is in progress obeys from its next record on. The setting ends with the journal
    /// object.
    public func setHiddenContent(_ positions: PositionSet) {
        published.withLock { $0.setHiddenContent(positions) }
        // The writer of a journal that is open for reading only replaces the files.
        if isReadOnly { sealedSegments.removeAll() }
        hiddenContentVersion.add(1, ordering: .acquiringAndReleasing)
    }

    /// The position up to which all orders have been carried out, from a note in the directory.
    ///
    /// Nil if the note is missing, damaged or of another journal; if the segments have other
    /// generations than when it was written, because one of them may have been restored; and if the
    /// ledger is another one.
    ///
    /// - Complexity: Reads the note and the whole ledger, at most ``JournalLimits/ledgerBytes``.
    public var erasedThrough: Position? {
        guard let note = directory.note(JournalFileName.erased, of: id), note.value == erasureMark(through: .max),
            let checksum = try? ledgerChecksum(), note.checksum == checksum
        else { return nil }
        return note.position
    }

    /// Removes the content of records from all files; their kept parts, positions and chain values
    /// stay.
    ///
    /// Each segment with such content is written again with stubs, under a temporary name and with
    /// the next generation, synced, and renamed over the former file. A power failure leaves the
    /// one or the other. The directory's checkpoints, and the bytes that recovery has cut, are
    /// removed. The last segment is sealed first if it has any of the records.
    ///
    /// Appends and reads continue meanwhile. Storage devices may keep copies of removed bytes,
    /// which no file contains.
    ///
    /// - Parameters:
    ///   - positions: At most ``lastPosition``. Records without content are unchanged.
    ///   - order: The position of the last record that orders an erasure. It is noted, so that
    ///     ``erasedThrough`` returns it.
    /// - Throws: `outOfRange`, `readOnly`, `closed`, `storageFull` (a segment needs its own size),
    ///   `ioFailed`, `syncFailed`, `damaged`, or the error that stopped the journal. Some segments
    ///   may have lost the content then, and a repeated call does the rest.
    /// - Complexity: Reads the records, and reads and writes each segment that has such content.
    public func eraseContent(of positions: PositionSet, orderedThrough order: Position) throws(JournalError) {
        try checkNotReadOnly()
        try erasure.withLock { (_) throws(JournalError) in
            // The journal stays open until the end, because closing it waits for this lock.
            try checkFiles()
            if let last = positions.ranges.last {
                guard positions.ranges[0].lowerBound >= 1, last.upperBound <= lastPosition else {
                    throw JournalError(
                        .outOfRange, "The journal holds the positions from 1 to \(lastPosition).", path: directory.path,
                        positions: last)
                }
                try synchronize()
                if published.withLock({ $0.active.header.firstPosition }) <= last.upperBound {
                    try rotate(for: 0, always: true)
                }
                for (start, next) in sealedRanges() {
                    try rewrite(start, to: next, erasing: positions.clamped(to: start.position...next.position - 1))
                }
            }
            try directory.removeCopiesOfContent()
            let note = JournalNote(order, erasureMark(through: .max), checksum: try ledgerChecksum())
            directory.tryToWrite(note, JournalFileName.erased, of: id)
        }
    }

    private func sealedRanges() -> [(start: SegmentStart, next: SegmentStart)] {
        let (starts, active) = published.withLock { ($0.sealedStarts, SegmentStart($0.active.header)) }
        return Array(zip(starts, starts.dropFirst() + [active]))
    }

    /// Replaces a sealed segment's file by one without the content of some of its records.
    private func rewrite(_ start: SegmentStart, to next: SegmentStart, erasing positions: PositionSet)
        throws(JournalError)
    {
        if positions.isEmpty { return }
        let segment = try sealedSegments.segment(from: start, to: next)
        // An earlier call may have failed after it had replaced the file.
        if segment.header.generation != start.generation { publish(segment.header) }
        var search = ContentSearch(positions: positions)
        try read(segment, &search)
        guard search.isFound else { return }
        let header = state.withLock { state in
            SegmentHeader(
                journal: id, firstPosition: start.position, chain: start.chain, salt: state.entropy.next(),
                generation: segment.header.generation &+ 1)
        }
        var writer = try SegmentWriter(creating: header, in: directory)
        do throws(JournalError) {
            var visitor = StubbingVisitor(writer: writer, positions: positions)
            defer { writer = visitor.writer }
            try read(segment, &visitor)
            if let failure = visitor.failure { throw failure }
            try visitor.writer.finishCommit()
            // Nothing else compares the new file with the old one before it takes its place.
            guard visitor.writer.chain == next.chain, visitor.writer.lastPosition == next.position - 1 else {
                throw JournalError(
                    .damaged, "The segment could not be written again: its records would differ.", path: directory.path,
                    segment: segment.name, positions: start.position...next.position - 1)
            }
            try visitor.writer.finish(sealed: true)
        } catch {
            writer.abandon()
            // The file may have been replaced, so a repeated call opens it again.
            sealedSegments.remove(from: start.position)
            // The system reports a failed sync only once, so a repeated one would prove nothing.
            if error.code == .syncFailed { updateState { $0.stop(error) } }
            throw error
        }
        publish(header)
        sealedSegments.remove(from: start.position)
    }

    /// Publishes the generation of a sealed segment.
    private func publish(_ header: SegmentHeader) {
        updateState { state in
            guard let index = state.sealedStarts.firstIndex(where: { $0.position == header.firstPosition }) else {
                return
            }
            state.sealedStarts[index] = SegmentStart(header)
            let starts = state.sealedStarts
            published.withLock { $0.setSealedStarts(starts) }
        }
    }

    private func read<Visitor: CommitVisitor>(_ segment: Segment, _ visitor: inout Visitor) throws(JournalError) {
        var reader = CommitReader(
            segment, from: UInt64(SegmentHeader.size), position: segment.header.firstPosition,
            chain: segment.header.chain,
            end: segment.end)
        _ = try reader.readRequired(through: segment.lastPosition, of: directory, &visitor)
    }
}

extension JournalDirectory {
    /// Removes the files that can contain content beside the segments: checkpoints, and bytes that
    /// recovery has cut.
    ///
    /// No writer of a checkpoint may be at work.
    func removeCopiesOfContent() throws(JournalError) {
        let directory = self
        let cut = JournalDirectory(directory.file(JournalFileName.cut), directory.storage)
        try cut.checkIsNoLink()
        try convertingStorageErrors { () throws(StorageError) in
            let temporary = JournalFileName.temporarySuffix
            for name in try directory.storage.list(directory.path)
            where JournalFileName.isCheckpoint(
                name.hasSuffix(temporary) ? String(name.dropLast(temporary.count)) : name)
            {
                try directory.storage.remove(directory.file(name))
            }
            if try directory.storage.kind(of: cut.path) != nil {
                for name in try directory.storage.list(cut.path) { try directory.storage.remove(cut.file(name)) }
                try directory.storage.syncDirectory(cut.path)
            }
            try directory.storage.syncDirectory(directory.path)
        }
    }
}

/// Finds out whether any of some records has content.
private struct ContentSearch: CommitVisitor {
    let positions: PositionSet
    private(set) var isFound = false

    init(positions: PositionSet) { self.positions = positions }

    mutating func visitRecord(_ place: RecordLocation, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool
    {
        if layout.hasErasableContent, positions.contains(place.position) { isFound = true }
        return !isFound
    }
}

/// Passes the commits of a segment to a writer, with stubs in the place of some records.
private struct StubbingVisitor: CommitVisitor {
    var writer: SegmentWriter
    let positions: PositionSet
    private(set) var failure: JournalError?

    init(writer: SegmentWriter, positions: PositionSet) { (self.writer, self.positions) = (writer, positions) }

    mutating func beginCommit(_ header: CommitHeader, at offset: UInt64) -> Bool { failure == nil }

    mutating func visitRecord(_ place: RecordLocation, _ layout: RecordLayout, _ bytes: RawSpan, chain: UInt64) -> Bool
    {
        guard layout.hasErasableContent, positions.contains(place.position) else {
            add(bytes, layout)
            return failure == nil
        }
        layout.stub(of: bytes).withBytes { stub in
            guard case .record(let layout) = RecordLayout.decode(stub, at: 0) else {
                preconditionFailure("A stub is a record.")
            }
            add(stub, layout)
        }
        return failure == nil
    }

    mutating func endCommit(_ header: CommitHeader, at offset: UInt64) { finishCommit() }

    private mutating func add(_ record: RawSpan, _ layout: RecordLayout) {
        // Stubs can be longer than their records, so a commit of many short records may exceed the
        // limit and is divided.
        if writer.commitLength + record.byteCount > JournalLimits.commitBytes { finishCommit() }
        writer.add(record, layout)
    }

    private mutating func finishCommit() {
        guard failure == nil else { return }
        do throws(JournalError) { try writer.finishCommit() } catch { failure = error }
    }
}
