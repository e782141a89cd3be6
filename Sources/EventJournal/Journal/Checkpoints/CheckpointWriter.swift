/// Writes one checkpoint beside what is there, and puts it in its place when it is whole and durable.
///
/// Used by one thread. What fails is kept and thrown at the end, so that nobody has to ask after every block.
package final class CheckpointWriter {
    private let new: NewFile
    private let file: (any StorageFile)?
    private var header: CheckpointHeader
    /// The section that is being written; -1 before the first.
    private var section = -1
    private var offset: UInt64
    private var checksum: UInt32 = 0
    private var failure: JournalError?

    /// Begins to write.
    ///
    /// - Parameter header: With the names of the sections; their lengths are found out.
    init(_ header: CheckpointHeader, in directory: JournalDirectory) {
        self.header = header
        new = NewFile(name: DirectoryListing.checkpointName(header.name), directory: directory)
        offset = UInt64(header.size)
        do throws(StorageError) {
            file = try directory.storage.open(new.temporary, .create)
        } catch {
            file = nil
            failure = JournalError(error)
        }
    }

    /// Whether writing has failed already, so that it is no use to go on.
    package var hasFailed: Bool { failure != nil }

    /// Begins the next section.
    package func beginSection() {
        section += 1
        checksum = header.seed(ofSection: section)
    }

    /// Writes the next block of the section: ``CheckpointHeader/blockByteCount`` bytes, the last one of a section at most so many.
    package func write(_ block: [UInt8]) {
        guard failure == nil, let file else { return }
        checksum = block.withBytes(0..<block.count) { CRC32C.checksum(of: $0, continuing: checksum) }
        var bytes = block
        bytes += [UInt8](repeating: 0, count: CheckpointHeader.checksumByteCount)
        bytes.store(checksum, at: block.count)
        header.sections[section].byteCount += UInt64(block.count)
        write(bytes, to: file, at: offset)
        offset += UInt64(bytes.count)
    }

    /// Makes the checkpoint durable and gives it its name, which takes the one before away.
    ///
    /// - Returns: The size of the file in bytes.
    /// - Throws: What failed, now or earlier; what was there before is then there still, and what was written is removed.
    package func finish() throws(JournalError) -> UInt64 {
        if let file { write(header.encoded(), to: file, at: 0) }
        do throws(JournalError) {
            if let failure { throw failure }
            guard let file else { return 0 }
            try storage { () throws(StorageError) in try file.sync() }
            _ = try new.take()
            return offset
        } catch {
            new.abandon()
            throw error
        }
    }

    /// Gives up, and removes what was written.
    package func abandon() { new.abandon() }

    private func write(_ bytes: [UInt8], to file: any StorageFile, at offset: UInt64) {
        guard failure == nil else { return }
        do throws(StorageError) {
            try bytes.withBytes(0..<bytes.count) { (span) throws(StorageError) in try file.write(span, at: offset) }
        } catch {
            failure = JournalError(error)
            // At once, because a disk that is full has others who need the space.
            new.abandon()
        }
    }
}
