import EventJournal
import Primitives

/// A stored segment in memory.
struct StoredSegment {
    private static let headerSize = 128
    private static let commitHeaderSize = 40
    private static let indexSpacing = 4096

    var header: [UInt8]
    var commits: [StoredCommit] = []

    /// Parses a segment.
    ///
    /// Throws if the lengths are inconsistent.
    ///
    /// Checksums are not compared; the readers under test compare them.
    init(_ bytes: [UInt8], _ name: String) throws(InvalidSegmentError) {
        guard bytes.count >= Self.headerSize else { throw InvalidSegmentError(name: name, offset: 0) }
        header = Array(bytes[..<Self.headerSize])
        var offset = Self.headerSize
        while offset + Self.commitHeaderSize <= bytes.count {
            let length = Int(bytes.number(at: offset, bytes: 4))
            // The footer, a frame without records; `nextGeneration(salt:)` writes a new one.
            if length == 0 || bytes.number(at: offset + 4, bytes: 4) == 0 { return }
            guard length <= bytes.count - offset else { throw InvalidSegmentError(name: name, offset: offset) }
            var commit = StoredCommit(header: Array(bytes[offset..<(offset + Self.commitHeaderSize)]))
            var cursor = offset + Self.commitHeaderSize
            while cursor < offset + length {
                guard let record = StoredRecord(bytes[cursor..<(offset + length)]) else {
                    throw InvalidSegmentError(name: name, offset: cursor)
                }
                commit.records.append(record)
                cursor += record.bytes.count
            }
            commits.append(commit)
            offset += length
        }
    }

    /// Returns the bytes of the segment's next generation: commits framed with another salt, and a
    /// new footer.
    ///
    /// Stubs do not change the chain value in a commit's header, so it stays.
    func nextGeneration(salt: [UInt8]) -> [UInt8] {
        var bytes = header
        bytes.store(bytes.number(at: 28, bytes: 4) + 1, at: 28, bytes: 4)
        bytes.replaceSubrange(56..<64, with: salt)
        bytes.store(UInt64(CRC32C.checksum(of: bytes[..<124])), at: 124, bytes: 4)
        let first: Position = header.number(at: 32, bytes: 8)
        var index: [(position: Position, offset: Int, recordsLeft: Int)] = []
        func note(_ position: Position, _ recordsLeft: Int) {
            if index.last.map({ bytes.count - $0.offset >= Self.indexSpacing }) ?? true {
                index.append((position, bytes.count, recordsLeft))
            }
        }
        for commit in commits {
            note(commit.firstPosition - first, 0)
            bytes += commit.framedHeader(salt: salt)
            for (number, record) in commit.records.enumerated() {
                note(commit.firstPosition - first + Position(number), commit.records.count - number)
                bytes += record.bytes
            }
        }
        return bytes + footer(index, salt: salt)
    }

    /// Returns the frame without records that ends a sealed segment, with its index.
    private func footer(_ index: [(position: Position, offset: Int, recordsLeft: Int)], salt: [UInt8]) -> [UInt8] {
        let length = UInt64(Self.commitHeaderSize + 12 * index.count + 4)
        var content: [UInt8] = []
        for entry in index {
            content += [entry.position, UInt64(entry.offset), UInt64(entry.recordsLeft)].flatMap {
                [UInt8]($0, bytes: 4)
            }
        }
        content += [UInt8](length, bytes: 4)
        let last = commits.last.map { $0.firstPosition + Position($0.records.count) - 1 } ?? 0
        var frame = [UInt8](length, bytes: 4) + [0, 0, 0, 0] + [UInt8](last + 1, bytes: 8) + [UInt8](last, bytes: 8)
        frame += commits.last?.header[24..<32] ?? []
        frame += [UInt8](UInt64(CRC32C.checksum(of: content)), bytes: 4)
        return frame + [UInt8](UInt64(CRC32C.checksum(of: salt + frame)), bytes: 4) + content
    }
}

/// A commit's original header and its records.
struct StoredCommit {
    var header: [UInt8]
    var records: [StoredRecord] = []

    var firstPosition: Position { header.number(at: 8, bytes: 8) }

