import ChatTesting
import Primitives
@testable import EventJournal

/// A journal in memory, made from arbitrary bytes, with valid checksums so that the fuzzer reaches
/// the checks behind them.
///
/// The input has sixteen control bytes, then the commits of all segments, which ``CommitSealer``
/// seals. Missing control bytes are zero, which describes a valid journal:
///
/// | byte | meaning |
/// | --- | --- |
/// | 0, 2 | the positions that the slots attest |
/// | 1, 3 | flags of the slots: clean, written, checksum, chain, journal, absent, version, place |
/// | 4 | the sequence numbers of the slots, four bits each |
/// | 5 | the number of segments minus 1 (two bits); flags of the last segment: chain, first position, name, version; bytes left after sealed commits; positions near the greatest number |
/// | 6, 7 | the ends of the first and second segment, in 256ths of the rest |
/// | 8, 9 | zeros after the last segment, in 16 bytes; bytes removed from its end |
/// | 10, 11 | the first sector that a tear zeroes, and their number |
/// | 12, 13 | the position of the expected head plus 1, 0 for none; whether its chain value is wrong |
/// | 14 | 1: `.written`; 2: the temporary file of an interrupted creation; 4: no footers; 8: a footer for the last segment as well; 16: a flaw in a footer's index |
/// | 15 | the size of the pieces that a commit reader is given |
struct JournalImage {
    static let controlSize = 16
    static let directory = "journal"
    private static let id = JournalID(bits: 0x0123_4567_89AB_4DEF_8123_4567_89AB_CDEF)

    let storage = MemoryStorage()
    let controlBytes: [UInt8]
    private(set) var expectedHead: JournalHead?
    /// The commits of the last segment, without its header.
    private(set) var lastCommits: [UInt8] = []
    private(set) var lastHeader: SegmentHeader

    init(_ input: [UInt8]) throws {
        controlBytes = Array(
            (input.prefix(Self.controlSize) + repeatElement(0, count: Self.controlSize)).prefix(Self.controlSize))
        try storage.createDirectory(Self.directory)
        var sealer = CommitSealer(
            position: controlBytes[5] & 0x80 == 0 ? 1 : .max - Position(controlBytes[4]), chain: Chain.start(Self.id))
        lastHeader = SegmentHeader(journal: Self.id, firstPosition: 1, chain: 0, salt: 0)

        var rest = input.dropFirst(Self.controlSize)
        let count = 1 + Int(controlBytes[5] & 3) % 3
        for index in 0..<count {
            let isLast = index == count - 1
            let part = rest.prefix(isLast ? rest.count : rest.count * Int(controlBytes[6 + index]) / 256)
            rest = rest.dropFirst(part.count)
            lastHeader = SegmentHeader(
                journal: Self.id, firstPosition: sealer.position, chain: sealer.chain, salt: 0x5A17 &* UInt64(index + 1)
            )
            lastCommits = Array(part)
            let end = sealer.seal(&lastCommits, seed: lastHeader.framingSeed)
            if !isLast {
                if controlBytes[5] & 0x40 == 0 { lastCommits.removeSubrange(end...) }
                let footer = try footer(sealer, hasFlaw: controlBytes[14] & 16 != 0)
                store(
                    lastHeader.encoded() + lastCommits + (controlBytes[14] & 4 == 0 ? footer : []),
                    JournalFileName.segment(lastHeader.firstPosition))
            } else if controlBytes[14] & 8 != 0 {
                lastCommits.removeSubrange(end...)
                lastCommits += try footer(sealer, hasFlaw: controlBytes[14] & 16 != 0)
            }
        }
        storeLastSegment()
        var slots = [UInt8](repeating: 0, count: DurableSlot.fileSize)
        for index in 0..<2 { writeSlot(index, in: &slots, sealer.chains) }
        store(slots, JournalFileName.durable)
        if controlBytes[14] & 2 != 0 { store([1, 2, 3], JournalFileName.durable + JournalFileName.temporarySuffix) }
        if controlBytes[12] > 0 {
            let position = Position(controlBytes[12] - 1)
            let chain = (sealer.chains[position] ?? 0) &+ UInt64(controlBytes[13] & 1)
            expectedHead = JournalHead(journal: Self.id, position: position, chain: chain)
        }
    }

