internal import Locking
package import MerkleLog

// The hashes of the complete subtrees of 256 records are in memory, and those of synced records in
// the tree file as well. Erasing content changes no leaf, so both stay valid.

/// The tree file and what a writer knows of it.
struct TreeFileState {
    var file: TreeFile
    /// Whether ``Journal/close()`` has begun; the file must not be written afterwards.
    var isClosed = false
    /// Whether a failed write was reported to the log of the host program.
    var isFailureReported = false
    /// The number of valid pages when the file was loaded.
    var loadedPageCount = 0
}

extension Journal {
    /// Loads the tree file, unless it was loaded before.
    ///
    /// The journal must contain the head of the last page. Otherwise all pages are of another
    /// history, and nothing is loaded.
    package func loadStoredTree() {
        if tree.hashes.withLock({ $0.isLoaded }) { return }
        treeFile.withLock { stored in
            if tree.hashes.withLock({ $0.isLoaded }) { return }
            let pages = validPages(of: stored.file)
            stored.file.keep(pages)
            stored.loadedPageCount = pages.count
            tree.hashes.withLock { hashes in
                for page in pages { for hash in page.hashes { hashes.rows.append(hash) } }
                hashes.isLoaded = true
            }
        }
    }

    /// Returns the pages of the tree file whose records the journal contains.
    ///
    /// If the head cannot be read, no page is used. The reads of the records report the reason.
    private func validPages(of file: TreeFile) -> [TreePage] {
        let pages = file.pages(through: published.withLock { $0.syncedPosition })
        guard let last = pages.last, (try? contains(last.head)) == true else { return [] }
        return pages
    }

    /// Returns the hashes of the tree file's pages whose records the journal contains, for a
    /// comparison with the records.
    package func storedTree() -> MerkleRows {
        var rows = MerkleRows(step: tree.layout.subtreeHeight)
        for page in validPages(of: TreeFile(directory, id, tree.layout)) {
            for hash in page.hashes { rows.append(hash) }
        }
        return rows
    }
}

extension Journal {
    /// Stores the next page of the tree in the background if its records are synced.
    ///
    /// - Parameter isBusy: See ``scheduleTreePage(isBusy:)``.
    func storeTreeIfDue(isBusy: Bool) {
        if state.withLock({ $0.takeTreePageIfDue() }) { scheduleTreePage(isBusy: isBusy) }
    }

    /// Stores the next page in the background.
    ///
    /// - Parameter isBusy: Whether records are being appended. A page needs the time of many
    ///   appends, so a busy journal stores one after each pause, and an idle one stores all.
    func scheduleTreePage(isBusy: Bool) {
        let position = lastPosition
        // Weak, and one page a job: a journal that is released does not wait for the whole tree.
        let job: @Sendable () -> Void = { [weak self] in self?.storeTreePageInBackground(since: position) }
        // An injected executor has no clock.
        if isBusy && !treeBackground.hasInjectedExecutor {
            treeBackground.run(after: treePause, job)
        } else {
            treeBackground.run(job)
        }
    }

    /// Stores a page, and schedules the next one.
    ///
    /// - Parameter position: The last position when the job was scheduled.
    private func storeTreePageInBackground(since position: Position) {
        var next: Position
        do throws(JournalError) {
            next = try storeTreePage()
        } catch {
            // The file ends earlier. A later page is tried when it is complete.
            next = published.withLock { $0.syncedPosition } + tree.layout.recordsPerPage
            reportTreeFailure(error)
        }
        state.withLock { $0.treePageDuePosition = next }
        storeTreeIfDue(isBusy: lastPosition != position)
    }

    /// Stores the pages that the appends since the opening have completed, and one more.
    ///
    /// The background work stores one page after each pause, so many openings that are shorter
    /// would leave the file further behind with each one.
    ///
    /// - Complexity: Hashes the records of these pages, unless the background work did.
    package func storeCompletedTreePages() {
        let height = Position(tree.layout.pageHeight)
        let (first, last) = (recovery.lastPosition >> height, published.withLock { $0.syncedPosition } >> height)
        guard !isReadOnly, last > 0, state.withLock({ $0.unwrittenRecovery == nil }) else { return }
        loadStoredTree()
        let end = treeFile.withLock { min(Position($0.loadedPageCount) + last - min(first, last) + 1, last) }
        do throws(JournalError) {
            while treeFile.withLock({ Position($0.file.pageCount) }) < end, try storeTreePage() != .max {}
        } catch {
            reportTreeFailure(error)
        }
    }

    private func reportTreeFailure(_ error: JournalError) {
        let isNew = treeFile.withLock { stored in
            defer { stored.isFailureReported = true }
            return !stored.isFailureReported && !stored.isClosed
        }
        guard isNew else { return }
        log?(
            LogMessage(
                .warning, "The tree file could not be written; proofs take longer. \(error)",
                metadata: ["path": directory.path, "code": error.code.rawValue]))
    }

    /// Writes the next page of the tree file if its records are synced.
    ///
    /// Only synced records have a page: after a power failure under `.written`, other records can
    /// have the positions of the lost ones.
    ///
    /// - Returns: The position at which the next page is complete; the maximum if this journal
    ///   writes no more pages.
    /// - Throws: `closed`, `damaged`, `ioFailed`, `storageFull`.
    package func storeTreePage() throws(JournalError) -> Position {
        loadStoredTree()
        let (pageCount, isClosed) = treeFile.withLock { ($0.file.pageCount, $0.isClosed) }
        let end = Position(pageCount + 1) << Position(tree.layout.pageHeight)
        // A job for a page that is due would otherwise schedule itself until the journal is closed.
        if isReadOnly || isClosed { return .max }
        guard published.withLock({ $0.syncedPosition }) >= end else { return end }
        try tree.extend(to: end, of: self)
        let range = pageCount * tree.layout.hashesPerPage..<(pageCount + 1) * tree.layout.hashesPerPage
        let hashes = tree.hashes.withLock { $0.isEnding ? [] : Array($0.rows.lowest[range]) }
        // The journal is being closed.
        if hashes.isEmpty { return .max }
        // A synced position is the end of a commit, so the commit of the last record is synced.
        let page = TreePage(hashes: hashes, head: try head(at: end))
        return try treeFile.withLock { (stored) throws(JournalError) in
            if stored.isClosed { return .max }
            if stored.file.pageCount != pageCount { return end }
            try stored.file.append(page)
            return end + tree.layout.recordsPerPage
        }
    }

    /// Ends the background work on the tree; no file of it is written afterwards.
    ///
    /// Waits for one write of a page, or for the loading of the file.
    func endTreeWork() {
        tree.hashes.withLock { $0.isEnding = true }
        treeFile.withLock { $0.isClosed = true }
    }
}

extension JournalState {
    /// Whether the records of the next page of the tree are synced; if so, marks it as scheduled.
    mutating func takeTreePageIfDue() -> Bool {
        guard syncedPosition >= treePageDuePosition, !isClosed else { return false }
        treePageDuePosition = .max
        return true
    }
}
