internal import Locking

extension Journal: CommitLog {
    /// Waits until a position after `position` is durable, without blocking a thread, and returns
    /// the durable position.
    ///
    /// A read-only journal polls the writer's files: after 2 ms at first, then at growing intervals
    /// of at most 50 ms. Each poll reads the files on the task's thread.
    ///
    /// - Throws: `outOfRange` (`position` is beyond ``lastPosition``). If no later position is
    ///   durable: `closed` after the journal is closed, the error that stopped the journal, and
    ///   `cancelled` after the task is cancelled. A read-only journal also throws the errors of
    ///   ``refresh()``, and `moved` behind the last record of a journal that has moved.
    /// - Complexity: Constant, with a few words of memory for each waiting task. A read-only
    ///   journal calls ``refresh()`` for each poll.
    public func waitForRecords(after position: Position) async throws(JournalError) -> Position {
        isReadOnly ? try await pollForRecords(after: position) : try await published.waitForRecords(after: position)
    }

    /// Polls for each look at the journal's role: one look a second.
    private static let pollsPerRoleCheck = 20

    private func pollForRecords(after position: Position) async throws(JournalError) -> Position {
        var (pause, count) = (2, 0)
        while true {
            let durable = try published.withLock { (published) throws(JournalError) in
                try published.durablePosition(after: position)
            }
            if let durable { return durable }
            do {
                try await Task.sleep(for: .milliseconds(pause))
            } catch {
                throw .cancelledWait
            }
            pause = min(2 * pause, 50)
            if published.withLock({ $0.isClosed }) { continue }
            // Before the refresh: a journal moves after its last commit.
            let place = count % Self.pollsPerRoleCheck == 0 ? try movedTo() : nil
            count += 1
            if let place, try refresh() <= position { throw JournalError(.moved(to: place), path: directory.path) }
            _ = try refresh()
        }
    }
}

extension Journal {
    /// Reads what the writing process has made durable since the last refresh.
    ///
    /// Reads only new bytes: under `.synced` up to the position in the durable slot, under
    /// `.written` every complete commit. Does nothing on a journal that is open for writing.
    ///
    /// - Returns: The last position that may be shown.
    /// - Throws: `damaged` (the new bytes are not valid, or existing records are missing),
    ///   `notFound` (the journal was removed or moved), `closed`, `ioFailed`.
    /// - Complexity: Linear in the bytes of the new records; a few small reads when there are none.
    @discardableResult
    public func refresh() throws(JournalError) -> Position {
        guard isReadOnly else { return durablePosition }
        do throws(JournalError) {
            return try applyNewCommits()
        } catch {
            guard error.code != .closed, isRemoved() else { throw error }
            throw JournalError(
                .notFound, "The journal has been removed or moved: its directory is gone.", path: directory.path)
        }
    }

    /// Whether the journal's files are gone from its path.
    ///
    /// Retries for up to 100 ms, because the files of a journal that is being removed disappear one
    /// after another.
    private func isRemoved() -> Bool {
        var attempts = 20
        while true {
            do throws(JournalError) {
                try Self.checkReadable(directory)
                let durable = directory.file(JournalFileName.durable)
                guard try convertingErrors(of: directory.storage.kind(of: durable)) == nil else { return false }
            } catch {
                return error.code == .notFound
            }
            attempts -= 1
            if attempts == 0 { return false }
            SystemCalls.pause(.milliseconds(5))
        }
    }

    private func applyNewCommits() throws(JournalError) -> Position {
        try syncState.withLock { (sync) throws(JournalError) in
            reopenReplacedSegments(&sync)
            let isClosed = published.withLock { $0.isClosed }
            if isClosed { throw JournalError.closedJournal(at: directory.path) }
            let slot = try newestSlot(notBefore: sync.slotPosition)
            guard slot.journal == id else {
                throw JournalError(
                    .damaged, "The journal has been replaced by the journal \(slot.journal).", path: directory.path)
            }
            guard slot.position >= sync.slotPosition else {
                throw JournalError(
                    .damaged, "The journal was set back: an older copy is in its place.", path: directory.path,
                    positions: (slot.position + 1)...sync.slotPosition)
            }
            sync.slotPosition = slot.position
            // The writer writes a slot only after it has synced the records that the slot covers,
            // so all of them are readable.
            let limit = slot.durability == .synced ? slot.position : .max
            while try advance(upTo: limit) {}
            let last = lastPosition
            guard last >= slot.position else {
                throw JournalError(
                    .damaged, "Synced records are missing.", path: directory.path, positions: (last + 1)...slot.position
                )
            }
            return last
        }
    }