    var options: JournalOptions {
        JournalOptions(
            durability: controlBytes[14] & 1 == 0 ? .synced : .written, segmentSize: 4_096, storage: storage,
            entropy: SeededEntropy(seed: 1),
            expectedHead: expectedHead)
    }

    /// Returns the footer of the last commits, as the sealer created them.
    private func footer(_ sealer: CommitSealer, hasFlaw: Bool) throws -> [UInt8] {
        let storage = MemoryStorage()
        storage.setContents(lastHeader.encoded() + lastCommits, of: "segment")
        let file = try storage.open("segment", .read)
        var scan = SegmentScan(Segment(name: "segment", header: lastHeader, file: file), size: try file.size())
        try scan.run()
        var footer = SegmentFooter.encoded(
            scan.segment.index, lastPosition: sealer.position &- 1, chain: sealer.chain, seed: lastHeader.framingSeed)
        if hasFlaw { footer[footer.count - 5] ^= 1 }
        return footer
    }

    private func store(_ bytes: [UInt8], _ name: String) { storage.setContents(bytes, of: Self.directory + "/" + name) }

    private func storeLastSegment() {
        var header = lastHeader
        let flags = controlBytes[5]
        if flags & 4 != 0 { header.chain &+= 1 }
        if flags & 8 != 0 {
            header.firstPosition &+= 1
            header.syncedPosition &+= 1
        }
        var bytes = header.encoded()
        if flags & 0x20 != 0 {
            bytes.store(SegmentHeader.version + 1, at: 8)
            bytes.store(bytes.withBytes(0..<124) { CRC32C.checksum(of: $0) }, at: 124)
        }
        bytes += lastCommits + [UInt8](repeating: 0, count: 16 * Int(controlBytes[8]))
        let torn =
            max(
                512 * Int(controlBytes[10]), SegmentHeader.size)..<max(
                512 * (Int(controlBytes[10]) + Int(controlBytes[11])), SegmentHeader.size)
        for index in torn.clamped(to: 0..<bytes.count) { bytes[index] = 0 }
        bytes.removeLast(min(Int(controlBytes[9]), bytes.count))
        let name = flags & 0x10 == 0 ? lastHeader.firstPosition : lastHeader.firstPosition &+ 2
        store(bytes, JournalFileName.segment(max(name, 1)))
    }

    private func writeSlot(_ index: Int, in bytes: inout [UInt8], _ chains: [Position: UInt64]) {
        let position = Position(controlBytes[2 * index])
        let flags = controlBytes[2 * index + 1]
        guard flags & 0x20 == 0 else { return }
        // The first slot has an even sequence number, the second an odd one; otherwise they are in
        // the wrong places.
        let sequence = 2 + 2 * UInt64(controlBytes[4] >> UInt8(4 * index) & 15) + UInt64(index) + UInt64(flags >> 7)
        var chain = chains[position] ?? 0
        if flags & 8 != 0 { chain &+= 1 }
        let journal = flags & 0x10 == 0 ? Self.id : JournalID(bits: Self.id.bits &+ 1)
        var slot = DurableSlot(
            sequence: sequence, position: position, chain: chain, journal: journal,
            durability: flags & 2 == 0 ? .synced : .written,
            isClean: flags & 1 != 0
        ).encoded()
        if flags & 0x40 != 0 {
            slot.store(DurableSlot.version + 1, at: 42)
            slot.store(slot.withBytes(0..<60) { CRC32C.checksum(of: $0) }, at: 60)
        }
        if flags & 4 != 0 { slot[60] ^= 1 }
        bytes.storeBytes(slot, 0..<DurableSlot.size, at: index * DurableSlot.stride)
    }
}
