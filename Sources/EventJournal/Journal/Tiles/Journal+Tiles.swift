extension Journal {
    /// Writes the tree of the durable records to a directory as static files, or continues one.
    ///
    /// Otherwise the same as ``writeTiles(to:includingEntries:on:)``, on the same storage.
    @discardableResult
    public func writeTiles(to destination: String, includingEntries: Bool) throws(JournalError) -> TilesReport {
        try writeTiles(to: destination, includingEntries: includingEntries, on: nil)
    }

    /// Writes the tree of the durable records to a directory as static files, or continues one.
    ///
    /// The layout is that of C2SP *tlog-tiles*: the tree checkpoint `checkpoint` (not signed),
    /// `tile/L/N` and `tile/L/N.p/W`. A repeated run writes only what is missing since the
    /// directory's tree checkpoint. The tree checkpoint is written last, so that a reader who sees
    /// it finds its tiles. An interrupted run changes no tree checkpoint, and the next run
    /// completes it. Records that are not synced are synced first. New files and directories are
    /// accessible for their owner only.
    ///
    /// Tiles contain hashes only. An entry contains the kept part of its record.
    ///
    /// - Parameters:
    ///   - destination: The directory; created if it does not exist. It must be empty, or have the
    ///     tree checkpoint of an earlier run.
    ///   - includingEntries: Whether to write the bundles `tile/entries/N` as well.
    ///   - storage: The storage of the files; nil for the journal's own.
    /// - Throws: `notAJournal` (a directory with other content, or with a link in the place of
    ///   `lock` or `checkpoint`), `headMismatch` (the tree checkpoint is that of another journal or
    ///   history) and `damaged` (it has another form), each with the directory unchanged;
    ///   `notAJournal` for a link in the place of another file or directory, through which nothing
    ///   is written or removed; `locked` (another run writes there), `closed`, `damaged`,
    ///   `storageFull`, `accessDenied`, `notFound`, `ioFailed`, `syncFailed`.
    /// - Complexity: Reads the new records, and syncs each new file. Memory holds one bundle.
    @discardableResult
    public func writeTiles(
        to destination: String, includingEntries: Bool = false, on storage: (any JournalStorage)? = nil
    ) throws(JournalError) -> TilesReport {
        // A power failure must not leave the journal shorter than its tiles.
        let size = try syncForCopy()
        return try tree.writeTiles(
            to: destination, includingEntries: includingEntries, on: storage ?? directory.storage, size: size, of: self)
    }
}
