/// What a writer does to the files after recovery and before its first append.
///
/// Every step may be the last before a crash: each leaves files that recovery reads to the same end.
struct Repairs {
    let directory: JournalDirectory

    /// Removes what an interrupted creation left; no name there is one that is read.
    func removeTemporaries(_ listing: DirectoryListing) throws(JournalError) -> [String] {
        for name in listing.temporaries {
            try storage { () throws(StorageError) in try directory.storage.remove(directory.file(name)) }
        }
        return listing.temporaries
    }

    /// Makes the end of the last segment what recovery found it to be, and durable.
    ///
    /// The order: bytes that are kept are written again (a sync of the crashed writer may have failed, after which the system calls them
    /// clean without having written them); what is cut off is kept in a file of its own; the segment is truncated; then it is synced, before
    /// any slot attests it; then it gets its footer, because another segment will follow it.
    func settle(_ recovery: inout Recovery) throws(JournalError) {
        let segment = recovery.last
        if let start = recovery.rewriteOffset {
            try copy(start..<segment.end, of: segment) { (bytes, offset) throws(StorageError) in try segment.file.write(bytes, at: offset) }
        }
        if let range = recovery.report.cutBytes {
            recovery.report.cutFile = try keep(range, of: segment)
        }
        try storage { () throws(StorageError) in
            if recovery.lastSize > segment.end { try segment.file.truncate(to: segment.end) }
            try segment.file.sync()
        }
        recovery.lastSize = segment.end
        if segment.isEmpty { return }
        try storage { () throws(StorageError) in
            // Space first: a footer that a full disk cut short would be taken for a torn commit.
            try segment.file.allocate(to: segment.end + UInt64(segment.footer(recovery.chain).count))
            try segment.seal(recovery.chain)
        }
    }

    /// Copies the bytes to a new file in `cut/`, named by segment and offset, durable before this returns its name.
    private func keep(_ range: Range<UInt64>, of segment: Segment) throws(JournalError) -> String {
        let cut = JournalDirectory(directory.file(DirectoryListing.cutName), directory.storage)
        let present = try storage { () throws(StorageError) in
            if try directory.storage.kind(of: cut.path) == nil { try directory.storage.createDirectory(cut.path) }
            try directory.storage.syncDirectory(directory.path)
            return Set(try directory.storage.list(cut.path))
        }
        // A segment that was empty but for a torn commit is made anew under its name, so the same place may be cut twice.
        let base = "\(DirectoryListing.padded(segment.header.firstPosition))-\(range.lowerBound)"
        var name = base + ".cut"
        var number = 2
        while present.contains(name) {
            name = "\(base)-\(number).cut"
            number += 1
        }
        _ = try cut.make(name, []) { (file) throws(JournalError) in
            try copy(range, of: segment) { (bytes, offset) throws(StorageError) in
                try file.write(bytes, at: offset - range.lowerBound)
            }
        }.take()
        return DirectoryListing.cutName + "/" + name
    }

    private func copy(
        _ range: Range<UInt64>, of segment: Segment, _ write: (RawSpan, UInt64) throws(StorageError) -> Void
    ) throws(JournalError) {
        var window = FileWindow(segment.file)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let start = offset
            offset += try storage { () throws(StorageError) in
                let available = try window.load(at: start, needed: 1, bound: range.upperBound)
                let count = Int(min(UInt64(available), range.upperBound - start))
                guard count > 0 else { throw StorageError(.failed, .read, path: directory.file(segment.name)) }
                try window.withBytes(from: start) { (bytes) throws(StorageError) in try write(bytes.extracting(0..<count), start) }
                return UInt64(count)
            }
        }
    }
}
