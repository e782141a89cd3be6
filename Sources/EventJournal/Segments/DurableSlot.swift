import Primitives

/// One of the two slots of the `durable` file.
///
/// See Format.md for the layout. Writes alternate between the slots. Each slot has a disk sector of
/// its own, so that a power failure leaves at least the other slot intact.
struct DurableSlot: Equatable {
    static let size = 64
    /// The distance between the slots: a sector, so that a torn or failing sector damages one slot
    /// alone.
    static let stride = 512
    static let fileSize = 2 * stride
    /// The version of the slots of a journal without a role.
    static let version: UInt16 = 1
    /// The version of the slots of a journal that has the file `role`, or is about to have it.
    ///
    /// A library that does not know the file rejects the version, and does not open a second place
    /// for writing.
    static let versionWithRole: UInt16 = 2

    /// The sequence number, one greater with each write.
    ///
    /// The slot with the greater number is newer.
    var sequence: UInt64
    /// The last position that was synced before the slot was written.
    var position: Position
    /// The chain value at `position`.
    var chain: UInt64
    var journal: JournalID
    /// The durability of the journal's writer.
    var durability: Durability
    /// Whether the journal was closed cleanly with `position` as its last.
    var isClean: Bool
    /// Whether the directory has, or is about to have, the file `role`.
    var hasRole = false

    func encoded() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.size)
        bytes.store(sequence, at: 0)
        bytes.store(position, at: 8)
        bytes.store(chain, at: 16)
        bytes.store(journal.bits.byteSwapped, at: 24)
        bytes[40] = durability == .synced ? 0 : 1
        bytes[41] = isClean ? 1 : 0
        bytes.store(hasRole ? Self.versionWithRole : Self.version, at: 42)
        bytes.store(bytes.withBytes(0..<60) { CRC32C.checksum(of: $0) }, at: 60)
        return bytes
    }

    enum Problem: Error {
        case invalid
        case newerVersion(UInt16)
    }

    /// The offset in the file of the slot with this sequence number.
    var offset: UInt64 { (sequence % 2) * UInt64(Self.stride) }

    /// Writes the slot to its place in the durable file.
    func write(to file: any StorageFile) throws(JournalError) {
        let bytes = encoded()
        try convertingErrors(of: bytes.withBytes { (span) throws(StorageError) in try file.write(span, at: offset) })
    }
}

/// The two slots of the `durable` file as read.
struct DurableSlots {
    var file: any StorageFile
    /// The slots in the order of the file; nil for an unreadable slot.
    var slots: [DurableSlot?]
    /// The newer of the readable slots.
    var newest: DurableSlot

    var damagedIndexes: [Int] { slots.indices.filter { slots[$0] == nil } }

    /// Decodes the slots of a durable file in the order of the file; nil for an unreadable slot.
    ///
    /// - Throws: `newerVersion`.
    static func decode(_ bytes: [UInt8], _ path: String) throws(JournalError) -> [DurableSlot?] {
        var slots: [DurableSlot?] = []
        for start in [0, DurableSlot.stride] {
            do throws(DurableSlot.Problem) {
                let slot = try bytes.withBytes(start..<(start + DurableSlot.size)) {
                    (span) throws(DurableSlot.Problem) in
                    try DurableSlot(decoding: span)
                }
                slots.append(slot.offset == UInt64(start) ? slot : nil)
            } catch {
                if case .newerVersion(let version) = error {
                    throw JournalError(
                        .newerVersion, "The journal has format version \(version), which is newer than this library.",
                        path: path)
                }
                slots.append(nil)
            }
        }
        return slots
    }

    /// The error for a journal with segments whose durable file is missing.
    static func missing(in directory: JournalDirectory) -> JournalError {
        JournalError(
            .damaged, "The journal has segments but no durable file.", path: directory.file(JournalFileName.durable))
    }

    /// Reads the slots.
    ///
    /// - Throws: `damaged` if both slots are unreadable or the slots name two journals,
    ///   `newerVersion`, or the storage's error.
    init(_ directory: JournalDirectory, _ mode: StorageOpenMode) throws(JournalError) {
        let path = directory.file(JournalFileName.durable)
        let file: any StorageFile
        do throws(StorageError) {
            file = try directory.storage.open(path, mode)
        } catch  where error.kind == .notFound {
            throw Self.missing(in: directory)
        } catch {
            throw JournalError(error)
        }
        var bytes = [UInt8](repeating: 0, count: DurableSlot.fileSize)
        _ = try convertingStorageErrors { () throws(StorageError) in
            try bytes.withMutableBytes(0..<DurableSlot.fileSize) { (span) throws(StorageError) in
                try file.read(into: &span, at: 0)
            }
        }
        let slots = try Self.decode(bytes, path)
        let readable = slots.compactMap { $0 }
        guard let newest = readable.max(by: { $0.sequence < $1.sequence }) else {
            throw JournalError(.damaged, "Neither slot of the durable file can be read.", path: path)
        }
        guard readable.allSatisfy({ $0.journal == newest.journal }) else {
            throw JournalError(.damaged, "The slots of the durable file name two journals.", path: path)
        }
        self.file = file
        self.slots = slots
        self.newest = newest
    }
}

extension DurableSlot {
    /// Reads a slot from exactly 64 bytes.
    init(decoding bytes: RawSpan) throws(Problem) {
        guard bytes.byteCount == Self.size,
            CRC32C.checksum(of: bytes.extracting(0..<60)) == bytes.integer(at: 60, as: UInt32.self)
        else { throw .invalid }
        let version: UInt16 = bytes.integer(at: 42)
        guard version <= Self.versionWithRole else { throw .newerVersion(version) }
        guard version >= Self.version, bytes.byte(at: 40) <= 1, bytes.byte(at: 41) <= 1 else { throw .invalid }
        hasRole = version == Self.versionWithRole
        sequence = bytes.integer(at: 0)
        position = bytes.integer(at: 8)
        chain = bytes.integer(at: 16)
        journal = JournalID(bits: bytes.integer(at: 24, as: UInt128.self).byteSwapped)
        durability = bytes.byte(at: 40) == 0 ? .synced : .written
        isClean = bytes.byte(at: 41) == 1
    }

    /// Returns the bytes of a durable file with this content in both slots, with the sequence
    /// numbers 1 and 2.
    static func file(of slot: DurableSlot) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: fileSize)
        for sequence in 1...2 as ClosedRange<UInt64> {
            var slot = slot
            slot.sequence = sequence
            bytes.storeBytes(slot.encoded(), 0..<size, at: Int(slot.offset))
        }
        return bytes
    }
}
