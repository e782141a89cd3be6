/// One of the two slots of the `durable` file.
///
/// See Format.md for the layout.
///
/// They are written in turn, each in a disk sector of its own, so that a power cut leaves at least the other one.
struct DurableSlot: Equatable {
    static let size = 64
    /// Between the first bytes of the two slots: a sector, so that one torn or failing sector leaves the other slot.
    static let stride = 512
    static let fileSize = 2 * stride
    static let version: UInt16 = 1

    /// Grows by one with each write; the slot with the greater one is the newer.
    var sequence: UInt64
    /// The last position that was synced before this was written.
    var position: Position
    /// The chain value at `position`.
    var chain: UInt64
    var journal: JournalID
    /// The durability that the writer is open with.
    var durability: Durability
    /// Whether the journal was closed in good order with `position` as its last.
    var isClean: Bool

    func encoded() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        bytes.store(sequence, at: 0)
        bytes.store(position, at: 8)
        bytes.store(chain, at: 16)
        bytes.store(journal.bits.byteSwapped, at: 24)
        bytes[40] = durability == .synced ? 0 : 1
        bytes[41] = isClean ? 1 : 0
        bytes.store(Self.version, at: 42)
        bytes.store(bytes.withBytes(0..<60) { CRC32C.checksum(of: $0) }, at: 60)
        return bytes
    }

    enum Problem: Error {
        case invalid
        case newerVersion(UInt16)
    }

    /// Reads a slot from exactly 64 bytes.
    init(decoding bytes: RawSpan) throws(Problem) {
        guard bytes.byteCount == Self.size,
            CRC32C.checksum(of: bytes.extracting(0..<60)) == bytes.integer(at: 60, as: UInt32.self)
        else { throw .invalid }
        let version: UInt16 = bytes.integer(at: 42)
        guard version <= Self.version else { throw .newerVersion(version) }
        guard version == Self.version, bytes.byte(at: 40) <= 1, bytes.byte(at: 41) <= 1 else { throw .invalid }
        sequence = bytes.integer(at: 0)
        position = bytes.integer(at: 8)
        chain = bytes.integer(at: 16)
        journal = JournalID(bits: bytes.integer(at: 24, as: UInt128.self).byteSwapped)
        durability = bytes.byte(at: 40) == 0 ? .synced : .written
        isClean = bytes.byte(at: 41) == 1
    }

    init(sequence: UInt64, position: Position, chain: UInt64, journal: JournalID, durability: Durability, isClean: Bool) {
        self.sequence = sequence
        self.position = position
        self.chain = chain
        self.journal = journal
        self.durability = durability
        self.isClean = isClean
    }

    /// The place of the slot with this sequence number in the file.
    var offset: UInt64 { (sequence % 2) * UInt64(Self.stride) }
}
