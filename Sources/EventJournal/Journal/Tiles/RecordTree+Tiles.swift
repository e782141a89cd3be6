internal import MerkleLog
internal import Primitives

extension RecordTree {
    /// Writes the tree of a log's first records to a directory as static files, or continues one.
    ///
    /// ``Journal/writeTiles(to:includingEntries:on:)`` describes the files and errors.
    ///
    /// - Parameter size: The number of records. The caller ensures that a power failure removes
    ///   none of them.
    package func writeTiles(
        to destination: String, includingEntries: Bool, on storage: any JournalStorage, size: Position,
        of log: some RecordTreeLog
    ) throws(JournalError) -> TilesReport {
        try prepare(size, of: log)
        var tiles = try TileDirectory(JournalDirectory(destination, storage)) { (old) throws(JournalError) in
            try check(old, size, path: destination, of: log)
        }
        defer { tiles.unlock() }
        // Read again: another run may have continued the directory before the lock was acquired.
        let old = try tiles.head(log.treeOrigin)
        try check(old, size, path: destination, of: log)
        let head = try head(at: size, of: log)
        if includingEntries { try writeEntries(to: &tiles, from: old.size, size, of: log) }
        if old.size < size {
            var level = 0
            while size >> UInt64(8 * level) > 0 {
                try writeTiles(
                    of: level, to: &tiles, from: old.size >> UInt64(8 * level), size >> UInt64(8 * level), of: log)
                level += 1
            }
            try tiles.publish(head)
            try removePartialTiles(in: &tiles, from: old.size, size)
        } else {
            try tiles.syncNames()
        }
        return TilesReport(head: head, writtenFiles: tiles.counts.written, removedFiles: tiles.counts.removed)
    }

    /// Throws unless a log has the tree of the directory's tree checkpoint.
    private func check(_ old: TreeHead, _ size: Position, path: String, of log: some RecordTreeLog) throws(JournalError)
    {
        func mismatch(_ message: String) -> JournalError { JournalError(.headMismatch, message, path: path) }
        guard old.origin == log.treeOrigin else {
            throw mismatch("The tiles are those of another log: '\(old.origin)', not '\(log.treeOrigin)'.")
        }
        guard old.size <= size else {
            throw mismatch("The tiles have \(old.size) records, and the journal ends at position \(size).")
        }
        guard try head(at: old.size, of: log) == old else {
            throw mismatch("The tiles have another history than the journal.")
        }
    }

    /// Writes the tiles of a level from the first one that is not full at an earlier count.
    private func writeTiles(
        of level: Int, to tiles: inout TileDirectory, from old: UInt64, _ count: UInt64, of log: some RecordTreeLog
    ) throws(JournalError) {
        guard old < count else { return }
        for index in old / TileDirectory.width...(count - 1) / TileDirectory.width {
            let range = index * TileDirectory.width..<min(count, (index + 1) * TileDirectory.width)
            var bytes: [UInt8] = []
            for hash in try hashes(of: level, range, of: log) { bytes += hash.bytes }
            try tiles.write(bytes, Tile(level: level, index: index), width: UInt64(range.count))
        }
    }

    /// Returns the hashes of a range of the complete subtrees of a level.
    private func hashes(of level: Int, _ range: Range<UInt64>, of log: some RecordTreeLog) throws(JournalError)
        -> [MerkleHash]
    {
        var hashes: [MerkleHash] = []
        if level == 0 {
            try log.forEachRecordContent(in: range.lowerBound + 1...range.upperBound) { _, state, kept, content in
                hashes.append(MerkleHash(leafOf: state, kept: kept, content: content))
                return true
            }
        } else {
            let height = UInt64(8 * level)
            for index in range { hashes.append(try hash(index << height..<(index + 1) << height, of: log)) }
        }
        return hashes
    }

    /// Writes the bundles of entries that the directory does not have.
    ///
    /// If the last bundle of the earlier size is missing, an earlier run wrote no entries, and all
    /// bundles are written.
    private func writeEntries(
        to tiles: inout TileDirectory, from old: UInt64, _ size: UInt64, of log: some RecordTreeLog
    ) throws(JournalError) {
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
            try log.forEachRecordContent(in: range.lowerBound + 1...range.upperBound) { _, state, kept, content in
                let entry = DisclosedRecord(state, kept: kept, content: content).entry
                // At most 65,000 bytes of kept part, a byte and a digest.
                bytes += [UInt8(entry.count >> 8), UInt8(entry.count & 0xFF)] + entry
                return true
            }
            try tiles.write(bytes, Tile(level: nil, index: index), width: UInt64(range.count))
        }
    }

    /// Removes the partial tiles that became full since an earlier size.
    private func removePartialTiles(in tiles: inout TileDirectory, from old: UInt64, _ size: UInt64)
        throws(JournalError)
    {
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
