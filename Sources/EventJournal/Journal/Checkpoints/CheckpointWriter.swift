import Primitives

/// Writes a checkpoint to a temporary file, and replaces the previous one when it is complete and
/// durable.
///
/// Used by one thread. A failure is stored and thrown by ``finish()``, so that callers need not
/// check each block.
package final class CheckpointWriter {
    private let temporaryFile: TemporaryFile
    /// The file, or the first failure.
    private var file: Result<any StorageFile, JournalError>
    private var header: CheckpointHeader
    /// The index of the section in progress; -1 before the first.
    private var sectionIndex = -1
    private var offset: UInt64
    /// The offset up to which the file was synced.
    private var syncedOffset: UInt64 = 0
    private var checksum: UInt32 = 0

    /// Starts writing.
    ///
    /// - Parameters:
    ///   - header: With the names of the sections; the writer sets their lengths.
    ///   - name: The final name of the file.
    init(_ header: CheckpointHeader, as name: String, in directory: JournalDirectory) {
        self.header = header
        temporaryFile = TemporaryFile(name: name, directory: directory)
        offset = UInt64(header.size)
        do throws(StorageError) {
            file = .success(try directory.storage.open(temporaryFile.temporary, .create))
        } catch {
            file = .failure(JournalError(error))
        }
    }

    /// Whether writing has failed, so that the caller can stop early.
    package var hasFailed: Bool { if case .failure = file { true } else { false } }

    /// Starts the next section.
    package func beginSection() {
        sectionIndex += 1
        checksum = header.seed(ofSection: sectionIndex)
    }

    /// Writes the next block of the section.
    ///
    /// Each block has ``CheckpointHeader/blockByteCount`` bytes, except the last of a section,
    /// which may be shorter.
    package func write(_ block: [UInt8]) {
        if hasFailed { return }
        checksum = block.withBytes { CRC32C.checksum(of: $0, continuing: checksum) }
        var bytes = block
        bytes += [UInt8](repeating: 0, count: CheckpointHeader.checksumByteCount)
        bytes.store(checksum, at: block.count)
        header.sections[sectionIndex].byteCount += UInt64(block.count)
        write(bytes, at: offset)
        offset += UInt64(bytes.count)
        // A commit of the journal waits for what a sync of this file writes, so that is never much.
        if offset - syncedOffset >= Self.bytesPerSync {
            attempt { file throws(StorageError) in try file.sync() }
            syncedOffset = offset
        }
    }

    /// Makes the checkpoint durable and renames it over the previous one.
    ///
    /// - Returns: The size of the file in bytes.
    /// - Throws: The first failure. The previous checkpoint then stays, and the temporary file is
    ///   removed.
    package func finish() throws(JournalError) -> UInt64 {
        write(header.encoded(), at: 0)
        do throws(JournalError) {
            let file = try file.get()
            try convertingErrors(of: file.sync())
            _ = try temporaryFile.publish()
            return offset
        } catch {
            temporaryFile.abandon()
            throw error
        }
    }

    /// Stops writing and removes the temporary file.
    package func abandon() { temporaryFile.abandon() }

    /// Bytes that are written between two syncs.
    private static var bytesPerSync: UInt64 { 1 << 20 }

    private func write(_ bytes: [UInt8], at offset: UInt64) {
        attempt { file throws(StorageError) in
            try bytes.withBytes { (span) throws(StorageError) in try file.write(span, at: offset) }
        }
    }

    private func attempt(_ body: (any StorageFile) throws(StorageError) -> Void) {
        guard case .success(let file) = file else { return }
        do throws(StorageError) { try body(file) } catch {
            self.file = .failure(JournalError(error))
            // Removed at once, because a full disk needs the space for the journal.
            temporaryFile.abandon()
        }
    }
}
