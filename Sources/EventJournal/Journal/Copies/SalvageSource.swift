import Primitives

/// The readable slots, headers and commits of a damaged journal.
struct SalvageSource {
    /// A segment file and what is known of its header.
    struct File {
        let name: String
        /// The file's first position, from its header if valid, otherwise from its name.
        let firstPosition: Position
        /// The header, or one with only the salt of a damaged header; nil if the file has no
        /// header.
        let header: SegmentHeader?
        let isHeaderValid: Bool
    }

    let directory: JournalDirectory
    /// The id that most of the slots and headers contain.
    private(set) var journal: JournalID?
    /// The highest position that any readable slot, header or commit attests as synced.
    private(set) var attestedPosition: Position = 0
    /// The files, ascending by first position.
    private(set) var files: [File] = []

    /// Reads the slots, the segment headers and the headers of all commits.
    ///
    /// - Throws: `damaged` if none of them is readable: nothing then shows that the directory
    ///   contains a journal.
    init(_ directory: JournalDirectory) throws(JournalError) {
        self.directory = directory
        var votes: [JournalID: Int] = [:]
        let slots = try Self.slots(directory)
        for slot in slots { votes[slot.journal, default: 0] += 1 }
        for (first, name) in try directory.list().segments {
            let file = try Self.file(directory, name, first)
            if file.isHeaderValid, let header = file.header { votes[header.journal, default: 0] += 1 }
            files.append(file)
        }
        let named = slots.map(\.journal) + files.filter(\.isHeaderValid).compactMap { $0.header?.journal }
        let most = votes.values.max() ?? 0
        journal = named.first { votes[$0] == most }
        files.removeAll { [journal] file in file.isHeaderValid && file.header?.journal != journal }
        files.sort { $0.firstPosition < $1.firstPosition }
        attestedPosition = slots.filter { [journal] in $0.journal == journal }.map(\.position).max() ?? 0
        var isReadable = journal != nil
        for index in files.indices {
            attestedPosition = max(attestedPosition, files[index].firstPosition - 1)
            guard let (segment, size) = try open(files[index]) else { continue }
            let bound = lastPosition(index)
            var search = CommitSearch(segment, from: UInt64(SegmentHeader.size), size: size)
            while let (_, commit) = try search.next() {
                isReadable = true
                if commit.firstPosition <= bound { attestedPosition = max(attestedPosition, commit.syncedPosition) }
            }
        }
        guard isReadable else {
            let name = files.first?.name
            throw JournalError(
                .damaged, "Nothing can be salvaged: no slot, segment header or commit is readable.",
                path: directory.file(name ?? JournalFileName.durable), segment: name)
        }
    }

    /// Returns the last position that a file can contain, just before the next file's first.
    func lastPosition(_ index: Int) -> Position {
        files[(index + 1)...].first { $0.firstPosition > files[index].firstPosition }.map { $0.firstPosition - 1 }
            ?? .max
    }

    /// Opens a file for reading its commits; nil if it has no header.
    func open(_ file: File) throws(JournalError) -> (Segment, size: UInt64)? {
        guard let header = file.header else { return nil }
        return try convertingStorageErrors { () throws(StorageError) in
            let readable = ErrorTolerantFile(try directory.storage.open(directory.file(file.name), .read))
            // A journal writes no file longer than the maximum of a segment; a longer, sparse file
            // may take too long to read.
            return (
                Segment(name: file.name, header: header, file: readable),
                min(try readable.size(), SegmentFile.maximumSize)
            )
        }
    }

    private static func slots(_ directory: JournalDirectory) throws(JournalError) -> [DurableSlot] {
        let path = directory.file(JournalFileName.durable)
        guard let bytes = try read(directory.storage, path, DurableSlot.fileSize) else { return [] }
        return try DurableSlots.decode(bytes, path).compactMap { $0 }
    }

    private static func file(_ directory: JournalDirectory, _ name: String, _ first: Position) throws(JournalError)
        -> File
    {
        let path = directory.file(name)
        guard let bytes = try read(directory.storage, path, SegmentHeader.size) else {
            return File(name: name, firstPosition: first, header: nil, isHeaderValid: false)
        }
        do throws(SegmentHeader.Problem) {
            let header = try SegmentHeader(decoding: bytes)
            return File(name: name, firstPosition: header.firstPosition, header: header, isHeaderValid: true)
        } catch {
            if case .newerVersion(let version) = error {
                throw JournalError(
                    .newerVersion, "The segment is of version \(version) of the format.", path: path, segment: name)
            }
            // Recognising commits needs only the salt, and their checksums show whether it is
            // correct.
            let salt = bytes.withBytes(56..<64) { $0.integer(at: 0, as: UInt64.self) }
            let header = SegmentHeader(journal: JournalID(bits: 0), firstPosition: first, chain: 0, salt: salt)
            return File(name: name, firstPosition: first, header: header, isHeaderValid: false)
        }
    }

    /// Returns the first bytes of a file, padded with zeros, or nil if the file does not exist.
    private static func read(_ storage: any JournalStorage, _ path: String, _ count: Int) throws(JournalError)
        -> [UInt8]?
    {
        try convertingStorageErrors { () throws(StorageError) in
            guard try storage.kind(of: path) == .file else { return nil }
            let file = ErrorTolerantFile(try storage.open(path, .read))
            var bytes = [UInt8](repeating: 0, count: count)
            _ = try bytes.withMutableBytes(0..<count) { (span) throws(StorageError) in try file.read(into: &span, at: 0)
            }
            return bytes
        }
    }
}

/// A file whose unreadable blocks read as zeros, so that one bad sector does not hide the others.
private final class ErrorTolerantFile: StorageFile {
    /// The bytes that read as zeros around an unreadable place.
    private static let block = 4096

    private let file: any StorageFile

    init(_ file: any StorageFile) { self.file = file }

    func read(into bytes: inout MutableRawSpan, at offset: UInt64) throws(StorageError) -> Int {
        do throws(StorageError) {
            return try file.read(into: &bytes, at: offset)
        } catch {
            let size = try file.size()
            guard offset < size else { return 0 }
            let count = Int(min(UInt64(bytes.byteCount), size - offset))
            var block = [UInt8](repeating: 0, count: Self.block)
            for start in stride(from: 0, to: count, by: Self.block) {
                let length = min(Self.block, count - start)
                bytes.zero(start..<(start + length))
                do throws(StorageError) {
                    let read = try block.withMutableBytes(0..<length) { [file] (span) throws(StorageError) in
                        try file.read(into: &span, at: offset + UInt64(start))
                    }
                    block.withBytes(0..<read) { bytes.storeBytes($0, at: start) }
                } catch {
                    continue
                }
            }
            return count
        }
    }

    func size() throws(StorageError) -> UInt64 { try file.size() }

    func write(_ bytes: RawSpan, at offset: UInt64) throws(StorageError) {
        throw StorageError(.accessDenied, .write, path: "")
    }

    func sync() throws(StorageError) { throw StorageError(.accessDenied, .sync, path: "") }

    func truncate(to size: UInt64) throws(StorageError) { throw StorageError(.accessDenied, .truncate, path: "") }

    func allocate(to size: UInt64) throws(StorageError) { throw StorageError(.accessDenied, .allocate, path: "") }
}
