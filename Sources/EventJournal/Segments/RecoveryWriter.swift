/// The changes to the files after recovery and before the writer's first append.
///
/// A crash may follow every step: recovery of the files after each step finds the same end.
struct RecoveryWriter {
    let directory: JournalDirectory

    /// Throws if the changes cannot be made, before the first one.
    func check(_ recovery: Recovery) throws(JournalError) {
        if recovery.report.cutBytes != nil { try cut.checkIsNoLink() }
    }

    /// Removes the temporary files of an interrupted creation.
    ///
    /// No reader uses these names.
    func removeTemporaries(_ names: [String]) throws(JournalError) {
        for name in names { try convertingErrors(of: directory.storage.remove(directory.file(name))) }
    }

    /// The directory of the bytes that recovery has cut.
    private var cut: JournalDirectory { JournalDirectory(directory.file(JournalFileName.cut), directory.storage) }

    /// Makes the end of the last segment durable as recovery determined it.
    ///
    /// The first four steps of CrashSafety.md, in this order:
    /// 1. Rewrite the bytes to keep. A sync of the crashed writer may have failed, after which the
    ///    system treats the bytes as clean without having written them.
    /// 2. Copy the torn bytes to a file of their own.
    /// 3. Truncate the segment and sync it, before a slot attests it.
    /// 4. Write the footer, because another segment follows.
    func apply(_ recovery: inout Recovery) throws(JournalError) {
        let segment = recovery.lastSegment
        if let start = recovery.rewriteOffset {
            try copy(start..<segment.end, of: segment) { (bytes, offset) throws(StorageError) in
                try segment.file.write(bytes, at: offset)
            }
        }
        if let range = recovery.report.cutBytes { recovery.report.cutFile = try copyTornBytes(range, of: segment) }
        try convertingStorageErrors { () throws(StorageError) in
            if recovery.lastFileSize > segment.end { try segment.file.truncate(to: segment.end) }
            try segment.file.sync()
        }
        recovery.lastFileSize = segment.end
        // The next segment replaces an empty one, which therefore needs no footer.
        if segment.isEmpty { return }
        try convertingStorageErrors { () throws(StorageError) in
            // Reserve space first: a later recovery would treat a footer that a full disk truncated
            // as a torn commit.
            try segment.file.allocate(to: segment.end + UInt64(segment.footer(recovery.chain).count))
            try segment.seal(recovery.chain)
        }
    }

    /// Copies the bytes to a new, durable file in `cut/` and returns its name.
    ///
    /// The name consists of segment and offset.
    private func copyTornBytes(_ range: Range<UInt64>, of segment: Segment) throws(JournalError) -> String {
        let cut = cut
        let present = try convertingStorageErrors { () throws(StorageError) in
            if try directory.storage.kind(of: cut.path) == nil { try directory.storage.createDirectory(cut.path) }
            try directory.storage.syncDirectory(directory.path)
            return Set(try directory.storage.list(cut.path))
        }
        // A segment whose only commit was torn is created again under the same name, so bytes may
        // be cut twice at the same offset.
        let base = "\(JournalFileName.padded(segment.header.firstPosition))-\(range.lowerBound)"
        var name = base + ".cut"
        var number = 2
        while present.contains(name) {
            name = "\(base)-\(number).cut"
            number += 1
        }
        _ = try cut.createTemporaryFile(name, []) { (file) throws(JournalError) in
            try copy(range, of: segment) { (bytes, offset) throws(StorageError) in
                try file.write(bytes, at: offset - range.lowerBound)
            }
        }.publish()
        return JournalFileName.cut + "/" + name
    }

    private func copy(
        _ range: Range<UInt64>, of segment: Segment, _ write: (RawSpan, UInt64) throws(StorageError) -> Void
    ) throws(JournalError) {
        var window = FileWindow(segment.file)
        var offset = range.lowerBound
        while offset < range.upperBound {
            let start = offset
            offset += try convertingStorageErrors { () throws(StorageError) in
                let available = try window.load(at: start, needed: 1, bound: range.upperBound)
                let count = Int(min(UInt64(available), range.upperBound - start))
                guard count > 0 else { throw StorageError(.failed, .read, path: directory.file(segment.name)) }
                try window.withBytes(from: start) { (bytes) throws(StorageError) in
                    try write(bytes.extracting(0..<count), start)
                }
                return UInt64(count)
            }
        }
    }
}
