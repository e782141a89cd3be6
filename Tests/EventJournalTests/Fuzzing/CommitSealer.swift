import Primitives

@testable import EventJournal

/// Seals arbitrary bytes as commits: keeps the lengths and content of records, and corrects counts,
/// positions, checksums and chain values.
///
/// The first byte of a commit's chain field, which sealing overwrites, selects the fields that stay
/// wrong.
struct CommitSealer {
    private enum Flaw: UInt8 {
        case recordChecksum = 1, recordsChecksum, chain, headerChecksum, firstPosition, syncedPosition, length,
            recordCount
    }

    /// The position of the next record.
    private(set) var position: Position
    /// The chain value before the next record.
    private(set) var chain: UInt64
    /// The chain value after each sealed position.
    private(set) var chains: [Position: UInt64]

    init(position: Position, chain: UInt64) {
        self.position = position
        self.chain = chain
        chains = [position &- 1: chain]
    }

    /// Seals the commits at the start of `bytes`.
    ///
    /// Returns their end: a zero length, or a record that does not decode or has no valid position.
    mutating func seal(_ bytes: inout [UInt8], seed: UInt32) -> Int {
        var offset = 0
        while bytes.count - offset >= CommitHeader.minimumCommitLength,
            let length = seal(&bytes, at: offset, seed: seed)
        {
            offset += length
        }
        return offset
    }

    private mutating func seal(_ bytes: inout [UInt8], at start: Int, seed: UInt32) -> Int? {
        let given = bytes.withBytes(start..<(start + CommitHeader.size)) { header in
            (
                length: header.integer(at: 0, as: UInt32.self), count: header.integer(at: 4, as: UInt32.self),
                first: header.integer(at: 8, as: UInt64.self), synced: header.integer(at: 16, as: UInt64.self),
                flaw: Flaw(rawValue: header.byte(at: 24))
            )
        }
        // Two bytes of the length suffice for any input. With all four, most inputs of a fuzzer
        // would exceed their own end.
        let end = min(start + Int(given.length & 0xFFFF), bytes.count)
        var cursor = start + CommitHeader.size
        var recordsCRC: UInt32 = 0
        var count: UInt32 = 0
        var chain = chain
        var found: [Position: UInt64] = [:]
        while cursor < end {
            guard case .record(let layout) = bytes.withBytes(0..<end, { RecordLayout.decode($0, at: cursor) }) else {
                break
            }
            let crc = bytes.withBytes((cursor + 4)..<(cursor + layout.length)) { CRC32C.checksum(of: $0) }
            bytes.store(crc, at: cursor)
            let original = bytes.withBytes(cursor..<(cursor + layout.length)) {
                layout.originalCRC($0, at: 0, stored: crc)
            }
            chain = Chain.step(chain, record: original)
            recordsCRC = CRC32C.checksum(of: crc, continuing: recordsCRC)
            found[position &+ UInt64(count)] = chain
            count += 1
            cursor += layout.length
        }
        guard count > 0, !position.addingReportingOverflow(UInt64(count)).overflow else { return nil }
        let isRaw = { (flaw: Flaw) in given.flaw == flaw }
        if isRaw(.recordChecksum) { bytes[cursor - 1] ^= 1 }
        var header = [UInt8](repeating: 0, count: CommitHeader.size)
        CommitHeader(
            length: isRaw(.length) ? given.length : UInt32(cursor - start),
            recordCount: isRaw(.recordCount) ? given.count : count,
            firstPosition: isRaw(.firstPosition) ? given.first : position,
            syncedPosition: isRaw(.syncedPosition) ? given.synced : given.synced % max(position, 1),
            chain: isRaw(.chain) ? chain ^ 1 : chain, recordsCRC: isRaw(.recordsChecksum) ? recordsCRC ^ 1 : recordsCRC
        ).encode(into: &header, seed: seed)
        if isRaw(.headerChecksum) { header[36] ^= 1 }
        bytes.storeBytes(header, 0..<CommitHeader.size, at: start)
        chains.merge(found) { first, _ in first }
        self.chain = chain
        position &+= UInt64(count)
        return cursor - start
    }
}
