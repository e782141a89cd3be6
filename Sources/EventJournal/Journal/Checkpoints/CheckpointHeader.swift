import Primitives

/// The header of a checkpoint's file, before its sections.
///
/// See Checkpoints.md for the layout.
package struct CheckpointHeader: Equatable, Sendable {
    /// The bytes of each block of a section except the last, which may be shorter.
    ///
    /// A checksum follows each block.
    package static let blockByteCount = 1 << 18
    /// The bytes of a block's checksum.
    package static let checksumByteCount = 4
    static let maximumSectionCount = 64
    static let nameByteCount = 32
    static let fixedSize = 96
    static let sectionEntrySize = 40
    static let formatVersion: UInt16 = 1
    /// "CJCKP", then CR LF and Control-Z, which a transfer in text mode would change.
    static let magic: [UInt8] = [0x43, 0x4A, 0x43, 0x4B, 0x50, 0x0D, 0x0A, 0x1A]

    /// The name of the projection.
    package var name: String
    /// The version of the projection, which only the projection interprets.
    package var version: UInt32
    /// The id of the journal that the checkpoint was made of.
    package var journal: JournalID
    /// The last position that the state includes; a commit ends there.
    package var position: Position
    /// The chain value at that position.
    package var chain: UInt64
    /// The mark of the erasures up to that position: ``CheckpointLog/erasureMark(through:)``.
    package var erasureMark: UInt64
    package var sections: [Section]

    /// A part of the state.
    package struct Section: Equatable, Sendable {
        /// At most 32 bytes of UTF-8.
        package var name: String
        /// The bytes of state in the section, without checksums.
        package var byteCount: UInt64 = 0

        /// The bytes of the section in the file, with checksums; nil if they exceed the size of any
        /// file.
        var storedByteCount: UInt64? {
            let block = UInt64(CheckpointHeader.blockByteCount)
            guard byteCount <= UInt64(Int.max) / 2 else { return nil }
            return byteCount + (byteCount + block - 1) / block * UInt64(CheckpointHeader.checksumByteCount)
        }
    }

    /// The size of the header in bytes, with all its sections.
    var size: Int { Self.fixedSize + sections.count * Self.sectionEntrySize + Self.checksumByteCount }

    /// The offset of each section, followed by the file's length; nil if that exceeds the size of
    /// any file.
    var offsets: [UInt64]? {
        var offsets = [UInt64(size)]
        for section in sections {
            guard let stored = section.storedByteCount, let last = offsets.last else { return nil }
            let (end, overflows) = last.addingReportingOverflow(stored)
            if overflows { return nil }
            offsets.append(end)
        }
        return offsets
    }

    /// The seed of the checksum of a section's first block.
    ///
    /// It covers the header without the sections' lengths, and the index of the section. A block of
    /// another file, section or place therefore has a wrong checksum.
    func seed(ofSection index: Int) -> UInt32 {
        let bytes = fixedPart
        return CRC32C.checksum(of: UInt32(index), continuing: CRC32C.checksum(of: bytes))
    }

    private var fixedPart: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.fixedSize)
        bytes.storeBytes(Self.magic, 0..<8, at: 0)
        bytes.store(Self.formatVersion, at: 8)
        bytes.store(UInt16(sections.count), at: 10)
        bytes.store(version, at: 12)
        bytes.store(journal.bits.byteSwapped, at: 16)
        bytes.store(position, at: 32)
        bytes.store(chain, at: 40)
        bytes.store(erasureMark, at: 48)
        bytes.storeBytes(Array(name.utf8), 0..<name.utf8.count, at: 56)
        return bytes
    }

    func encoded() -> [UInt8] {
        var bytes = fixedPart
        bytes += [UInt8](repeating: 0, count: size - Self.fixedSize)
        for (index, section) in sections.enumerated() {
            let offset = Self.fixedSize + index * Self.sectionEntrySize
            bytes.storeBytes(Array(section.name.utf8), 0..<section.name.utf8.count, at: offset)
            bytes.store(section.byteCount, at: offset + Self.nameByteCount)
        }
        let end = size - Self.checksumByteCount
        bytes.store(bytes.withBytes(0..<end) { CRC32C.checksum(of: $0) }, at: end)
        return bytes
    }
}

extension CheckpointHeader {
    /// Reads the header of a file, and the file's size.
    static func read(_ file: any StorageFile) throws(CheckpointProblem) -> (header: CheckpointHeader, fileSize: UInt64)
    {
        let most = fixedSize + maximumSectionCount * sectionEntrySize + checksumByteCount
        var bytes: [UInt8]
        let fileSize: UInt64
        do throws(StorageError) {
            fileSize = try file.size()
            bytes = [UInt8](repeating: 0, count: Int(min(fileSize, UInt64(most))))
            let whole = 0..<bytes.count
            if try !file.fill(&bytes, whole, from: 0) { bytes = [] }
        } catch {
            throw CheckpointProblem(.unreadable, "\(error)")
        }
        return (try CheckpointHeader(decoding: bytes), fileSize)
    }

    /// Decodes a header at the start of some bytes.
    ///
    /// All format versions keep the magic, the version, the section count and so the place of the
    /// checksum. Another version is therefore distinguishable from damage.
    private init(decoding bytes: [UInt8]) throws(CheckpointProblem) {
        let damaged = CheckpointProblem(.damaged, "The checkpoint's header is damaged.")
        guard bytes.count >= Self.fixedSize, Array(bytes[0..<8]) == Self.magic else { throw damaged }
        let count = Int(bytes[10]) | Int(bytes[11]) << 8
        let end = Self.fixedSize + count * Self.sectionEntrySize
        guard count <= Self.maximumSectionCount, end + Self.checksumByteCount <= bytes.count else { throw damaged }
        let isIntact = bytes.withBytes(0..<end + Self.checksumByteCount) { span in
            CRC32C.checksum(of: span.extracting(0..<end)) == span.integer(at: end, as: UInt32.self)
        }
        guard isIntact else { throw damaged }
        guard let name = Self.name(in: bytes, at: 56) else { throw damaged }
        var header = bytes.withBytes(0..<Self.fixedSize) { span in
            CheckpointHeader(
                name: name, version: span.integer(at: 12),
                journal: JournalID(bits: span.integer(at: 16, as: UInt128.self).byteSwapped),
                position: span.integer(at: 32),
                chain: span.integer(at: 40), erasureMark: span.integer(at: 48), sections: [])
        }
        let version = UInt16(bytes[8]) | UInt16(bytes[9]) << 8
        guard version == Self.formatVersion else {
            throw CheckpointProblem(.otherVersion, "The checkpoint has format version \(version).")
        }
        for index in 0..<count {
            let offset = Self.fixedSize + index * Self.sectionEntrySize
            guard let name = Self.name(in: bytes, at: offset) else { throw damaged }
            let byteCount = bytes.withBytes(offset..<offset + Self.sectionEntrySize) {
                $0.integer(at: Self.nameByteCount, as: UInt64.self)
            }
            header.sections.append(Section(name: name, byteCount: byteCount))
        }
        self = header
    }

    /// Reads a zero-padded name.
    private static func name(in bytes: [UInt8], at offset: Int) -> String? {
        String(validating: bytes[offset..<offset + nameByteCount].prefix { $0 != 0 }, as: UTF8.self)
    }
}
