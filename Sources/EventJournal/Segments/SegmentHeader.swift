import Primitives

/// The first 128 bytes of a segment file.
///
/// See Format.md for the layout.
struct SegmentHeader: Equatable {
    static let size = 128
    /// "CJSEG", then CR LF and control-Z, which a transfer as text would change.
    static let magic: [UInt8] = [0x43, 0x4A, 0x53, 0x45, 0x47, 0x0D, 0x0A, 0x1A]
    static let version: UInt16 = 1

    var journal: JournalID
    var generation: UInt32
    var firstPosition: Position
    /// The chain value before the record at `firstPosition`.
    var chain: UInt64
    /// The last synced position when the segment was created.
    var syncedPosition: Position
    /// Random bytes at the start of every framing CRC's input, as a little-endian number.
    ///
    /// The salt is secret: with it, an attacker could write content that reads as a commit.
    var salt: UInt64

    func encoded() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        bytes.storeBytes(Self.magic, 0..<8, at: 0)
        bytes.store(Self.version, at: 8)
        bytes.store(journal.bits.byteSwapped, at: 12)
        bytes.store(generation, at: 28)
        bytes.store(firstPosition, at: 32)
        bytes.store(chain, at: 40)
        bytes.store(syncedPosition, at: 48)
        bytes.store(salt, at: 56)
        bytes.store(bytes.withBytes(0..<124) { CRC32C.checksum(of: $0) }, at: 124)
        return bytes
    }

    enum Problem: Error {
        case notASegment
        case checksum
        case newerVersion(UInt16)
        case invalid
    }

    /// Reads a header from exactly 128 bytes.
    ///
    /// Magic, version and CRC have the same place in every version of the format, which
    /// distinguishes a damaged header from a newer one.
    init(decoding bytes: RawSpan) throws(Problem) {
        guard bytes.byteCount == Self.size else { throw .notASegment }
        for (index, byte) in Self.magic.enumerated() where bytes.byte(at: index) != byte { throw .notASegment }
        guard CRC32C.checksum(of: bytes.extracting(0..<124)) == bytes.integer(at: 124, as: UInt32.self) else {
            throw .checksum
        }
        let version: UInt16 = bytes.integer(at: 8)
        guard version <= Self.version else { throw .newerVersion(version) }
        journal = JournalID(bits: bytes.integer(at: 12, as: UInt128.self).byteSwapped)
        generation = bytes.integer(at: 28)
        firstPosition = bytes.integer(at: 32)
        chain = bytes.integer(at: 40)
        syncedPosition = bytes.integer(at: 48)
        salt = bytes.integer(at: 56)
        // All earlier records were synced before the segment was created, so the synced position is
        // the one before the first.
        guard version == Self.version, firstPosition >= 1, syncedPosition == firstPosition - 1 else { throw .invalid }
    }

    /// Reads a header from an array of exactly 128 bytes.
    init(decoding bytes: [UInt8]) throws(Problem) {
        self = try bytes.withBytes { (span) throws(Problem) in try SegmentHeader(decoding: span) }
    }

    init(journal: JournalID, firstPosition: Position, chain: UInt64, salt: UInt64, generation: UInt32 = 0) {
        self.journal = journal
        self.generation = generation
        self.firstPosition = firstPosition
        self.chain = chain
        syncedPosition = firstPosition - 1
        self.salt = salt
    }

    /// The CRC of the salt alone, from which the CRC of a commit header continues.
    var framingSeed: UInt32 {
        var bytes = [UInt8](repeating: 0, count: 8)
        bytes.store(salt, at: 0)
        return CRC32C.checksum(of: bytes)
    }
}
