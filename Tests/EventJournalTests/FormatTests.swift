import ChatTesting
import Foundation
import Primitives
import Testing

@testable import EventJournal

/// Compares Format.md with the code: the test vectors and the journal in its hex dump.
@Suite struct FormatTests {
    static let document = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
        .appendingPathComponent("Sources/EventJournal/EventJournal.docc/Format.md")

    /// The example of Format.md: two commits, the second with two records.
    static func example() throws -> MemoryStorage {
        let storage = MemoryStorage()
        let options = JournalOptions(segmentSize: 4096, storage: storage, entropy: SeededEntropy(seed: 2020))
        let journal = try Journal.open("journal", options: options)
        try journal.append([Entry("opened", "SW1A")])
        try journal.waitUntilDurable(1)
        try journal.append([Entry("joined", ""), Entry("posted", "Hello, street")])
        try journal.close()
        return storage
    }

    static func dump(_ bytes: [UInt8]) -> [String] {
        stride(from: 0, to: bytes.count, by: 16).map { start in
            let row = bytes[start..<min(start + 16, bytes.count)]
            let offset = String(start, radix: 16)
            return String(repeating: "0", count: 4 - offset.count) + offset + "  "
                + row.map { [$0].hex() }.joined(separator: " ")
        }
    }

    @Test func documentedDumpMatchesWrittenBytes() throws {
        let text = try String(contentsOf: Self.document, encoding: .utf8)
        let lines = Set(
            text.split(separator: "\n").map { $0.split(separator: "|")[0].trimmingCharacters(in: .whitespaces) })
        let contents = try Self.example().allContents()
        let segment = try #require(contents["journal/" + JournalFileName.segment(1)])
        #expect(segment.count == 309)
        for line in Self.dump(segment) { #expect(lines.contains(line), "\(line)") }
        let durable = try #require(contents["journal/durable"])
        #expect(durable.count == 1024)
        for start in [0, 512] {
            for line in Self.dump(Array(durable[start..<(start + 64)])) { #expect(lines.contains(line), "\(line)") }
        }
    }

    @Test func documentedVectorsMatch() throws {
        let text = try String(contentsOf: Self.document, encoding: .utf8)
        let id = try #require(JournalID("00112233-4455-6677-8899-aabbccddeeff"))
        let start = Chain.start(id)
        let one = Chain.step(start, record: 0xE306_9283)
        func hex(_ value: UInt64) -> String { "`0x" + Hexadecimal.text(of: value, digits: 16) + "`" }
        #expect(text.contains("\(hex(start)) for the id `00112233-4455-6677-8899-aabbccddeeff`"))
        #expect(text.contains("\(hex(one)) after a record with the CRC `0xe3069283`"))
        #expect(text.contains("`\(JournalHead(journal: id, position: 1, chain: one))`"))
    }

    /// The fast path for common lengths agrees with decoding, for records and for other bytes.
    @Test func commonLengthFastPathAgreesWithDecoding() {
        var generator = SeededGenerator()
        let seed = generator.seed
        let lengths = [0, 1, 31, 32, 127, 128, 4_095, 4_096, 5_000]
        var common = 0
        for kept in lengths {
            for erasable in lengths {
                for state in UInt64(0)...3 {
                    var bytes = generator.bytes(4)
                    LEB128.append(UInt64(kept), to: &bytes)
                    LEB128.append(UInt64(state == 0 ? erasable : 0) << 2 | state, to: &bytes)
                    bytes += generator.bytes(kept + erasable + 60)
                    guard
                        case .record(let layout) = bytes.withBytes(0..<bytes.count, { RecordLayout.decode($0, at: 0) })
                    else {
                        Issue.record("\(kept) and \(erasable) bytes do not form a record")
                        continue
                    }
                    let length = bytes.withBytes(0..<bytes.count) { RecordLayout.commonLength($0, at: 0) }
                    #expect(length == (state == 0 && kept < 128 && erasable < 4_096 ? layout.length : nil))
                    if length != nil { common += 1 }
                }
            }
        }
        #expect(common == 5 * 7)
        for _ in 0..<20_000 {
            var bytes = generator.bytes(Int.random(in: 0...80, using: &generator))
            // Random bytes seldom hold valid lengths, and even more seldom lengths at the bounds.
            for index in 4..<8 where index < bytes.count && Bool.random(using: &generator) {
                bytes[index] = [0, 1, 0x04, 0x7F, 0x80, 0x84, 0xFF].randomElement(using: &generator) ?? 0
            }
            bytes.withBytes(0..<bytes.count) { span in
                guard let length = RecordLayout.commonLength(span, at: 0) else { return }
                switch RecordLayout.decode(span, at: 0) {
                case .record(let layout): #expect(layout.length == length, "CHATJOURNAL_SEED=\(seed)")
                case .incomplete(let needed):
                    #expect(needed == length && length > span.byteCount, "CHATJOURNAL_SEED=\(seed)")
                case .invalid: Issue.record("\(bytes) do not form a record, CHATJOURNAL_SEED=\(seed)")
                }
            }
        }
    }

    /// Random bytes and random changes of valid bytes never trap a decoder.
    @Test func decodersSurviveRandomBytes() throws {
        var generator = SeededGenerator()
        let valid = try #require(try Self.example().allContents()["journal/" + JournalFileName.segment(1)])
        for _ in 0..<5000 {
            var bytes =
                Bool.random(using: &generator) ? valid : generator.bytes(Int.random(in: 0...200, using: &generator))
            for _ in 0..<Int.random(in: 0...4, using: &generator) where !bytes.isEmpty {
                bytes[Int.random(in: 0..<bytes.count, using: &generator)] =
                    [0, 1, 0x7F, 0x80, 0xFF].randomElement(using: &generator) ?? 0
            }
            let storage = MemoryStorage()
            let file = try storage.open("file", .create)
            try bytes.withBytes(0..<bytes.count) { (span) throws(StorageError) in try file.write(span, at: 0) }
            let header = SegmentHeader(journal: JournalID(bits: 1), firstPosition: 1, chain: 0, salt: 0)
            let segment = Segment(name: "file", header: header, file: file)
            var scan = SegmentScan(
                segment, size: UInt64(bytes.count), limit: .max, watchedPositions: [1], rewriteAfter: 0)
            if bytes.count >= SegmentHeader.size { try scan.run() }
            bytes.withBytes(0..<bytes.count) { span in
                for offset in 0..<min(span.byteCount, 40) {
                    if case .record(let layout) = RecordLayout.decode(span, at: offset) {
                        #expect(layout.length <= span.byteCount - offset && layout.erasable.upperBound <= layout.length)
                    }
                }
            }
        }
    }
}

@Suite struct StubTests {
    /// Turns a record of the only segment into a stub as an erasure does: kept part, digest,
    /// original CRC.
    ///
    /// The commit gets new checksums and keeps its chain value.
    static func stub(_ segment: [UInt8], commit start: Int, record index: Int, state: RecordContentState) -> [UInt8]? {
        segment.withBytes(0..<segment.count) { bytes in
            guard let header = try? SegmentHeader(decoding: bytes.extracting(0..<SegmentHeader.size)),
                let old = CommitHeader(decoding: bytes, at: start, seed: header.framingSeed)
            else { return nil }
            var records: [UInt8] = []
            var crcs: UInt32 = 0
            var cursor = start + CommitHeader.size
            for current in 0..<Int(old.recordCount) {
                guard case .record(let layout) = RecordLayout.decode(bytes, at: cursor) else { return nil }
                let whole = bytes.extracting(cursor..<(cursor + layout.length))
                var record = whole.toArray()
                if current == index {
                    record = [0, 0, 0, 0]
                    LEB128.append(UInt64(layout.kept.count), to: &record)
                    LEB128.append(UInt64(state.rawValue), to: &record)
                    record +=
                        whole.extracting(layout.kept).toArray()
                        + [UInt8](repeating: 0xAB, count: RecordLayout.digestByteCount)
                    record += whole.extracting(0..<4).toArray()
                    record.store(record.withBytes(4..<record.count) { CRC32C.checksum(of: $0) }, at: 0)
                }
                crcs = CRC32C.checksum(
                    of: record.withBytes(0..<4) { $0.integer(at: 0, as: UInt32.self) }, continuing: crcs)
                records += record
                cursor += layout.length
            }
            var commit = [UInt8](repeating: 0, count: CommitHeader.size) + records
            var new = old
            new.length = UInt32(commit.count)
            new.recordsCRC = crcs
            new.encode(into: &commit, seed: header.framingSeed)
            let array = bytes.toArray()
            return array[..<start] + commit + array[cursor...]
        }
    }

    @Test(arguments: [RecordContentState.erased, .withheld, .reserved]) func readersAcceptStubs(
        _ state: RecordContentState
    ) throws {
        let storage = try FormatTests.example()
        let name = "journal/" + JournalFileName.segment(1)
        let options = JournalOptions(storage: storage)
        let head = try Journal.openReadOnly("journal", options: options).head
        var bytes = try #require(storage.allContents()[name])
        let second = SegmentHeader.size + Int(bytes.withBytes(128..<132) { $0.integer(at: 0, as: UInt32.self) })
        bytes = try #require(Self.stub(bytes, commit: second, record: 1, state: state))
        bytes = try #require(Self.stub(bytes, commit: SegmentHeader.size, record: 0, state: state))
        storage.setContents(bytes, of: name)

        let journal = try Journal.open("journal", options: options)
        #expect(journal.recovery.wasClean)
        #expect(journal.head == head)
        let stub = Entry(kept: Array("opened".utf8), erasable: [], state: state)
        #expect(
            try journal.entries() == [
                stub, Entry("joined", ""), Entry(kept: Array("posted".utf8), erasable: [], state: state),
            ])
        #expect(try journal.entries(1...1) == [stub])
        try journal.verify { Issue.record("\($0)") }
        try journal.append([Entry("after", "stubs")])
        try journal.close()
        #expect(try Journal.openReadOnly("journal", options: options).entries(4...4) == [Entry("after", "stubs")])
        // A stub with another original CRC belongs to another history.
        var wrong = bytes
        let end = SegmentHeader.size + Int(bytes.withBytes(128..<132) { $0.integer(at: 0, as: UInt32.self) })
        wrong[end - 1] ^= 1
        let record = SegmentHeader.size + CommitHeader.size
        let crc = wrong.withBytes((record + 4)..<end) { CRC32C.checksum(of: $0) }
        wrong.store(crc, at: record)
        storage.setContents(wrong, of: name)
        #expect(journalError { _ = try Journal.open("journal", options: options) }?.code == .damaged)
    }
}
