internal import MerkleLog
internal import Primitives

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
    /// The layout is that of C2SP *tlog-tiles*: `checkpoint` (not signed), `tile/L/N` and
    /// `tile/L/N.p/W`. A repeated run writes only what is missing since the directory's checkpoint.
    /// The checkpoint is written last, so that a reader who sees it finds its tiles. An interrupted
    /// run changes no checkpoint, and the next run completes it. Records that are not synced are
    /// synced first. New files and directories are accessible for their owner only.
    ///
    /// Tiles contain hashes only. An entry contains the kept part of its record.
    ///
    /// - Parameters:
    ///   - destination: The directory; created if it does not exist. It must be empty, or have the
    ///     checkpoint of an earlier run.
    ///   - includingEntries: Whether to write the bundles `tile/entries/N` as well.
    ///   - storage: The storage of the files; nil for the journal's own.
    /// - Throws: `notAJournal` (a directory with other content, or with a link in the place of
    ///   `lock` or `checkpoint`), `headMismatch` (the checkpoint is that of another journal or
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
        try syncForCopy()
        let size = durablePosition
        try prepareTree(size)
        var tiles = try TileDirectory(JournalDirectory(destination, storage ?? directory.storage)) { (old) throws(JournalError) in
            try check(old, size, path: destination)
        }
        defer { tiles.unlock() }
        // Read again: another run may have continued the directory before the lock was acquired.
        let old = try tiles.head(treeOrigin)
        try check(old, size, path: destination)
        let head = try treeHead(at: size)
        if includingEntries { try writeEntries(to: &tiles, from: old.size, size) }
        if old.size < size {
            var level = 0
            while size >> UInt64(8 * level) > 0 {
                try writeTiles(of: level, to: &tiles, from: old.size >> UInt64(8 * level), size >> UInt64(8 * level))
                level += 1
            }
            try tiles.publish(head)
            try removePartialTiles(in: &tiles, from: old.size, size)
        } else {
            try tiles.syncNames()
        }
        return TilesReport(head: head, writtenFiles: tiles.counts.written, removedFiles: tiles.counts.removed)
    }

    /// Throws unless this journal has the tree of the directory's checkpoint.
    private func check(_ old: TreeHead, _ size: Position, path: String) throws(JournalError) {
        func mismatch(_ message: String) -> JournalError { JournalError(.headMismatch, message, path: path) }
        guard old.origin == treeOrigin else { throw mismatch("The tiles are those of another log: '\(old.origin)', not '\(treeOrigin)'.") }
        guard old.size <= size else {
            throw mismatch("The tiles have \(old.size) records, and the journal ends at position \(size).")
        }
        guard try treeHead(at: old.size) == old else { throw mismatch("The tiles have another history than the journal.") }
    }

    /// Writes the tiles of a level from the first one that is not full at an earlier count.
    private func writeTiles(of level: Int, to tiles: inout TileDirectory, from old: UInt64, _ count: UInt64) throws(JournalError) {
        guard old < count else { return }
        for index in old / TileDirectory.width...(count - 1) / TileDirectory.width {
            let range = index * TileDirectory.width..<min(count, (index + 1) * TileDirectory.width)
            var bytes: [UInt8] = []
            for hash in try hashes(of: level, range) { bytes += hash.bytes }
            try tiles.write(bytes, Tile(level: level, index: index), width: UInt64(range.count))
        }
    }

    /// Returns the hashes of a range of the complete subtrees of a level.
    private func hashes(of level: Int, _ range: Range<UInt64>) throws(JournalError) -> [MerkleHash] {
        var hashes: [MerkleHash] = []
        if level == 0 {
            try forEachRecordContent(in: range.lowerBound + 1...range.upperBound) { _, state, kept, content in
                hashes.append(MerkleHash(leafOf: state, kept: kept, content: content))
                return true
            }
        } else {
            let height = UInt64(8 * level)
            for index in range { hashes.append(try hash(index << height..<(index + 1) << height)) }
        }
        return hashes
    }

    /// Writes the bundles of entries that the directory does not have.
    ///
    /// If the last bundle of the earlier size is missing, an earlier run wrote no entries, and all
    /// bundles are written.
    private func writeEntries(to tiles: inout TileDirectory, from old: UInt64, _ size: UInt64) throws(JournalError) {
        guard size > 0 else { return }
        var (first, isMissing) = (old / TileDirectory.width, old < size)
        if old > 0 {
            let last = (old - 1) / TileDirectory.width
            if try !tiles.contains(Tile(level: nil, index: last), width: old - last * TileDirectory.width) {
                (first, isMissing) = (0, true)
            }
        }
        guard isMissing else { return }
        for index in first...(size - 1) / TileDirectory.width {
            let range = index * TileDirectory.width..<min(size, (index + 1) * TileDirectory.width)
            var bytes: [UInt8] = []
            try forEachRecordContent(in: range.lowerBound + 1...range.upperBound) { _, state, kept, content in
                let entry = DisclosedRecord(state, kept: kept, content: content).entry
                // At most 65,000 bytes of kept part, a byte and a digest.
                bytes += [UInt8(entry.count >> 8), UInt8(entry.count & 0xFF)] + entry
                return true
            }
            try tiles.write(bytes, Tile(level: nil, index: index), width: UInt64(range.count))
        }
    }

    /// Removes the partial tiles that became full since an earlier size.
    private func removePartialTiles(in tiles: inout TileDirectory, from old: UInt64, _ size: UInt64) throws(JournalError) {
        func remove(_ level: Int?, _ old: UInt64, _ count: UInt64, _ tiles: inout TileDirectory) throws(JournalError) {
            let index = old / TileDirectory.width
            if old % TileDirectory.width > 0, index < count / TileDirectory.width,
                try tiles.contains(Tile(level: level, index: index), width: 256)
            {
                try tiles.removePartialTiles(of: Tile(level: level, index: index))
            }
        }
        try remove(nil, old, size, &tiles)
        for level in 0..<8 { try remove(level, old >> UInt64(8 * level), size >> UInt64(8 * level), &tiles) }
    }
}