    /// Returns the commit's header for a segment with this salt.
    fileprivate func framedHeader(salt: [UInt8]) -> [UInt8] {
        var bytes = header
        bytes.store(UInt64(bytes.count + records.reduce(0) { $0 + $1.bytes.count }), at: 0, bytes: 4)
        bytes.store(UInt64(CRC32C.checksum(of: records.flatMap { $0.bytes[..<4] })), at: 32, bytes: 4)
        bytes.store(UInt64(CRC32C.checksum(of: salt + bytes[..<36])), at: 36, bytes: 4)
        return bytes
    }
}

/// A stored record.
struct StoredRecord {
    /// All bytes of the record, including the CRC field.
    var bytes: [UInt8]
    private var keptRange: Range<Int>

    /// Parses the record at the start of the bytes.
    ///
    /// Returns nil if they hold none.
    init?(_ source: ArraySlice<UInt8>) {
        var cursor = 4
        let source = Array(source)
        guard let kept = Self.length(source, &cursor), let tail = Self.length(source, &cursor) else { return nil }
        keptRange = cursor..<(cursor + kept)
        let size = keptRange.upperBound + (tail & 3 == 0 ? 16 + tail >> 2 : 36)
        guard size <= source.count else { return nil }
        bytes = Array(source[..<size])
    }

    private init(bytes: [UInt8], keptPlace: Range<Int>) {
        self.bytes = bytes
        self.keptRange = keptPlace
    }

    var kept: [UInt8] { Array(bytes[keptRange]) }

    /// The erasable part of a whole record.
    var erasable: [UInt8] { Array(bytes[(keptRange.upperBound + 16)...]) }

    var state: RecordContentState? {
        var cursor = 4
        guard Self.length(bytes, &cursor) != nil, let tail = Self.length(bytes, &cursor) else { return nil }
        return RecordContentState(rawValue: UInt8(tail & 3))
    }

    /// Returns the stub of a whole record: kept part, hash of salt and erasable part, original CRC,
    /// and a CRC over these.
    func stub(_ state: RecordContentState) -> StoredRecord {
        var body = Self.leb128(keptRange.count) + Self.leb128(Int(state.rawValue))
        let start = 4 + body.count
        body += kept + SHA256.hash(Array(bytes[keptRange.upperBound...])) + bytes[..<4]
        var stub: [UInt8] = [0, 0, 0, 0]
        stub.store(UInt64(CRC32C.checksum(of: body)), at: 0, bytes: 4)
        return StoredRecord(bytes: stub + body, keptPlace: start..<(start + keptRange.count))
    }

    private static func length(_ bytes: [UInt8], _ cursor: inout Int) -> Int? {
        var value = 0
        for shift in stride(from: 0, to: 28, by: 7) {
            guard cursor < bytes.count else { return nil }
            let byte = bytes[cursor]
            cursor += 1
            value |= Int(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        return nil
    }

    private static func leb128(_ value: Int) -> [UInt8] {
        value < 0x80 ? [UInt8(value)] : [UInt8(value & 0x7F) | 0x80] + leb128(value >> 7)
    }
}

extension [UInt8] {
    /// Returns the little-endian number at an offset.
    func number(at offset: Int, bytes count: Int) -> UInt64 {
        self[offset..<(offset + count)].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Encodes a number in little-endian order.
    init(_ value: UInt64, bytes count: Int) {
        self = (0..<count).map { UInt8(truncatingIfNeeded: value >> UInt64(8 * $0)) }
    }

    /// Writes a little-endian number at an offset.
    mutating func store(_ value: UInt64, at offset: Int, bytes count: Int) {
        replaceSubrange(offset..<(offset + count), with: [UInt8](value, bytes: count))
    }
}

/// CRC32C with a lookup table (RFC 3720, section 12.1).
enum CRC32C {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 0 ? value >> 1 : value >> 1 ^ 0x82F6_3B78 }
    }

    static func checksum(of bytes: some Sequence<UInt8>) -> UInt32 {
        ~bytes.reduce(~UInt32(0)) { $0 >> 8 ^ table[Int(UInt8(truncatingIfNeeded: $0) ^ $1)] }
    }
}
