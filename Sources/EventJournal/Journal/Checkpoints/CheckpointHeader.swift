/// What the file of a checkpoint says of itself before its sections.
///
/// See Checkpoints.md for the layout.
package struct CheckpointHeader: Equatable, Sendable {
    /// How a section is cut up: each block but a section's last has so many bytes, and its checksum after it.
    package static let blockByteCount = 1 << 18
    /// The bytes of a block's checksum.
    package static let checksumByteCount = 4
    static let mostSections = 64
    static let nameByteCount = 32
    static let fixedSize = 96
    static let sectionSize = 40
    static let formatVersion: UInt16 = 1
    /// "CJCKP", then CR LF and control-Z, which a transfer as text would change.
    static let magic: [UInt8] = [0x43, 0x4A, 0x43, 0x4B, 0x50, 0x0D, 0x0A, 0x1A]

    /// The name of the projection.
    package var name: String
    /// The version of the projection, whose business it is.
    package var version: UInt32
    /// The journal that it was made of.
    package var journal: JournalID
    /// The last position that the state has seen, where a commit ends.
    package var position: Position
    /// The chain value at that position.
    package var chain: UInt64
    /// The mark of the segments' generations up to there: another one once content has been erased from them.
    package var generations: UInt64
    package var sections: [Section]

    /// A part of the state.
    package struct Section: Equatable, Sendable {
        /// At most 32 bytes of UTF-8.
        package var name: String
        /// How many bytes of state it holds, checksums not counted.
        package var byteCount: UInt64 = 0

        /// How many bytes of the file it takes; nil when no file has so many.
        var storedByteCount: UInt64? {
            let block = UInt64(CheckpointHeader.blockByteCount)
            guard byteCount <= UInt64(Int.max) / 2 else { return nil }
            return byteCount + (byteCount + block - 1) / block * UInt64(CheckpointHeader.checksumByteCount)
        }
    }

    /// The size of the header with all its sections.
    var size: Int { Self.fixedSize + sections.count * Self.sectionSize + Self.checksumByteCount }

    /// Where each section begins, and at the end where the file does; nil when no file is so long.
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

    /// What the checksum of a section's first block continues from: all that is known before the sections are written, so that no block passes for one of another
    /// file, section or place.
    func seed(ofSection index: Int) -> UInt32 {
        let bytes = fixedPart
        return CRC32C.checksum(of: UInt32(index), continuing: CRC32C.checksum(of: bytes))
    }

    private var fixedPart: [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.fixedSize)
        bytes.copy(Self.magic, 0..<8, to: 0)
        bytes.store(Self.formatVersion, at: 8)
        bytes.store(UInt16(sections.count), at: 10)
        bytes.store(version, at: 12)
        bytes.store(journal.bits.byteSwapped, at: 16)
        bytes.store(position, at: 32)
        bytes.store(chain, at: 40)
        bytes.store(generations, at: 48)
        bytes.copy(Array(name.utf8), 0..<name.utf8.count, to: 56)
        return bytes
    }

    func encoded() -> [UInt8] {
        var bytes = fixedPart
        bytes += [UInt8](repeating: 0, count: size - Self.fixedSize)
        for (index, section) in sections.enumerated() {
            let offset = Self.fixedSize + index * Self.sectionSize
            bytes.copy(Array(section.name.utf8), 0..<section.name.utf8.count, to: offset)
            bytes.store(section.byteCount, at: offset + Self.nameByteCount)
        }
        let end = size - Self.checksumByteCount
        bytes.store(bytes.withBytes(0..<end) { CRC32C.checksum(of: $0) }, at: end)
        return bytes
    }
}

extension CheckpointHeader {
    /// Reads the header of a file, whose length has to be what the header says.
    init(reading file: any StorageFile) throws(CheckpointProblem) {
        let most = Self.fixedSize + Self.mostSections * Self.sectionSize + Self.checksumByteCount
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
        try self.init(decoding: bytes)
        guard offsets?.last == fileSize else {
            throw CheckpointProblem(.damaged, "The checkpoint has another length than its header says.")
        }
    }

    /// Reads a header at the beginning of some bytes.
    ///
    /// Every version keeps the magic, the version, the count of sections and with it the place of the checksum, so that another version is told apart from damage.
    private init(decoding bytes: [UInt8]) throws(CheckpointProblem) {
        let damaged = CheckpointProblem(.damaged, "The header of the checkpoint is not as it was written.")
        guard bytes.count >= Self.fixedSize, Array(bytes[0..<8]) == Self.magic else { throw damaged }
        let count = Int(bytes[10]) | Int(bytes[11]) << 8
        let end = Self.fixedSize + count * Self.sectionSize
        guard count <= Self.mostSections, end + Self.checksumByteCount <= bytes.count else { throw damaged }
        let isIntact = bytes.withBytes(0..<end + Self.checksumByteCount) { span in
            CRC32C.checksum(of: span.extracting(0..<end)) == span.integer(at: end, as: UInt32.self)
        }
        guard isIntact else { throw damaged }
        guard let name = Self.name(in: bytes, at: 56) else { throw damaged }
        var header = bytes.withBytes(0..<Self.fixedSize) { span in
            CheckpointHeader(
                name: name, version: span.integer(at: 12),
                journal: JournalID(bits: span.integer(at: 16, as: UInt128.self).byteSwapped), position: span.integer(at: 32),
                chain: span.integer(at: 40), generations: span.integer(at: 48), sections: [])
        }
        let version = UInt16(bytes[8]) | UInt16(bytes[9]) << 8
        guard version == Self.formatVersion else {
            throw CheckpointProblem(.otherVersion, "The checkpoint's format is of version \(version).")
        }
        for index in 0..<count {
            let offset = Self.fixedSize + index * Self.sectionSize
            guard let name = Self.name(in: bytes, at: offset) else { throw damaged }
            let byteCount = bytes.withBytes(offset..<offset + Self.sectionSize) { $0.integer(at: Self.nameByteCount, as: UInt64.self) }
            header.sections.append(Section(name: name, byteCount: byteCount))
        }
        self = header
    }

    /// A name that is filled up with zeros.
    private static func name(in bytes: [UInt8], at offset: Int) -> String? {
        String(validating: bytes[offset..<offset + nameByteCount].prefix { $0 != 0 }, as: UTF8.self)
    }
}

/// Why a checkpoint is not used; whoever wanted it replays instead.
package struct CheckpointProblem: Error, Hashable, Sendable {
    /// The reasons; the names are stable.
    package enum Code: String, Sendable {
        /// There is none.
        case absent
        /// The file cannot be read.
        case unreadable
        /// The file is not as it was written: a checksum, a length, or what the state should be.
        case damaged
        /// The file or the projection is of another version.
        case otherVersion
        /// It was made of another journal.
        case otherJournal
        /// It ends beyond the journal's durable end, which has gone back since.
        case beyondEnd
        /// The journal has another history up to there: another chain value, or no commit that ends there.
        case otherHistory
        /// Content has been erased from the journal since.
        case beforeErasure
    }

    package var code: Code
    /// A sentence for people.
    package var message: String

    package init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}
