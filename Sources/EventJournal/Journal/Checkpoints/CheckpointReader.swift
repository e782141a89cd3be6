import Primitives

/// A checkpoint with a valid header, whose sections can be read.
package struct CheckpointReader: Sendable {
    /// The header of the file.
    package let header: CheckpointHeader
    /// The size of the file in bytes.
    package let fileSize: UInt64
    private let file: any StorageFile
    /// The offset of each section, followed by the file's length.
    private let offsets: [UInt64]

    /// Reads the header of a file, and checks the file's length against it.
    init(_ file: any StorageFile) throws(CheckpointProblem) {
        self.file = file
        (header, fileSize) = try CheckpointHeader.read(file)
        guard let offsets = header.offsets, offsets.last == fileSize else {
            throw CheckpointProblem(.damaged, "The file's length is not the one in the checkpoint's header.")
        }
        self.offsets = offsets
    }

    /// Verifies the checksums of all sections.
    ///
    /// - Complexity: Reads the file.
    func verify() throws(CheckpointProblem) {
        var block = [UInt8](repeating: 0, count: CheckpointHeader.blockByteCount + CheckpointHeader.checksumByteCount)
        for (index, section) in header.sections.enumerated() {
            let reader = CheckpointSectionReader(
                file, offset: offsets[index], byteCount: section.byteCount, checksum: header.seed(ofSection: index))
            while try reader.read(into: &block) > 0 {}
        }
    }

    /// Returns a reader of the named section, or nil if it does not exist.
    package func section(_ name: String) -> CheckpointSectionReader? {
        guard let index = header.sections.firstIndex(where: { $0.name == name }) else { return nil }
        return CheckpointSectionReader(
            file, offset: offsets[index], byteCount: header.sections[index].byteCount,
            checksum: header.seed(ofSection: index))
    }
}

/// Reads one section block by block, and verifies each block's checksum before it returns the
/// bytes.
package final class CheckpointSectionReader {
    /// The bytes of the section, without checksums.
    package let byteCount: UInt64
    private let file: any StorageFile
    private var offset: UInt64
    private var remainingByteCount: UInt64
    private var checksum: UInt32

    init(_ file: any StorageFile, offset: UInt64, byteCount: UInt64, checksum: UInt32) {
        self.file = file
        self.offset = offset
        self.byteCount = byteCount
        self.checksum = checksum
        remainingByteCount = byteCount
    }

    /// Reads the next block.
    ///
    /// - Parameter block: Receives the bytes at its start. It must have room for
    ///   ``CheckpointHeader/blockByteCount`` bytes and a checksum.
    /// - Returns: The number of bytes of the section that were read; 0 at its end.
    package func read(into block: inout [UInt8]) throws(CheckpointProblem) -> Int {
        let count = Int(min(remainingByteCount, UInt64(CheckpointHeader.blockByteCount)))
        if count == 0 { return 0 }
        let stored = count + CheckpointHeader.checksumByteCount
        let isComplete: Bool
        do throws(StorageError) {
            isComplete = try file.fill(&block, 0..<stored, from: offset)
        } catch {
            throw CheckpointProblem(.unreadable, "\(error)")
        }
        guard isComplete else { throw CheckpointProblem(.damaged, "The file was truncated while it was read.") }
        checksum = block.withBytes(0..<count) { [checksum] in CRC32C.checksum(of: $0, continuing: checksum) }
        guard block.withBytes(count..<stored, { $0.integer(at: 0, as: UInt32.self) }) == checksum else {
            throw CheckpointProblem(.damaged, "The checksum of a block at byte \(offset) does not match.")
        }
        offset += UInt64(stored)
        remainingByteCount -= UInt64(count)
        return count
    }
}