    /// Reads the newest slot, again for up to 100 ms while it lies before a position: of a slot
    /// that is being written only the one before can be read.
    private func newestSlot(notBefore position: Position) throws(JournalError) -> DurableSlot {
        for _ in 0..<20 {
            let slot = try DurableSlots(directory, .read).newest
            if slot.position >= position { return slot }
            SystemCalls.pause(.milliseconds(5))
        }
        return try DurableSlots(directory, .read).newest
    }

    /// Closes the files of segments once the writer has carried out an erasure that this reader
    /// knows, so that no removed file stays open.
    private func reopenReplacedSegments(_ sync: inout SyncState) {
        if hiddenContent.isEmpty { return }
        // The generations that this reader knows may be older than the note.
        let erased = directory.note(JournalFileName.erased, of: id)?.position ?? 0
        if erased > sync.erasedThrough { sealedSegments.removeAll() }
        sync.erasedThrough = erased
    }

    /// Reads new commits of the last known segment and opens the next one; true when that segment
    /// may contain more.
    private func advance(upTo limit: Position) throws(JournalError) -> Bool {
        var (segment, chain) = state.withLock { ($0.active, $0.lastChain) }
        guard segment.lastPosition < limit else { return false }
        // Recovery by a writer replaces an empty segment with a new one.
        if segment.isEmpty { segment = try open(segment.header.firstPosition, after: chain).segment }
        let (scan, following) = try scanNewCommits(segment, after: chain, upTo: limit)
        // A problem before the limit is damage if the writer cannot still be writing there: under
        // `.synced` always, under `.written` if a next segment exists.
        if let problem = scan.problem, scan.segment.lastPosition < limit, limit != .max || following != nil {
            throw JournalError(
                .damaged, problem.message, path: directory.file(segment.name), segment: segment.name,
                bytes: problem.bytes,
                positions: problem.positions)
        }
        updateState { state in
            state.metrics.recordApplied(bytes: scan.segment.end - segment.end)
            state.active = scan.segment
            (state.lastPosition, state.lastChain) = (scan.segment.lastPosition, scan.chain)
            (state.syncedPosition, state.syncedChain) = (scan.segment.lastPosition, scan.chain)
            if let following { state.rotate(in: following, allocated: following.end) }
        }
        return following != nil
    }

    /// Reads the new commits of a segment, and opens the segment that follows it.
    ///
    /// The writer may seal the segment or truncate unused space at the same time. Incomplete bytes,
    /// and bytes missing from a file that has become shorter, are then read again.
    private func scanNewCommits(
        _ segment: Segment, after chain: UInt64, upTo limit: Position
    ) throws(JournalError) -> (SegmentScan, following: Segment?) {
        let file = segment.file
        var attempts = 8
        while true {
            attempts -= 1
            let size = try convertingErrors(of: file.size())
            guard size >= segment.end else {
                throw JournalError(
                    .damaged, "The file was truncated while it was read: it ends before its records.",
                    path: directory.file(segment.name),
                    segment: segment.name, bytes: size..<segment.end)
            }
            var scan = SegmentScan(segment, after: chain, size: size, limit: limit)
            do throws(JournalError) {
                // Usually nothing is new, and the rest of the file is reserved space that need not
                // be read.
                if try convertingErrors(of: file.hasLength(at: segment.end)) { try scan.run() }
            } catch {
                let now = try convertingErrors(of: file.size())
                if attempts > 0 && now != size { continue }
                throw error
            }
            let following = scan.segment.lastPosition < limit ? try openNextSegment(scan) : nil
            if scan.problem == nil || following == nil || attempts <= 0 { return (scan, following) }
        }
    }

    /// Returns the segment that follows the end of this one, or nil if it does not exist.
    private func openNextSegment(_ scan: SegmentScan) throws(JournalError) -> Segment? {
        let first = scan.segment.lastPosition + 1
        guard !scan.segment.isEmpty else { return nil }
        let path = directory.file(JournalFileName.segment(first))
        guard try convertingErrors(of: directory.storage.kind(of: path)) != nil else { return nil }
        return try open(first, after: scan.chain).segment
    }

    private func open(_ first: Position, after chain: UInt64) throws(JournalError) -> SegmentFile {
        let opened = try SegmentFile(directory, first: first, .read, journal: id)
        guard opened.segment.header.chain == chain else {
            throw JournalError(
                .damaged, "The segment's chain value does not follow from the records before it.",
                path: directory.file(opened.segment.name), segment: opened.segment.name,
                bytes: 0..<UInt64(SegmentHeader.size),
                positions: first...first)
        }
        return opened
    }
}

extension StorageFile {
    /// Whether a commit or a footer may start at `offset`: both start with a length, which is never
    /// zero.
    fileprivate func hasLength(at offset: UInt64) throws(StorageError) -> Bool {
        var length: [UInt8] = [0, 0, 0, 0]
        _ = try fill(&length, 0..<4, from: offset)
        return length != [0, 0, 0, 0]
    }
}
